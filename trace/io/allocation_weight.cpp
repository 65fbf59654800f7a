#include "trace/io/allocation_weight.h"

#include <array>
#include <cmath>

#include "base/strings.h"

namespace jtrace::trace::io {

AllocationKind allocation_kind(const Scope& scope) {
  if (scope.has_events_option) {
    if (!scope.events_sampled) return AllocationKind::kExact;
    if (scope.sample_interval) return *scope.sample_interval == 0 ? AllocationKind::kExact : AllocationKind::kSampled;
    return AllocationKind::kUnknown;
  }
  // Other producers report each object. The producer of a part without a head is not known.
  const bool ours = scope.agent_name == "jtrace" || scope.agent_name.empty();
  return ours ? AllocationKind::kUnknown : AllocationKind::kExact;
}

AllocationWeight allocation_weight(const Scope& scope, const ObjAlloc& alloc) {
  const auto size = static_cast<double>(alloc.size.value_or(0));
  if (allocation_kind(scope) != AllocationKind::kSampled || size <= 0) return {1, size};
  // expm1 is exact also if an object is a millionth of the interval.
  const double objects = -1 / std::expm1(-size / static_cast<double>(*scope.sample_interval));
  return {objects, objects * size};
}

std::string allocation_note(AllocationKind kind, std::uint64_t samples, std::uint64_t interval) {
  if (kind == AllocationKind::kUnknown)
    return "as recorded: the trace does not say whether these are samples, and at what interval";
  if (kind != AllocationKind::kSampled) return {};
  return "estimated from " + counted(samples, "sample") + ", one each " + std::to_string(interval) +
         " bytes on average";
}

std::string_view primitive_array(std::uint64_t is_array) {
  constexpr std::array<std::string_view, 8> kNames = {"boolean[]", "char[]",  "float[]", "double[]",
                                                      "byte[]",    "short[]", "int[]",   "long[]"};
  return is_array >= 4 && is_array < 4 + kNames.size() ? kNames[is_array - 4] : std::string_view();
}

std::string allocated_type(const Scope& scope, Number is_array, ClassId class_id) {
  const std::uint64_t kind = is_array.value_or(0);
  if (const std::string_view name = primitive_array(kind); !name.empty()) return std::string(name);
  if (!class_id.present()) return kind == 2 ? "?[]" : "?";
  return scope.class_name(class_id.value()) + (kind == 2 ? "[]" : "");
}

}  // namespace jtrace::trace::io
