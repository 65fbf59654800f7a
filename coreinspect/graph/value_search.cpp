#include "coreinspect/graph/value_search.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "base/name_pattern.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kLongestName = 1u << 10;  // characters of an enum's constant
// Types of fields (hprof_b_spec.h).
struct OfField {
  enum Type : std::uint8_t {
    kReference = 2,
    kBoolean = 4,
    kChar = 5,
    kFloat = 6,
    kDouble = 7,
    kByte = 8,
    kShort = 9,
    kInt = 10,
    kLong = 11
  };
};

constexpr std::string_view kBoxes[] = {"java.lang.Integer", "java.lang.Long",      "java.lang.Short",
                                       "java.lang.Byte",    "java.lang.Character", "java.lang.Boolean",
                                       "java.lang.Float",   "java.lang.Double"};

template <class T, class... Base>
std::optional<T> whole_text(std::string_view words, Base... base) {
  T value{};
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value, base...);
  if (words.empty() || error != std::errc() || end != words.data() + words.size()) return std::nullopt;
  return value;
}

std::uint64_t bits_of(std::uint64_t bits, std::uint8_t type) {
  switch (type) {
    case OfField::kByte: return bits & 0xff;
    case OfField::kShort: return bits & 0xffff;
    case OfField::kInt: return bits & 0xffffffff;
    default: return bits;
  }
}

bool is_equal(double wanted, double value) { return std::isnan(wanted) ? std::isnan(value) : wanted == value; }

// A double that no float is near to is no infinity.
bool is_float(double wanted, float value) {
  const auto narrow = static_cast<float>(wanted);
  if (std::isinf(narrow) && !std::isinf(wanted)) return false;
  return is_equal(narrow, value);
}

std::int64_t sign_extended(std::uint64_t bits, std::uint8_t type) {
  switch (type) {
    case OfField::kByte: return static_cast<std::int8_t>(bits);
    case OfField::kShort: return static_cast<std::int16_t>(bits);
    case OfField::kInt: return static_cast<std::int32_t>(bits);
    default: return static_cast<std::int64_t>(bits);
  }
}

// The one character of a text, if it is one of up to three bytes.
std::optional<char16_t> one_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() == 1 && byte(0) < 0x80) return static_cast<char16_t>(byte(0));
  if (text.size() == 2 && byte(0) >> 5 == 6) return static_cast<char16_t>((byte(0) & 0x1f) << 6 | (byte(1) & 0x3f));
  if (text.size() == 3 && byte(0) >> 4 == 14)
    return static_cast<char16_t>((byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f));
  return std::nullopt;
}

}  // namespace

WantedValue WantedValue::of(const std::string& words) {
  WantedValue wanted{.text = words};
  if (words.starts_with("0x")) wanted.pattern = whole_text<std::uint64_t>(std::string_view(words).substr(2), 16);
  wanted.whole = whole_text<std::int64_t>(words);
  wanted.real = whole_text<double>(words);
  if (words == "true" || words == "false") wanted.truth = words == "true";
  wanted.character = one_character(words);
  return wanted;
}

