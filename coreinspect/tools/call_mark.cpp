#include "coreinspect/tools/call_mark.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace jtrace::coreinspect {
namespace {

constexpr std::int32_t kInvocationEntry = -1;  // nmethod::_entry_bci of code for calls (InvocationEntryBci)
constexpr std::uint64_t kMostBytes = 4096;     // of a header: some hundred

// FNV-1a.
class Hash {
 public:
  void add(const void* from, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < size; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001b3u;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

// Adds what a method's counters hold. The count of a MethodData is in none of the tables, but it lies before the data,
// and what else is there changes only while the method is compiled.
bool add_counts(const Inspection& inspection, Address method, Hash& hash) {
  const Vm& vm = inspection.vm();
  const target::MemoryReader& now = inspection.target().memory();
  const auto add = [&](std::string_view field, std::optional<std::uint64_t> size) {
    const auto offset = vm.types().offset("Method", field);
    if (!offset || !size || *size > kMostBytes) return false;
    const auto at = now.read<Address>(method + *offset);
    std::vector<std::byte> bytes(*size);
    if (!at || *at == 0 || !now.read_exactly(*at, bytes)) return false;
    hash.add(bytes.data(), bytes.size());
    return true;
  };
  const bool counters = add("_method_counters", vm.types().size_of("MethodCounters"));
  const bool data = add("_method_data", vm.types().offset("MethodData", "_data[0]"));
  return counters || data;
}

}  // namespace

std::uint64_t mark_of_call(const Inspection& inspection, const Walk& walk) {
  const auto frame =
      std::find_if(walk.frames.begin(), walk.frames.end(), [](const Frame& each) { return each.method != nullptr; });
  // One that was compiled into its caller leaves no trace of its calls.
  if (frame == walk.frames.end() || frame->kind != FrameKind::kCompiled) return 0;
  const auto code = inspection.code();
  if (!code) return 0;
  const auto blob = (*code)->find(frame->pc);
  if (!blob || !*blob || (*blob)->method != frame->method->address) return 0;
  const auto entry = inspection.vm().read_field<std::int32_t>((*blob)->address, "nmethod", "_entry_bci");
  if (!entry || *entry == kInvocationEntry) return 0;
  Hash hash;
  hash.add(&(*blob)->address, sizeof(Address));
  hash.add(&(*blob)->compile_id, sizeof(int));
  return add_counts(inspection, frame->method->address, hash) ? hash.value() : 0;
}

}  // namespace jtrace::coreinspect
