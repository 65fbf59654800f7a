#include "coreinspect/code/oop_maps.h"

#include <algorithm>
#include <array>
#include <optional>

#include "coreinspect/code/code_cache.h"
#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint32_t kSlot = 4;              // bytes (VMRegImpl::stack_slot_size)
constexpr std::uint32_t kMaxValues = 1u << 16;  // of a map
constexpr std::uint32_t kMaxMaps = 1u << 20;    // of a method
constexpr std::uint32_t kLongestValue = 10;     // bytes: two numbers

// Of one method: where each map is that belongs to a place in its code.
struct MapPlace {
  Address bytes = 0;
  std::uint32_t count = 0;
};

Result<std::uint32_t> count_within(Result<std::int32_t> count, std::uint32_t most, Address at) {
  if (!count) return fail(count.error());
  if (*count < 0 || static_cast<std::uint32_t>(*count) > most)
    return fail(malformed("impossible number of oop maps", at));
  return static_cast<std::uint32_t>(*count);
}

// OopMapSet of JDK 8: pointers to the maps.
Result<std::optional<MapPlace>> find_in_list(const Vm& vm, Address set, std::int64_t offset) {
  JTRACE_ASSIGN_OR_RETURN(const std::uint32_t count,
                          count_within(vm.read_field<std::int32_t>(set, "OopMapSet", "_om_count"), kMaxMaps, set));
  JTRACE_ASSIGN_OR_RETURN(const Address data, vm.read_pointer(set, "OopMapSet", "_om_data"));
  for (std::uint32_t i = 0; i < count; ++i) {
    JTRACE_ASSIGN_OR_RETURN(const Address map, vm.memory().read<Address>(data + Address{i} * 8));
    JTRACE_ASSIGN_OR_RETURN(const auto pc_offset, vm.read_field<std::int32_t>(map, "OopMap", "_pc_offset"));
    if (pc_offset != offset) continue;
    MapPlace place;
    JTRACE_ASSIGN_OR_RETURN(place.count,
                            count_within(vm.read_field<std::int32_t>(map, "OopMap", "_omv_count"), kMaxValues, map));
    JTRACE_ASSIGN_OR_RETURN(place.bytes, vm.read_pointer(map, "OopMap", "_omv_data"));
    return std::optional(place);
  }
  return std::optional<MapPlace>();
}

// ImmutableOopMapSet: pairs of a place and the distance to its map, then the maps.
Result<std::optional<MapPlace>> find_in_pairs(const Vm& vm, Address set, std::int64_t offset) {
  struct Pair {  // ImmutableOopMapPair
    std::int32_t pc_offset, map_offset;
  };
  const auto head = vm.types().size_of("ImmutableOopMapSet"), map_head = vm.types().size_of("ImmutableOopMap");
  if (!head || !map_head || vm.types().size_of("ImmutableOopMapPair") != sizeof(Pair))
    return fail(malformed("oop maps of an unknown layout", set));
  JTRACE_ASSIGN_OR_RETURN(
      const std::uint32_t count,
      count_within(vm.read_field<std::int32_t>(set, "ImmutableOopMapSet", "_count"), kMaxMaps, set));
  std::vector<Pair> pairs(count);
  JTRACE_RETURN_IF_ERROR(vm.memory().read_exactly(set + *head, std::as_writable_bytes(std::span(pairs))));
  const auto found =
      std::find_if(pairs.begin(), pairs.end(), [&](const Pair& each) { return each.pc_offset == offset; });
  if (found == pairs.end()) return std::optional<MapPlace>();
  if (found->map_offset < 0) return fail(malformed("an oop map outside of its method's", set));
  const Address map = set + *head + Address{count} * sizeof(Pair) + static_cast<Address>(found->map_offset);
  MapPlace place{.bytes = map + *map_head};
  JTRACE_ASSIGN_OR_RETURN(place.count,
                          count_within(vm.read_field<std::int32_t>(map, "ImmutableOopMap", "_count"), kMaxValues, map));
  return std::optional(place);
}

Result<OopMapRules> rules_of(const Vm& vm) {
  OopMapRules rules{.excludes_zero = vm.quirks().unsigned5_excludes_zero};
  const std::array<std::pair<const char*, std::uint32_t*>, 7> constants{{
      {"OopMapValue::type_mask", &rules.type_mask},
      {"OopMapValue::register_shift", &rules.register_shift},
      {"OopMapValue::register_mask", &rules.register_mask},
      {"OopMapValue::oop_value", &rules.oop_value},
      {"OopMapValue::narrowoop_value", &rules.narrowoop_value},
      {"OopMapValue::callee_saved_value", &rules.callee_saved_value},
      {"OopMapValue::derived_oop_value", &rules.derived_oop_value},
  }};
  for (const auto& [name, value] : constants) {
    const auto constant = vm.types().constant(name);
    if (!constant)
      return fail(Error{.category = ErrorCategory::kMalformed, .text = std::string("no constant ") + name});
    *value = static_cast<std::uint32_t>(*constant);
  }
  // A pointer type whose value is the number.
  JTRACE_ASSIGN_OR_RETURN(const auto stack0, vm.read_static<std::uint64_t>("VMRegImpl", "stack0"));
  if (stack0 == 0 || stack0 > rules.register_mask) return fail(malformed("impossible number of registers", stack0));
  rules.stack0 = static_cast<std::uint32_t>(stack0);
  return rules;
}

}  // namespace

Result<std::vector<OopPlace>> decode_oop_map(std::span<const std::byte> bytes, std::uint32_t count,
                                             const OopMapRules& rules) {
  std::vector<OopPlace> places;
  Unsigned5Reader in(bytes, rules.excludes_zero);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t value = in.next();
    const std::uint32_t type = value & rules.type_mask;
    // Another number: which register was saved there, or which object the pointer is into.
    if (type == rules.callee_saved_value || type == rules.derived_oop_value) (void)in.next();
    if (in.failed()) return fail(Error{.category = ErrorCategory::kMalformed, .text = "an oop map ends too early"});
    if (type != rules.oop_value && type != rules.narrowoop_value) continue;
    const std::uint32_t vmreg = (value >> rules.register_shift) & rules.register_mask;
    OopPlace place{.in_register = vmreg < rules.stack0, .narrow = type == rules.narrowoop_value, .number = vmreg};
    if (!place.in_register) place.number = (vmreg - rules.stack0) * kSlot;
    places.push_back(place);
  }
  return places;
}

Result<std::optional<std::vector<OopPlace>>> CodeCache::oop_map(const CodeBlob& blob, Address pc) const {
  std::optional<std::vector<OopPlace>> none;
  JTRACE_ASSIGN_OR_RETURN(const Address set, vm_->read_pointer(blob.address, "CodeBlob", "_oop_maps"));
  if (set == 0) return none;
  const auto offset = static_cast<std::int64_t>(pc - blob.code_begin);
  const bool has_pairs = vm_->types().has("ImmutableOopMapSet", "_count");
  JTRACE_ASSIGN_OR_RETURN(const auto place,
                          has_pairs ? find_in_pairs(*vm_, set, offset) : find_in_list(*vm_, set, offset));
  if (!place) return none;
  JTRACE_ASSIGN_OR_RETURN(const OopMapRules rules, rules_of(*vm_));
  std::vector<std::byte> bytes(std::size_t{place->count} * kLongestValue);
  bytes.resize(vm_->memory().read_available(place->bytes, bytes));
  JTRACE_ASSIGN_OR_RETURN(auto map, decode_oop_map(bytes, place->count, rules));
  return std::optional(std::move(map));
}

}  // namespace jtrace::coreinspect
