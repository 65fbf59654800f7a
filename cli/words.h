// Splits one line into words as a shell does: blanks separate, '...' and "..." group, a backslash quotes the next
// character (not inside '...'), # at the start of a word begins a comment. Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::cli {

// Errors: kUsage, a quote that is not closed.
Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace jtrace::cli
