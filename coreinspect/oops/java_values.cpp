// Values that toString() of the JDK's classes shows, for JavaContents.
#include <algorithm>
#include <cstdio>
#include <limits>
#include <span>

#include "base/utf8.h"
#include "coreinspect/oops/java_contents.h"
#include "coreinspect/runtime/java_number.h"

namespace jtrace::coreinspect {
namespace {

std::string padded(std::int64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*lld", digits, static_cast<long long>(value));
  return text;
}

// LocalTime.toString: seconds only where there are any, fractions in groups of three digits.
std::string time_text(int hour, int minute, int second, int nano) {
  std::string text = padded(hour, 2) + ":" + padded(minute, 2);
  if (second == 0 && nano == 0) return text;
  text += ":" + padded(second, 2);
  if (nano == 0) return text;
  if (nano % 1'000'000 == 0) return text + "." + padded(nano / 1'000'000, 3);
  return text + "." + (nano % 1000 == 0 ? padded(nano / 1000, 6) : padded(nano, 9));
}

std::string date_text(int year, int month, int day) {
  const std::string text = year < 0 ? "-" + padded(-std::int64_t{year}, 4) : (year > 9999 ? "+" : "") + padded(year, 4);
  return text + "-" + padded(month, 2) + "-" + padded(day, 2);
}

// BigDecimal.toString: plain if the scale is not negative and the number not too small, else with an exponent.
std::string decimal_text(std::int64_t unscaled, std::int32_t scale) {
  if (scale == 0) return std::to_string(unscaled);
  const std::string sign = unscaled < 0 ? "-" : "";
  std::string digits = std::to_string(unscaled).substr(sign.size());
  const std::int64_t adjusted = -std::int64_t{scale} + static_cast<std::int64_t>(digits.size()) - 1;
  if (scale > 0 && adjusted >= -6) {
    const auto places = static_cast<std::size_t>(scale);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    return sign + digits.insert(digits.size() - places, ".");
  }
  if (digits.size() > 1) digits.insert(1, ".");
  return sign + digits + (adjusted == 0 ? "" : std::string(adjusted > 0 ? "E+" : "E") + std::to_string(adjusted));
}

}  // namespace

// None where its memory is missing: 0 would be a value.
std::optional<std::string> JavaContents::number_of(Address object, std::string_view holder) {
  if (holder != "java.math.BigDecimal" ? !reader_.bits(object, "value")
                                       : !reader_.bits(object, "intCompact") || !reader_.bits(object, "scale"))
    return std::nullopt;
  if (holder == "java.lang.Integer" || holder == "java.util.concurrent.atomic.AtomicInteger")
    return std::to_string(number<std::int32_t>(object, "value"));
  if (holder == "java.lang.Long" || holder == "java.util.concurrent.atomic.AtomicLong")
    return std::to_string(number<std::int64_t>(object, "value"));
  if (holder == "java.lang.Short") return std::to_string(number<std::int16_t>(object, "value"));
  if (holder == "java.lang.Byte") return std::to_string(number<std::int8_t>(object, "value"));
  if (holder == "java.lang.Boolean") return number<std::uint8_t>(object, "value") != 0 ? "true" : "false";
  if (holder == "java.util.concurrent.atomic.AtomicBoolean")
    return number<std::int32_t>(object, "value") != 0 ? "true" : "false";
  if (holder == "java.lang.Double") return java_number(number<double>(object, "value"));
  if (holder == "java.lang.Float") return java_number(number<float>(object, "value"));
  if (holder == "java.math.BigDecimal") {
    // Numbers of more than 18 digits are in a BigInteger.
    const auto unscaled = number<std::int64_t>(object, "intCompact");
    if (unscaled == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    return decimal_text(unscaled, number<std::int32_t>(object, "scale"));
  }
  if (holder != "java.lang.Character") return std::nullopt;
  const auto unit = number<std::uint16_t>(object, "value");
  return utf8_from_utf16(std::span(&unit, 1));
}

// char[] up to 8; then byte[] with a coder, 0 for Latin-1.
std::optional<std::string> JavaContents::builder(Address object) {
  return reader_.characters(reference(object, "value"), count(object, "count"),
                            number<std::uint8_t>(object, "coder") != 0);
}

std::optional<std::string> JavaContents::time(Address object, std::string_view holder) {
  const auto date = [&](Address at) {
    return date_text(number<std::int32_t>(at, "year"), number<std::int16_t>(at, "month"),
                     number<std::int16_t>(at, "day"));
  };
  const auto clock = [&](Address at) {
    return time_text(number<std::int8_t>(at, "hour"), number<std::int8_t>(at, "minute"),
                     number<std::int8_t>(at, "second"), number<std::int32_t>(at, "nano"));
  };
  if (holder == "java.time.LocalDate") return date(object);
  if (holder == "java.time.LocalTime") return clock(object);
  if (holder == "java.time.LocalDateTime")
    return date(reference(object, "date")) + "T" + clock(reference(object, "time"));
  if (holder == "java.util.UUID") {
    const auto high = number<std::uint64_t>(object, "mostSigBits"), low = number<std::uint64_t>(object, "leastSigBits");
    char text[40];
    std::snprintf(text, sizeof text, "%08llx-%04llx-%04llx-%04llx-%012llx", static_cast<unsigned long long>(high >> 32),
                  static_cast<unsigned long long>(high >> 16 & 0xffff), static_cast<unsigned long long>(high & 0xffff),
                  static_cast<unsigned long long>(low >> 48), static_cast<unsigned long long>(low & 0xffffffffffffull));
    return std::string(text);
  }
  return std::nullopt;
}

std::optional<std::string> JavaContents::value(Address object, std::string_view holder) {
  if (holder == "java.lang.StringBuilder" || holder == "java.lang.StringBuffer") return builder(object);
  if (auto number = number_of(object, holder)) return number;
  return time(object, holder);
}

}  // namespace jtrace::coreinspect
