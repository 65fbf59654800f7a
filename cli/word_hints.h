// Advice for words that are no commands of jtrace but mean something: views, requests to a trace, other tools' names.
// Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::cli {

// "it is a view: jtrace inspect PID locks"; "" for other words.
std::string hint_of_word(std::string_view word);

}  // namespace jtrace::cli