bool ValueSearch::has(std::uint8_t type, std::uint64_t bits) const {
  switch (type) {
    case OfField::kBoolean: return wanted_.truth && *wanted_.truth == (bits != 0);
    case OfField::kChar: return wanted_.character && *wanted_.character == bits;
    case OfField::kFloat:
      return wanted_.real && is_float(*wanted_.real, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case OfField::kDouble: return wanted_.real && is_equal(*wanted_.real, std::bit_cast<double>(bits));
    case OfField::kByte:
    case OfField::kShort:
    case OfField::kInt:
    case OfField::kLong:
      if (wanted_.pattern) return bits_of(bits, type) == *wanted_.pattern;
      return wanted_.whole && sign_extended(bits, type) == *wanted_.whole;
    default: return false;
  }
}

ValueSearch::Kind ValueSearch::kind_of(std::uint32_t class_number) const {
  const std::string& name = graph_.classes()[class_number].name;
  if (name == "java.lang.String") return Kind::kString;
  for (const std::string_view box : kBoxes)
    if (name == box) return Kind::kBox;
  return fields_.is_a(class_number, "java.lang.Enum") ? Kind::kConstant : Kind::kOther;
}

bool ValueSearch::is_match(std::uint32_t object, Kind kind) const {
  const auto is_text = [&](const std::string& text) {
    return wanted_.text.find_first_of("*?") == std::string::npos ? text == wanted_.text
                                                                 : matches_pattern(wanted_.text, text);
  };
  if (kind == Kind::kString) return is_text(fields_.text(object, fields_.kWhole));
  if (kind == Kind::kConstant) {
    const auto name = fields_.find(graph_.class_of(object), "name", "java.lang.Enum");
    const std::uint32_t text = fields_.reference(object, name);
    return text != kNoObject && is_text(fields_.text(text, kLongestName));
  }
  const auto place = fields_.find(graph_.class_of(object), "value");
  const auto bits = fields_.number(object, place);
  return bits && has(place->type, *bits);
}

void ValueSearch::find_matches() {
  kinds_.clear();
  for (std::uint32_t i = 0; i < graph_.classes().size(); ++i) kinds_.push_back(kind_of(i));
  for (std::uint32_t i = 0; i < graph_.size(); ++i) {
    if (graph_.is_class(i) || graph_.strength(i) == Strength::kGarbage) continue;
    const Kind kind = kinds_[graph_.class_of(i)];
    if (kind != Kind::kOther && is_match(i, kind)) matches_.insert(graph_.address(i));
  }
}

// The fields of an instance, those of its class first.
const std::vector<ValueSearch::Place>& ValueSearch::places(std::uint32_t class_number) {
  std::optional<std::vector<Place>>& known = places_[class_number];
  if (known) return *known;
  known.emplace();
  fields_.each_field(class_number, [&](std::uint32_t declared, std::uint32_t number, const HprofField&,
                                       const ObjectFields::Place& place) {
    known->push_back({{declared, number, false}, place});
    return true;
  });
  return *known;
}

void ValueSearch::look_into(std::uint32_t object, std::map<Field, Hits>& found) {
  const HprofObject record = graph_.record(object);
  const auto add = [&](const Field& field) {
    Hits& hits = found[field];
    ++hits.count;
    if (hits.objects.size() < kKept) hits.objects.push_back(graph_.address(object));
  };
  if (record.kind == HprofSub::kObjectArrayDump) {
    for (std::uint64_t i = 0; !matches_.empty() && i < record.count; ++i)
      if (matches_.contains(graph_.file().id(record.body + i * graph_.file().id_size())))
        add({graph_.class_of(object), kElements, false});
    return;
  }
  if (record.kind != HprofSub::kInstanceDump || kinds_[graph_.class_of(object)] == Kind::kBox) return;
  for (const Place& place : places(graph_.class_of(object))) {
    const std::uint32_t size = graph_.file().field_size(place.at.type);
    if (std::uint64_t{place.at.offset} + size > record.count) break;  // a damaged instance
    const std::uint64_t bits = graph_.file().number(record.body + place.at.offset, size);
    if (place.at.type == OfField::kReference ? matches_.contains(bits) : has(place.at.type, bits)) add(place.field);
  }
}

void ValueSearch::look_into_statics(std::uint32_t class_number, std::map<Field, Hits>& found) const {
  const HprofClass* const record = graph_.class_record(class_number);
  if (record == nullptr) return;
  for (std::uint32_t i = 0; i < record->statics.size(); ++i) {
    const HprofStatic& each = record->statics[i];
    if (each.field.type == OfField::kReference ? matches_.contains(each.value) : has(each.field.type, each.value))
      ++found[{class_number, i, true}].count;
  }
}

std::map<ValueSearch::Field, ValueSearch::Hits> ValueSearch::run(const std::string& class_filter) {
  find_matches();
  places_.assign(graph_.classes().size(), std::nullopt);
  std::vector<char> is_wanted;
  std::map<Field, Hits> found;
  for (std::uint32_t i = 0; i < graph_.classes().size(); ++i) {
    is_wanted.push_back(is_chosen(class_filter, graph_.classes()[i].name) ? 1 : 0);
    if (is_wanted[i] != 0) look_into_statics(i, found);
  }
  for (std::uint32_t i = 0; i < graph_.size(); ++i)
    if (!graph_.is_class(i) && is_wanted[graph_.class_of(i)] != 0 && graph_.strength(i) != Strength::kGarbage)
      look_into(i, found);
  return found;
}

std::string ValueSearch::name(const Field& field) const {
  const std::string& declared = graph_.classes()[field.declared].name;
  if (field.number == kElements) return "elements of " + declared;
  const HprofClass* const record = graph_.class_record(field.declared);
  const std::uint64_t name =
      field.is_static ? record->statics[field.number].field.name : record->fields[field.number].name;
  return (field.is_static ? "static " : "") + declared + "." + std::string(graph_.file().text(name));
}

}  // namespace jtrace::coreinspect
