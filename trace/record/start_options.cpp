#include "trace/record/start_options.h"

#include <array>
#include <utility>

#include "base/time_text.h"

namespace jtrace::trace::record {
std::string size_option_text(std::uint64_t bytes) {
  constexpr std::array<std::pair<int, char>, 3> kUnits = {{{30, 'G'}, {20, 'M'}, {10, 'K'}}};
  for (const auto& [bits, letter] : kUnits)
    if (bytes != 0 && bytes % (std::uint64_t{1} << bits) == 0) return std::to_string(bytes >> bits) + letter;
  return std::to_string(bytes);
}

namespace {

std::string value_text(StartForm form, std::uint64_t value) {
  constexpr std::uint64_t kMillisecond = 1'000'000;  // ns
  switch (form) {
    case StartForm::kTime: return duration_text(value);
    case StartForm::kSize: return size_option_text(value);
    case StartForm::kMilliseconds: return duration_text(value * kMillisecond);
    case StartForm::kCount: break;
  }
  return std::to_string(value);
}

}  // namespace

std::string option_help(std::string_view help, StartForm form, std::uint64_t normal) {
  constexpr std::string_view kPlace = "{default}";
  std::string text(help);
  if (const std::size_t at = text.find(kPlace); at != text.npos)
    text.replace(at, kPlace.size(), value_text(form, normal));
  return text;
}

}  // namespace jtrace::trace::record
