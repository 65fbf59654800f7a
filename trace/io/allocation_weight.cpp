#include "trace/io/allocation_weight.h"

#include <algorithm>
#include <cmath>

#include "base/primitive_types.h"
#include "base/strings.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"

namespace jtrace::trace::io {

namespace {

// Asked for each objAlloc: without copies.
bool lacks_objects(const Scope& scope) {
  return std::ranges::any_of(scope.unavailable, [](const std::string& line) {
    return (record::events_lacking(line) & record::kObjAllocEvent) != 0;
  });
}

}  // namespace

AllocationKind allocation_kind(const Scope& scope) {
  if (scope.has_events_option) {
    if (!scope.events_sampled) return AllocationKind::kExact;
    if (!scope.sample_interval) return AllocationKind::kUnknown;
    if (*scope.sample_interval != 0) return AllocationKind::kSampled;
    return lacks_objects(scope) ? AllocationKind::kPartial : AllocationKind::kExact;
  }
  // Other producers report each object. The producer of a part without a head is not known.
  const bool ours = scope.agent_name == "jtrace" || scope.agent_name.empty();
  if (ours) return AllocationKind::kUnknown;
  return lacks_objects(scope) ? AllocationKind::kPartial : AllocationKind::kExact;
}

AllocationWeight allocation_weight(const Scope& scope, const ObjAlloc& alloc) {
  const auto size = static_cast<double>(alloc.size.value_or(0));
  if (allocation_kind(scope) != AllocationKind::kSampled || size <= 0) return {1, size};
  // expm1 is exact also if an object is a millionth of the interval.
  const double objects = -1 / std::expm1(-size / static_cast<double>(*scope.sample_interval));
  return {objects, objects * size};
}

std::string_view word_of(AllocationKind kind) {
  switch (kind) {
    case AllocationKind::kPartial: return "partial";
    case AllocationKind::kSampled: return "estimated";
    case AllocationKind::kUnknown: return "unknown";
    case AllocationKind::kExact:
    case AllocationKind::kNone: break;
  }
  return "exact";
}

// Of what the JVM samples, filters select the classes of the objects; of callouts, the methods that make them.
bool filters_objects(const Scope& scope) {
  return scope.events_sampled && scope.excludes && !scope.callouts_record_allocations;
}

std::string allocation_note(const Scope& scope, std::uint64_t samples) {
  std::string note;
  switch (allocation_kind(scope)) {
    case AllocationKind::kUnknown:
      note = "as recorded: the trace does not say whether these are samples, and at what interval";
      break;
    case AllocationKind::kSampled:
      note = "estimated from " + counted(samples, "sample") + ", one each " + std::to_string(*scope.sample_interval) +
             " bytes on average";
      break;
    case AllocationKind::kPartial: note = "not complete"; break;
    case AllocationKind::kExact:
    case AllocationKind::kNone: return {};
  }
  for (const std::string& why : scope.unavailable_of(record::kObjAllocEvent))
    note += "; " + printable(why.substr(why.find(": ") + 2));
  return note;
}

bool is_large_sample(const Scope& scope, const ObjAlloc& alloc) {
  constexpr std::uint64_t kNotSmall = 8;  // a part of the interval
  if (allocation_kind(scope) != AllocationKind::kSampled) return false;
  return alloc.size.value_or(0) >= *scope.sample_interval / kNotSmall;
}

std::string surplus_note(const Scope& scope) {
  constexpr std::uint64_t kWithoutSurplus = 25;  // docs/formats.md, "Allocations"
  if (scope.jdk == 0 || scope.jdk >= kWithoutSurplus) return {};
  return "JDK " + std::to_string(scope.jdk) +
         " takes too many samples of a thread that makes large arrays and small objects (25 and later do not): both "
         "may be 50 % too high or more; jtrace allocations PID --filter counts each object";
}

std::string_view primitive_array(std::uint64_t is_array) {
  const PrimitiveType* type = primitive_of_code(is_array);
  return type != nullptr ? type->array_name : std::string_view();
}

std::string allocated_type(const Scope& scope, Number is_array, ClassId class_id) {
  const std::uint64_t kind = is_array.value_or(0);
  if (const std::string_view name = primitive_array(kind); !name.empty()) return std::string(name);
  if (!class_id.present()) return kind == 2 ? "?[]" : "?";
  return scope.class_name(class_id.value()) + (kind == 2 ? "[]" : "");
}

std::string type_of_object(const Scope& scope, std::uint64_t object) {
  const auto found = scope.objects.find(object);
  return found == scope.objects.end() ? "?" : allocated_type(scope, found->second.is_array, found->second.class_id);
}

}  // namespace jtrace::trace::io
