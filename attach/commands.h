// Properties of the operations of Dynamic Attach and of the diagnostic commands of jcmd, JDK 8 to 27, by their names.
// Pure, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attach/protocol.h"

namespace jtrace::attach {

// True if it changes nothing in the JVM; false if it is not known.
bool reads_only(const Request& request);
// For a request that the JVM does not know: the name that may have been meant; "" if none is near, or if it is one.
std::string_view nearest_command(const Request& request);
// True if it walks the heap, writes a file or runs an agent's code before it answers.
bool may_take_long(const Request& request);
// True if the reply is a table of properties (attach/properties.h), which may have secrets.
bool answers_properties(const Request& request);
// True if the reply has lines with the words of the command line in them, or values of flags.
bool answers_command_line(const Request& request);

// OPERATION ARG..., at least one word. The words after "jcmd" are joined to its one argument; words with blanks are
// quoted, as DCmdParser (diagnosticFramework.cpp) reads them; without words it is "help".
Request request_of_words(const std::vector<std::string>& words);

}  // namespace jtrace::attach
