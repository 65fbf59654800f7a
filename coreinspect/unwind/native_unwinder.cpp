#include "coreinspect/unwind/native_unwinder.h"

#include <array>

#include "target/loaded_image.h"

namespace jtrace::coreinspect {

using target::Address;
using target::Registers;

namespace {

constexpr std::uint64_t kMaxEntries = 4u << 20;

// DW_EH_PE_* (LSB, "DWARF Exception Header Encoding"): what ld and lld write into .eh_frame_hdr, and nothing else.
constexpr std::uint8_t kPcRelativeSigned4 = 0x1b, kUnsigned4 = 0x03, kDataRelativeSigned4 = 0x3b;

}  // namespace

NativeWalk NativeUnwinder::walk(const Registers& from, bool exact, Address limit) const {
  return from.isa == target::Isa::kAarch64 ? walk_frame_records(from, exact, limit)
                                           : walk_call_frames(from, exact, limit);
}

const NativeUnwinder::Module* NativeUnwinder::module_of(Address pc) const {
  const auto known = modules_.upper_bound(pc);
  if (known != modules_.end() && known->second.start <= pc) return &known->second;
  const Module module = read_module(pc);
  if (module.end <= pc) return nullptr;
  return &modules_.insert_or_assign(module.end, module).first->second;
}

// The image around a mapping: the nearest image whose first page is below it.
NativeUnwinder::Module NativeUnwinder::read_module(Address pc) const {
  const auto& mappings = target_.mappings();
  const target::Mapping* mapping = target::find_mapping(mappings, pc);
  if (!mapping || !mapping->executable) return {};
  Module module{.start = mapping->start, .end = mapping->end};
  Address base = mapping->start;  // the vdso is one mapping without a file in a core
  for (const target::Mapping& other : mappings)
    if (!mapping->path.empty() && other.path == mapping->path && other.offset == 0 && other.start <= pc)
      base = other.start;
  const auto image = target::LoadedImage::read(memory_, base);
  if (!image || image->eh_frame_header() == 0) return module;
  const Address header = image->eh_frame_header();
  const auto bytes = memory_.read<std::array<std::uint8_t, 4>>(header);  // version, three encodings
  if (!bytes || (*bytes)[0] != 1 || (*bytes)[1] != kPcRelativeSigned4 || (*bytes)[2] != kUnsigned4 ||
      (*bytes)[3] != kDataRelativeSigned4)
    return module;
  const auto count = memory_.read<std::uint32_t>(header + 8);
  if (!count || *count == 0 || *count > kMaxEntries) return module;
  module.header = header;
  module.table = header + 12;
  module.entries = *count;
  return module;
}

// Of each entry of the table, by address: where the function starts and its call frame information, both as a distance
// from the header.
std::optional<Address> NativeUnwinder::function_start(Address pc) const {
  const Module* module = module_of(pc);
  if (!module || module->table == 0) return std::nullopt;
  const auto start = [&](std::uint64_t index) -> std::optional<Address> {
    const auto distance = memory_.read<std::int32_t>(module->table + index * 8);
    if (!distance) return std::nullopt;
    return module->header + static_cast<Address>(std::int64_t{*distance});
  };
  std::uint64_t low = 0, high = module->entries;  // the entry wanted is in [low, high)
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto at = start(middle);
    if (!at) return std::nullopt;
    if (*at <= pc) low = middle;
    else high = middle;
  }
  const auto found = start(low);
  return found && *found <= pc ? found : std::nullopt;
}

}  // namespace jtrace::coreinspect
