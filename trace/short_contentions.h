// The value of option jtrace.shortContentions: contentions that were shorter than --min-contention, of one class of
// monitors, since the last such options (docs/trace_format.md). Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jtrace::trace {

struct ShortContentions {
  std::uint64_t count = 0;
  std::uint64_t total = 0;   // ns
  std::string class_name{};  // internal form; "": of several classes, or not known
  friend bool operator==(const ShortContentions&, const ShortContentions&) = default;
};

// "count=12,total=0.000123456,class=shop/Stock", without an empty class.
std::string short_contentions_text(const ShortContentions& sum);
// Nothing if the text is not such a value; unknown keys are skipped.
std::optional<ShortContentions> read_short_contentions(std::string_view text);

}  // namespace jtrace::trace
