// What is known of the operations of Dynamic Attach and of the diagnostic commands of jcmd, JDK 8 to 27, by their
// names. Pure, any thread.
#pragma once

#include <string>
#include <vector>

#include "attach/protocol.h"

namespace jtrace::attach {

// True where it changes nothing in the JVM; false for what is not known.
bool reads_only(const Request& request);
// True for what walks the heap, writes a file or runs an agent's code before it answers.
bool may_take_long(const Request& request);
// True where the reply is a table of properties (attach/properties.h), which may hold secrets.
bool answers_properties(const Request& request);

// OPERATION ARG..., at least one word. What follows "jcmd" becomes the one string that it takes, with words that hold
// blanks in quotes as DCmdParser (diagnosticFramework.cpp) reads them; nothing after it is "help".
Request request_of_words(const std::vector<std::string>& words);

}  // namespace jtrace::attach
