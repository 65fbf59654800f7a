#include "coreinspect/tools/referred_values.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/primitive_types.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "coreinspect/graph/content_hash.h"
#include "coreinspect/runtime/java_number.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kLongestText = 60;
constexpr int kDeepestWrapper = 8;
// Types of fields (hprof_b_spec.h).
constexpr std::uint8_t kBooleanType = 4, kCharType = 5, kFloatType = 6, kDoubleType = 7, kByteType = 8, kShortType = 9,
                       kIntType = 10;

struct Wrapper {
  std::string_view type, field;
};
// Collections of the JDK that have another one inside.
constexpr std::array kWrappers = std::to_array<Wrapper>({
    {"java.util.HashSet", "map"},
    {"java.util.TreeSet", "m"},
    {"java.util.Properties", "map"},
    {"java.util.concurrent.CopyOnWriteArraySet", "al"},
    {"java.util.concurrent.ConcurrentHashMap$KeySetView", "map"},
    {"java.util.Collections$UnmodifiableCollection", "c"},
    {"java.util.Collections$UnmodifiableMap", "m"},
    {"java.util.Collections$SynchronizedCollection", "c"},
    {"java.util.Collections$SynchronizedMap", "m"},
    {"java.util.Collections$SetFromMap", "m"},
});

constexpr std::array<std::string_view, 3> kTruthBoxes = {"java.lang.Boolean", "java.lang.Character",
                                                         "java.util.concurrent.atomic.AtomicBoolean"};
constexpr std::array<std::string_view, 8> kNumberBoxes = {"java.lang.Integer",
                                                          "java.lang.Long",
                                                          "java.lang.Short",
                                                          "java.lang.Byte",
                                                          "java.lang.Double",
                                                          "java.lang.Float",
                                                          "java.util.concurrent.atomic.AtomicInteger",
                                                          "java.util.concurrent.atomic.AtomicLong"};

}  // namespace

FieldKind ReferredValues::kind_of(std::uint8_t type) {
  return type == kBooleanType || type == kCharType ? FieldKind::kValue : FieldKind::kNumber;
}

ReferredValues::Value ReferredValues::value_of(std::uint64_t bits, std::uint8_t type) {
  if (type == kFloatType || type == kDoubleType) {
    const double real =
        type == kFloatType ? std::bit_cast<float>(static_cast<std::uint32_t>(bits)) : std::bit_cast<double>(bits);
    return {std::bit_cast<std::uint64_t>(real), real};
  }
  std::int64_t whole = static_cast<std::int64_t>(bits);
  if (type == kByteType) whole = static_cast<std::int8_t>(bits);
  if (type == kShortType) whole = static_cast<std::int16_t>(bits);
  if (type == kIntType) whole = static_cast<std::int32_t>(bits);
  return {static_cast<std::uint64_t>(whole), static_cast<long double>(whole)};
}

std::string ReferredValues::text_of(std::uint64_t bits, std::uint8_t type) {
  const PrimitiveType* primitive = primitive_of_code(type);
  if (primitive == nullptr) return "?";
  const std::string text = primitive_text(bits, primitive->letter);
  return type == kCharType ? "'" + escaped_text(text) + "'" : text;
}

const ReferredValues::Plan& ReferredValues::plan_of(std::uint32_t object) {
  if (graph_.is_class(object)) return class_object_;
  Plan& plan = plans_[graph_.class_of(object)];
  if (plan.how == How::kUnknown) plan = make_plan(object);
  return plan;
}

ReferredValues::Plan ReferredValues::make_plan(std::uint32_t object) {
  const std::string& type = graph_.classes()[graph_.class_of(object)].name;
  if (fields_.is_array(object)) return {.how = How::kArray, .kind = FieldKind::kArray};
  // A redacted dump has the sizes alone.
  if (!redacted_)
    if (auto plan = plan_of_value(object, type)) return *plan;
  return plan_of_collection(object, type).value_or(Plan{.how = How::kOther});
}

std::optional<ReferredValues::Plan> ReferredValues::plan_of_value(std::uint32_t object, const std::string& type) {
  const std::uint32_t number = graph_.class_of(object);
  const auto place = fields_.find(number, "value");
  if (type == "java.lang.String") return Plan{How::kString, FieldKind::kText, place, fields_.find(number, "coder")};
  if (fields_.is_a(number, "java.lang.Enum"))
    return Plan{How::kConstant, FieldKind::kValue, fields_.find(number, "name", "java.lang.Enum"), {}};
  if (place && std::find(kTruthBoxes.begin(), kTruthBoxes.end(), type) != kTruthBoxes.end())
    return Plan{How::kBox, FieldKind::kValue, place, {}};
  if (place && std::find(kNumberBoxes.begin(), kNumberBoxes.end(), type) != kNumberBoxes.end())
    return Plan{How::kBox, FieldKind::kNumber, place, {}};
  if (type == "java.math.BigDecimal")
    return Plan{How::kDecimal, FieldKind::kNumber, fields_.find(number, "intCompact"), fields_.find(number, "scale")};
  // Builders may be long, and are no values.
  if (!type.starts_with("java.lang.StringBu") && contents_.value(graph_.address(object), type))
    return Plan{How::kPrinted, FieldKind::kValue, {}, {}};
  return std::nullopt;
}

