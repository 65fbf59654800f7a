// Text for output that people read: as Java's source would write it, and as a word of a command. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// In quotation marks: "a\tb \"c\"". Control characters are escapes (\n, \t, \r, \u0000), so that nothing in the text
// can be taken for its end, and no ? stands for them. `text`: UTF-8.
std::string quoted_text(std::string_view text);
// The same without the quotation marks, and " is not escaped.
std::string escaped_text(std::string_view text);
// One word of a command that is shown to be typed: in '...' if a shell would not take it as it is (blanks, $ * ? ; and
// so on, and nothing).
std::string shell_word(std::string_view text);

}  // namespace jtrace
