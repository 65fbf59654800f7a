#include "session/document/call_values.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "trace/exception_value.h"

namespace jtrace::session {
namespace {

using trace::record::kMostText;
using trace::record::kResultPosition;
using trace::record::ValueKind;

// As Java prints it, except that a whole number has no fraction ("1", not "1.0").
template <class Number>
std::string decimal(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  }
  char text[64];
  const auto done = std::to_chars(text, text + sizeof text, value);
  return std::string(text, done.ptr);
}

std::string char_text(std::uint16_t unit) {
  char bytes[3];
  std::size_t size = 0;
  if (unit != 0 && unit < 0x80) {
    bytes[size++] = static_cast<char>(unit);
  } else if (unit < 0x800) {
    bytes[size++] = static_cast<char>(0xc0 | unit >> 6);
    bytes[size++] = static_cast<char>(0x80 | (unit & 0x3f));
  } else {
    bytes[size++] = static_cast<char>(0xe0 | unit >> 12);
    bytes[size++] = static_cast<char>(0x80 | (unit >> 6 & 0x3f));
    bytes[size++] = static_cast<char>(0x80 | (unit & 0x3f));
  }
  return utf8_from_modified(std::string_view(bytes, size));
}

struct Shown {
  trace::Text type;
  std::string value;
};

Shown primitive(char type, std::uint64_t bits) {
  const auto number = static_cast<std::int32_t>(bits);
  switch (type) {
    case 'Z': return {"BOOLEAN", number != 0 ? "true" : "false"};
    case 'C': return {"CHAR", char_text(static_cast<std::uint16_t>(bits))};
    case 'J': return {"LONG", decimal(static_cast<std::int64_t>(bits))};
    case 'F': return {"FLOAT", decimal(std::bit_cast<float>(number))};
    case 'D': return {"DOUBLE", decimal(std::bit_cast<double>(bits))};
    default: return {"INT", decimal(number)};
  }
}

}  // namespace

char type_at(std::string_view signature, std::uint16_t position) {
  const std::size_t end = signature.find(')');
  if (end == std::string_view::npos) return '\0';
  if (position == kResultPosition) return end + 1 < signature.size() ? signature[end + 1] : '\0';
  std::size_t at = 1;
  for (; at < end; --position) {
    if (position == 0) return signature[at];
    while (signature[at] == '[') ++at;
    if (signature[at] == 'L') at = signature.find(';', at);
    if (at >= end) break;
    ++at;
  }
  return '\0';
}

trace::List<trace::Value> ValueElements::make(const std::vector<CallValue>& values, std::uint32_t method,
                                              std::string_view signature, bool result) {
  texts_.clear();
  elements_.clear();
  texts_.reserve(2 * values.size());  // views into them stay valid
  for (const CallValue& each : values) {
    if (each.method != method || (each.position == kResultPosition) != result) continue;
    trace::Value& made = elements_.emplace_back();
    if (result) made.name = "return";
    made.type = "OPAQUE";
    switch (each.kind) {
      case ValueKind::kPrimitive: {
        Shown shown = primitive(type_at(signature, each.position), each.bits);
        made.type = shown.type;
        made.value = texts_.emplace_back(std::move(shown.value));
        made.objIdRef = trace::ObjectId::none();
        break;
      }
      case ValueKind::kText:
        made.type = "STRING";
        made.value = texts_.emplace_back(each.text);
        if (each.text_length > kMostText)
          made.serializationFormat = texts_.emplace_back("cut length=" + std::to_string(each.text_length));
        break;
      case ValueKind::kObject: made.objIdRef = trace::ObjectId(each.bits); break;
      case ValueKind::kNull: made.objIdRef = trace::ObjectId::none(); break;
      case ValueKind::kUnknown: break;
      default:
        if (const char type = trace::record::box_type(each.kind); type != '\0') {
          Shown shown = primitive(type, each.bits);
          made.type = shown.type;
          made.value = texts_.emplace_back(std::move(shown.value));
        }
    }
  }
  return elements_;
}

trace::List<trace::Value> ValueElements::make_exception(std::uint64_t object) {
  elements_.assign(1, trace::Value());
  elements_[0].name = trace::kExceptionValue;
  elements_[0].type = "OPAQUE";
  if (object != 0) elements_[0].objIdRef = trace::ObjectId(object);
  return elements_;
}

}  // namespace jtrace::session
