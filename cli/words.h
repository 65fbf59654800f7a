// One line as words, as a shell would take it apart: blanks separate, '...' and "..." hold together, a backslash takes
// the next character as it is (not inside '...'), # at the start of a word begins a comment. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::cli {

// Errors: kUsage, a quote that is not closed.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace jtrace::cli
