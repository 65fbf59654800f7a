#include "dtrace/vm_flags.h"

#include <optional>
#include <utility>

namespace jtrace::dtrace {
namespace {

using target::Address;
using target::MemoryReader;

constexpr int kMaxEntries = 100'000;
constexpr std::uint64_t kMaxFlags = 20'000;
constexpr std::size_t kMaxName = 256;

struct Layout {
  Address struct_table, type_table;
  std::uint64_t type_name, field_name, offset, address, stride;
  std::uint64_t type_type_name, type_size, type_stride;
};

Result<Layout> read_layout(const MemoryReader& memory, const std::vector<Address>& tables) {
  if (tables.size() != std::size(kVmTableSymbols))
    return fail(ErrorCategory::kMalformed, "libjvm.so does not export its vmStructs tables");
  std::uint64_t values[std::size(kVmTableSymbols)];
  for (std::size_t i = 0; i < tables.size(); ++i) {
    JTRACE_ASSIGN_OR_RETURN(values[i], memory.read<std::uint64_t>(tables[i]));
  }
  const Layout layout{values[0], values[6], values[1], values[2], values[3],
                      values[4], values[5], values[7], values[8], values[9]};
  for (const std::uint64_t small : {layout.type_name, layout.field_name, layout.offset, layout.address, layout.stride,
                                    layout.type_type_name, layout.type_size, layout.type_stride})
    if (small > 1024) return fail(ErrorCategory::kMalformed, "the vmStructs tables are not as they should be");
  return layout;
}

// What the tables say about JVMFlag ("Flag" up to JDK 9).
struct FlagTable {
  std::optional<Address> flags, count;               // of the static fields
  std::optional<std::uint64_t> name, address, size;  // offsets in one flag; size of one
};

bool is_flag_type(const std::string& type) { return type == "JVMFlag" || type == "Flag"; }

Result<std::string> text_at(const MemoryReader& memory, Address pointer) {
  JTRACE_ASSIGN_OR_RETURN(const auto address, memory.read<Address>(pointer));
  if (address == 0) return std::string();
  return memory.read_cstring(address, kMaxName);
}

Result<> read_fields(const MemoryReader& memory, const Layout& layout, FlagTable& table) {
  for (int i = 0; i < kMaxEntries; ++i) {
    const Address entry = layout.struct_table + static_cast<std::uint64_t>(i) * layout.stride;
    JTRACE_ASSIGN_OR_RETURN(const std::string type, text_at(memory, entry + layout.type_name));
    if (type.empty()) return {};
    if (!is_flag_type(type)) continue;
    JTRACE_ASSIGN_OR_RETURN(const std::string field, text_at(memory, entry + layout.field_name));
    JTRACE_ASSIGN_OR_RETURN(const auto offset, memory.read<std::uint64_t>(entry + layout.offset));
    JTRACE_ASSIGN_OR_RETURN(const auto address, memory.read<Address>(entry + layout.address));
    if (field == "flags") table.flags = address;
    else if (field == "numFlags") table.count = address;
    else if (field == "_name") table.name = offset;
    else if (field == "_addr") table.address = offset;
  }
  return fail(ErrorCategory::kMalformed, "the vmStructs table has no end");
}

Result<> read_size(const MemoryReader& memory, const Layout& layout, FlagTable& table) {
  for (int i = 0; i < kMaxEntries; ++i) {
    const Address entry = layout.type_table + static_cast<std::uint64_t>(i) * layout.type_stride;
    JTRACE_ASSIGN_OR_RETURN(const std::string type, text_at(memory, entry + layout.type_type_name));
    if (type.empty()) return {};
    if (!is_flag_type(type)) continue;
    JTRACE_ASSIGN_OR_RETURN(table.size, memory.read<std::uint64_t>(entry + layout.type_size));
  }
  return fail(ErrorCategory::kMalformed, "the vmTypes table has no end");
}

}  // namespace

Result<std::map<std::string, VmFlag>> read_probe_flags(const MemoryReader& memory, const std::vector<Address>& tables) {
  JTRACE_ASSIGN_OR_RETURN(const Layout layout, read_layout(memory, tables));
  FlagTable table;
  JTRACE_RETURN_IF_ERROR(read_fields(memory, layout, table));
  JTRACE_RETURN_IF_ERROR(read_size(memory, layout, table));
  if (!table.flags || !table.count || !table.name || !table.address || !table.size)
    return fail(ErrorCategory::kMalformed, "the vmStructs tables do not tell where the flags are");
  JTRACE_ASSIGN_OR_RETURN(const auto first, memory.read<Address>(*table.flags));
  JTRACE_ASSIGN_OR_RETURN(const auto count, memory.read<std::uint64_t>(*table.count));
  if (count > kMaxFlags || *table.size > 1024)
    return fail(ErrorCategory::kMalformed, "the flag table is not as it should be");
  std::map<std::string, VmFlag> found;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Address flag = first + i * *table.size;
    JTRACE_ASSIGN_OR_RETURN(const std::string name, text_at(memory, flag + *table.name));
    if (!name.starts_with("DTrace") && !name.starts_with("ExtendedDTrace")) continue;
    JTRACE_ASSIGN_OR_RETURN(const auto address, memory.read<Address>(flag + *table.address));
    JTRACE_ASSIGN_OR_RETURN(const auto value, memory.read<std::uint8_t>(address));
    found[name] = {value != 0, address};
  }
  return found;
}

}  // namespace jtrace::dtrace
