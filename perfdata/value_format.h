// ValueFormat: what the serializationFormat of a counter's `value` element says, and back. With it and the value an
// entry of the region can be made again, equal in name, type, units, variability, flags and value.
//
//   hsperf/2.0 unit=Ticks variability=Monotonic flags=0 length=0
//
// `unit` is the true unit of the number as written; `declared=` follows where HotSpot declares another, `enc=escaped`
// (\xNN for a byte, \\ for a backslash) or `enc=hex` where XML cannot carry the value as it is, `masked` where a secret
// was taken out. Units and variability that HotSpot does not define are numbers. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/counter_table.h"

namespace jtrace::perfdata {

enum class ValueEncoding : std::uint8_t { kPlain, kEscaped, kHex };

struct ValueFormat {
  std::uint8_t units = 0;  // as declared
  std::uint8_t variability = 0;
  std::uint8_t flags = 0;
  std::uint32_t length = 0;  // of the vector; 0: scalar
  ValueEncoding encoding = ValueEncoding::kPlain;
  bool masked = false;
};

// `quantity`: the true one, whose unit is written as `unit`.
void append_value_format(std::string& out, const ValueFormat& format, Quantity quantity);
// Nothing if the text is not such a format.
std::optional<ValueFormat> parse_value_format(std::string_view text);

// "J", "Ljava/lang/String;", or the JVM's signature character with "[" before that of a vector.
std::string value_type(const Counter& counter);

// The bytes of a text as XML can carry them; says how in `encoding`.
std::string encode_text(std::string_view bytes, ValueEncoding& encoding);
// Back; nothing if the text is not of that encoding.
std::optional<std::string> decode_text(std::string_view text, ValueEncoding encoding);

// What a value element says of the region itself (option hsperf.prologue), and back.
std::string prologue_text(const Prologue& prologue, std::size_t capacity);
struct SavedPrologue {
  Prologue prologue;  // entry_count: how many counters there were
  std::size_t capacity = 0;
};
std::optional<SavedPrologue> parse_prologue_text(std::string_view text);

}  // namespace jtrace::perfdata
