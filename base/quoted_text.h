// Text as Java's source would write it, for output that people read. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// In quotation marks: "a\tb \"c\"". Control characters are escapes (\n, \t, \r, \u0000), so that nothing in the text
// can be taken for its end, and no ? stands for them. `text`: UTF-8.
std::string quoted_text(std::string_view text);
// The same without the quotation marks, and " is not escaped.
std::string escaped_text(std::string_view text);

}  // namespace jtrace
