// Checks words of the user, and says what is wrong with them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strings.h"

namespace jtrace::session {

// They must be UTF-8, as the document is: kUsage, with the first wrong byte and its position; `what` names the text,
// which is not repeated.
inline Result<> check_utf8(std::string_view what, std::string_view text) {
  const auto at = first_not_utf8(text);
  if (!at) return {};
  std::string why = std::string(what) + " is not UTF-8: byte ";
  append_hex(why, static_cast<unsigned char>(text[*at]));
  return fail(ErrorCategory::kUsage, why + " at offset " + std::to_string(*at));
}

// kUsage: the option takes something else.
inline tl::unexpected<Error> wrong_value(std::string_view name, std::string_view value, const std::string& expected) {
  return fail(ErrorCategory::kUsage,
              "option " + std::string(name) + ": '" + std::string(value) + "' is not " + expected);
}

}  // namespace jtrace::session
