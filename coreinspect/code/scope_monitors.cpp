// The locks of compiled frames: MonitorValue and ScopeValue of debugInfo.hpp.
#include <algorithm>
#include <array>
#include <span>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kMaxMonitors = 1024;

// ScopeValue codes (debugInfo.cpp, from LOCATION_CODE on) of objects whose lock may really be taken.
enum ScopeCode : std::uint32_t {
  kLocation = 0,
  kConstantInt = 1,
  kConstantOop = 2,
  kConstantLong = 3,
  kConstantDouble = 4
};

// Location (location.hpp): bits 0 to 3 are the type, bit 4 is set for a register, the rest is the offset in 4-byte
// units.
ScopeMonitor at_location(const Vm& vm, std::uint32_t location) {
  const TypeDatabase& types = vm.types();
  ScopeMonitor monitor;
  using Place = ScopeMonitor::Place;
  const bool in_register = (location >> 4 & 1) != 0;
  if (in_register && location >> 5 != vm.quirks().machine.frame_pointer_vmreg) return monitor;
  monitor.offset = (location >> 5) * 4;
  const std::int64_t type = location & 15;
  if (type == types.constant("Location::oop").value_or(-1))
    monitor.place = in_register ? Place::kFramePointer : Place::kStack;
  if (type == types.constant("Location::narrowoop").value_or(-1))
    monitor.place = in_register ? Place::kFramePointerNarrow : Place::kStackNarrow;
  return monitor;
}

}  // namespace

Result<std::vector<ScopeMonitor>> CodeCache::monitors(const CodeBlob& blob, const ScopeFrame& frame) const {
  std::vector<ScopeMonitor> monitors;
  if (frame.monitors == 0) return monitors;
  JTRACE_ASSIGN_OR_RETURN(const Debug debug, debug_of(blob));
  std::array<std::byte, 512> bytes{};
  const Address at = debug.scopes + frame.monitors;
  // As far as the memory is readable: a read may end at the end of a page.
  JTRACE_ASSIGN_OR_RETURN(std::size_t count, vm_->memory().read_some(at, bytes));
  count += vm_->memory().read_some(at + count, std::span(bytes).subspan(count)).value_or(std::size_t{0});
  const std::span<const std::byte> stream(bytes);
  Unsigned5Reader reader(stream.first(count), vm_->quirks().unsigned5_excludes_zero);
  const std::uint32_t length = std::min(reader.next(), kMaxMonitors);
  for (std::uint32_t i = 0; i < length; ++i) {
    (void)reader.next();  // the place of the BasicLock
    const std::uint32_t code = reader.next();
    ScopeMonitor monitor;
    if (code == kLocation) {
      monitor = at_location(*vm_, reader.next());
    } else if (code == kConstantOop) {
      monitor.place = ScopeMonitor::Place::kConstant;
      monitor.offset = reader.next();
    } else {
      break;
    }
    monitor.eliminated = reader.next_byte() != 0;
    if (reader.failed()) break;
    monitors.push_back(monitor);
  }
  return monitors;
}

namespace {

ScopeRules rules_of(const Vm& vm) {
  const TypeDatabase& types = vm.types();
  return {.excludes_zero = vm.quirks().unsigned5_excludes_zero,
          .objects_have_root = vm.quirks().scope_objects_have_root,
          .normal = types.constant("Location::normal"),
          .oop = types.constant("Location::oop"),
          .narrow_oop = types.constant("Location::narrowoop"),
          .lng = types.constant("Location::lng"),
          .dbl = types.constant("Location::dbl"),
          .int_in_long = types.constant("Location::int_in_long"),
          .float_in_dbl = types.constant("Location::float_in_dbl")};
}

}  // namespace

// The length of a description is not known before it is read: most are short.
Result<ScopeVariables> CodeCache::variables(const CodeBlob& blob, std::uint32_t locals, std::uint32_t objects) const {
  constexpr std::size_t kShort = 2048, kLong = 1u << 20;
  JTRACE_ASSIGN_OR_RETURN(const Debug debug, debug_of(blob));
  const ScopeRules rules = rules_of(*vm_);
  const auto decode = [&](std::size_t most) {
    const auto bytes_at = [&](std::uint32_t offset) {
      std::vector<std::byte> bytes(offset == 0 ? 0 : most);
      bytes.resize(vm_->memory().read_available(debug.scopes + offset, bytes));
      return bytes;
    };
    return decode_scope_variables(bytes_at(locals), bytes_at(objects), rules);
  };
  auto found = decode(kShort);
  return found ? std::move(found) : decode(kLong);
}

// The oops are at an offset of their own up to 21, before the metadata; from 25 on they are all of the blob's data.
Result<std::pair<Address, Address>> CodeCache::constant_oops(const CodeBlob& blob) const {
  const bool own = vm_->types().has("nmethod", "_oops_offset");
  JTRACE_ASSIGN_OR_RETURN(const auto begin,
                          own ? vm_->read_field<std::uint32_t>(blob.address, "nmethod", "_oops_offset")
                              : vm_->read_field<std::uint32_t>(blob.address, "CodeBlob", "_data_offset"));
  Result<std::uint32_t> end = static_cast<std::uint32_t>(blob.size);
  if (own) end = vm_->read_field<std::uint32_t>(blob.address, "nmethod", "_metadata_offset");
  if (!end) return fail(end.error());
  if (begin > *end || *end > blob.size) return fail(malformed("impossible constants of compiled code", blob.address));
  return std::pair(blob.address + begin, blob.address + *end);
}

// nmethod::oop_at counts from 1.
Result<Address> CodeCache::constant_oop(const CodeBlob& blob, std::uint32_t index) const {
  if (index == 0) return fail(ErrorCategory::kMalformed, "a null constant");
  JTRACE_ASSIGN_OR_RETURN(const auto all, constant_oops(blob));
  return all.first + Address{index - 1} * 8;
}

}  // namespace jtrace::coreinspect