std::optional<ReferredValues::Plan> ReferredValues::plan_of_collection(std::uint32_t object, const std::string& type) {
  if (collections_.is_collection(object)) return Plan{How::kKnownSize, FieldKind::kCollection, {}, {}};
  const std::uint32_t number = graph_.class_of(object);
  for (const Wrapper& each : kWrappers)
    if (fields_.is_a(number, each.type))
      return Plan{How::kWrapper, FieldKind::kCollection, fields_.find(number, each.field, {}), {}};
  if (type.starts_with("java.util.") && contents_.size(graph_.address(object)))
    return Plan{How::kListed, FieldKind::kCollection, {}, {}};
  return std::nullopt;
}

std::optional<ReferredValues::Value> ReferredValues::text_value(std::uint32_t object, const Plan& plan) {
  const std::uint32_t array = fields_.reference(object, plan.place);
  if (array == kNoObject || !fields_.is_array(array)) return std::nullopt;
  const HprofObject record = graph_.record(array);
  const std::uint64_t coder = fields_.number(object, plan.more).value_or(0);
  return Value{content_hash(graph_.file().bytes(record.body, record.end - record.body), coder), 0};
}

std::optional<ReferredValues::Value> ReferredValues::decimal(std::uint32_t object, const Plan& plan) {
  const auto bits = fields_.number(object, plan.place), scale = fields_.number(object, plan.more);
  if (!bits || !scale) return std::nullopt;
  const auto unscaled = static_cast<std::int64_t>(*bits);
  if (unscaled == std::numeric_limits<std::int64_t>::min()) return std::nullopt;  // more than 18 digits: elsewhere
  const auto places = static_cast<std::int32_t>(*scale);
  // By a power of ten that is exact, so that 0.1 and 1 / 10 are the same.
  const long double power = std::pow(10.0L, std::abs(static_cast<long double>(places)));
  const auto whole = static_cast<long double>(unscaled);
  return Value{*bits + (*scale << 56), places < 0 ? whole * power : whole / power};
}

std::optional<std::uint64_t> ReferredValues::size(std::uint32_t object, int depth) {
  if (object == kNoObject || depth > kDeepestWrapper) return std::nullopt;
  const Plan plan = plan_of(object);
  switch (plan.how) {
    case How::kArray: return fields_.length(object);
    case How::kKnownSize: {
      const auto state = collections_.read(object);
      return state ? std::optional(state->size) : std::nullopt;
    }
    case How::kWrapper: return size(fields_.reference(object, plan.place), depth + 1);
    case How::kListed: return contents_.size(graph_.address(object));
    default: return std::nullopt;
  }
}

std::optional<ReferredValues::Value> ReferredValues::value(std::uint32_t object) {
  const Plan& plan = plan_of(object);
  switch (plan.how) {
    case How::kBox: {
      const auto bits = fields_.number(object, plan.place);
      return bits ? std::optional(value_of(*bits, plan.place->type)) : std::nullopt;
    }
    case How::kDecimal: return decimal(object, plan);
    case How::kConstant: return Value{object, 0};
    case How::kString: return text_value(object, plan);
    case How::kPrinted: {
      const auto text = contents_.value(graph_.address(object), graph_.classes()[graph_.class_of(object)].name);
      if (!text) return std::nullopt;
      return Value{content_hash(std::as_bytes(std::span(*text)), 1), 0};
    }
    case How::kUnknown:
    case How::kOther: return Value{object, 0};
    default: {
      const auto count = size(object, 0);
      return count ? std::optional(Value{*count, static_cast<long double>(*count)}) : std::nullopt;
    }
  }
}

std::string ReferredValues::text(std::uint32_t object) {
  const Plan& plan = plan_of(object);
  if (plan.how == How::kString) return quoted_text(fields_.text(object, kLongestText));
  if (plan.how == How::kConstant) return printable(fields_.text(fields_.reference(object, plan.place), kLongestText));
  const std::string& type = graph_.classes()[graph_.class_of(object)].name;
  const std::string text = contents_.value(graph_.address(object), type).value_or("?");
  return type == "java.lang.Character" ? "'" + escaped_text(text) + "'" : printable(text);
}

}  // namespace jtrace::coreinspect
