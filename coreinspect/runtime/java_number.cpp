// Double.toString (JLS of java.lang.Double; the shortest digits that give the number back, as from JDK 19 on).
#include "coreinspect/runtime/java_number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "base/utf8.h"

namespace jtrace::coreinspect {
namespace {

template <class T>
std::string number_text(T value) {
  if (std::isnan(value)) return "NaN";
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return sign + "Infinity";
  if (value == 0) return sign + "0.0";
  std::array<char, 64> room{};
  constexpr auto kForm = std::chars_format::scientific;
  auto end = std::to_chars(room.data(), room.data() + room.size(), std::fabs(value), kForm);
  // Java gives at least two digits, the nearest ones: 4.9E-324, where 5E-324 would do.
  if (room[1] == 'e') end = std::to_chars(room.data(), room.data() + room.size(), std::fabs(value), kForm, 1);
  const std::string text(room.data(), end.ptr);
  const std::size_t at = text.find('e');
  const int exponent = std::stoi(text.substr(at + 1));
  std::string digits = text.substr(0, 1) + (at > 2 ? text.substr(2, at - 2) : "");
  if (digits.size() == 2 && digits[1] == '0') digits.pop_back();
  if (exponent < -3 || exponent >= 7)
    return sign + digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0") + "E" +
           std::to_string(exponent);
  if (exponent < 0) return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

template <class T>
T number(std::uint64_t bits) {
  T value{};
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

std::string java_number(double value) { return number_text(value); }
std::string java_number(float value) { return number_text(value); }

std::string primitive_text(std::uint64_t bits, char type) {
  switch (type) {
    case 'Z': return (bits & 0xff) != 0 ? "true" : "false";
    case 'B': return std::to_string(number<std::int8_t>(bits));
    case 'S': return std::to_string(number<std::int16_t>(bits));
    case 'I': return std::to_string(number<std::int32_t>(bits));
    case 'J': return std::to_string(number<std::int64_t>(bits));
    case 'F': return java_number(number<float>(bits));
    case 'D': return java_number(number<double>(bits));
    default: break;
  }
  const auto unit = number<std::uint16_t>(bits);
  return utf8_from_utf16(std::span(&unit, 1));
}

}  // namespace jtrace::coreinspect
