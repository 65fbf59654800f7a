// The agent's figures about its probes, which are the value of kRewrittenKey: "classes=2,methods=12,..."
// (RewriteResults::figures). Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/strings.h"

namespace jtrace::trace {

// How many methods of loaded classes have probes; nothing if the figures do not say.
inline std::optional<std::uint64_t> probed_methods(std::string_view figures) {
  constexpr std::string_view kMethods = "methods=";
  for (const std::string_view figure : split(figures, ','))
    if (figure.starts_with(kMethods)) return parse_decimal<std::uint64_t>(figure.substr(kMethods.size()));
  return std::nullopt;
}

// What is said where that is 0.
inline constexpr std::string_view kNoneProbed =
    "no method of a class that was loaded has probes: the filters select none that could have them";

}  // namespace jtrace::trace
