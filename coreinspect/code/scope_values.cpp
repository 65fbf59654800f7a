#include "coreinspect/code/scope_values.h"

#include <algorithm>

#include "coreinspect/vm/unsigned5.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxDepth = 256;                // of objects within objects
constexpr std::size_t kMaxValues = 1u << 17;  // of one description
constexpr std::uint32_t kMaxLocals = 65536;   // JVMS 4.11

// debugInfo.cpp, from LOCATION_CODE on.
enum Code : std::uint32_t {
  kLocationCode = 0,
  kConstantIntCode = 1,
  kConstantOopCode = 2,
  kConstantLongCode = 3,
  kConstantDoubleCode = 4,
  kObjectCode = 5,
  kObjectIdCode = 6,
  kAutoBoxCode = 7,
  kMarkerCode = 8,
  kMergeCode = 9,
};

std::uint32_t reversed(std::uint32_t bits) {
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i, bits >>= 1) result = result << 1 | (bits & 1);
  return result;
}

std::int64_t of_halves(std::uint32_t high, std::uint32_t low) {
  return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
}

class Decoder {
 public:
  Decoder(const ScopeRules& rules, std::vector<ScopeObject>& objects) : rules_(rules), objects_(objects) {}

  // A count, and as many values.
  std::vector<ScopeValue> values(Unsigned5Reader& in, int depth) {
    const std::uint32_t count = in.next();
    std::vector<ScopeValue> values;
    if (count > kMaxLocals * 2) wrong_ = true;
    for (std::uint32_t i = 0; i < count && is_right(in); ++i) values.push_back(value(in, depth));
    return values;
  }
  bool is_right(const Unsigned5Reader& in) const { return !wrong_ && !in.failed(); }

 private:
  ScopeValue value(Unsigned5Reader& in, int depth) {
    using Kind = ScopeValue::Kind;
    if (depth > kMaxDepth || ++count_ > kMaxValues) wrong_ = true;
    if (wrong_) return {};
    switch (in.next()) {
      case kLocationCode: return location(in.next());
      case kConstantIntCode: return {.kind = Kind::kInt, .number = in.next_signed()};
      case kConstantOopCode: return {.kind = Kind::kOop, .number = in.next()};
      case kConstantLongCode: {
        const auto low = static_cast<std::uint32_t>(in.next_signed());
        return {.kind = Kind::kWide, .number = of_halves(static_cast<std::uint32_t>(in.next_signed()), low)};
      }
      case kConstantDoubleCode: {
        const std::uint32_t high = reversed(in.next());
        return {.kind = Kind::kWide, .number = of_halves(high, reversed(in.next()))};
      }
      case kObjectCode:
      case kAutoBoxCode: return object(in, depth);
      case kObjectIdCode: return {.kind = Kind::kObject, .number = in.next()};
      case kMergeCode: return merge(in, depth);
      case kMarkerCode: return {};
      default: wrong_ = true;
    }
    return {};
  }
  // location.hpp: bits 0 to 3 are the type, bit 4 is set for a register, the rest is its number or the offset in 4-byte
  // units.
  ScopeValue location(std::uint32_t bits) const {
    using Type = ScopeValue::Type;
    const std::int64_t type = bits & 15;
    const std::pair<std::optional<std::int64_t>, Type> known[] = {{rules_.normal, Type::kNormal},
                                                                  {rules_.oop, Type::kOop},
                                                                  {rules_.narrow_oop, Type::kNarrowOop},
                                                                  {rules_.lng, Type::kLong},
                                                                  {rules_.dbl, Type::kDouble},
                                                                  {rules_.int_in_long, Type::kIntInLong},
                                                                  {rules_.float_in_dbl, Type::kFloatInDouble}};
    ScopeValue value;
    for (const auto& [number, meaning] : known)
      if (number == type) value.type = meaning;
    if (value.type == Type::kOther) return {};
    const bool in_register = (bits >> 4 & 1) != 0;
    value.kind = in_register ? ScopeValue::Kind::kRegister : ScopeValue::Kind::kStack;
    value.number = std::int64_t{bits >> 5} * (in_register ? 1 : 4);
    return value;
  }
  // An object is described where it first comes; later only its id comes.
  ScopeValue object(Unsigned5Reader& in, int depth) {
    ScopeObject made{.id = in.next()};
    if (rules_.objects_have_root) (void)in.next_byte();
    made.klass = value(in, depth + 1);
    made.values = values(in, depth + 1);
    return keep(std::move(made));
  }
  ScopeValue merge(Unsigned5Reader& in, int depth) {
    ScopeObject made{.id = in.next(), .merge = true};
    made.selector = value(in, depth + 1);
    made.pointer = value(in, depth + 1);
    made.values = values(in, depth + 1);
    return keep(std::move(made));
  }
  ScopeValue keep(ScopeObject made) {
    const std::int64_t id = made.id;
    objects_.push_back(std::move(made));
    return {.kind = ScopeValue::Kind::kObject, .number = id};
  }

  const ScopeRules& rules_;
  std::vector<ScopeObject>& objects_;
  std::size_t count_ = 0;
  bool wrong_ = false;
};

}  // namespace

const ScopeObject* ScopeVariables::object(std::uint32_t id) const {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const auto& each) { return each.id == id; });
  return found == objects.end() ? nullptr : &*found;
}

Result<ScopeVariables> decode_scope_variables(std::span<const std::byte> locals, std::span<const std::byte> objects,
                                              const ScopeRules& rules) {
  ScopeVariables variables;
  Decoder decoder(rules, variables.objects);
  Unsigned5Reader object_stream(objects, rules.excludes_zero), local_stream(locals, rules.excludes_zero);
  if (!objects.empty()) (void)decoder.values(object_stream, 0);
  if (!locals.empty()) variables.locals = decoder.values(local_stream, 0);
  if (!decoder.is_right(object_stream) || !decoder.is_right(local_stream))
    return fail(ErrorCategory::kMalformed, "the variables of compiled code are not described as they should be");
  return variables;
}

}  // namespace jtrace::coreinspect
