// The agent's figures about its callouts, which are the value of kRewrittenKey: "classes=2,methods=12,..."
// (RewriteResults::figures). Pure, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/strings.h"

namespace jtrace::trace {

// How many methods of loaded classes have callouts; nothing if the figures do not say.
inline std::optional<std::uint64_t> methods_with_callouts(std::string_view figures) {
  constexpr std::string_view kMethods = "methods=";
  for (const std::string_view figure : split(figures, ','))
    if (figure.starts_with(kMethods)) return parse_decimal<std::uint64_t>(figure.substr(kMethods.size()));
  return std::nullopt;
}

// The message if there are none.
inline constexpr std::string_view kNoCallouts =
    "no method of a class that was loaded has callouts: the filters select none that could have them";

}  // namespace jtrace::trace
