// -agentpath without a waiting jtrace: the agent starts one as its child, which becomes a daemon and drains.
#pragma once

#include <string_view>

#include "agent/handshake.h"
#include "base/unique_fd.h"

namespace jtrace::agent {

// The value of `key` in an option string (key=value pairs separated by commas; a backslash takes the next character as
// it is), unescaped into `value`; false if it is not there. A key without '=' gives an empty value. The full grammar
// is jtrace's (session/): the agent needs two words of it.
bool option_value(std::string_view options, std::string_view key, char* value, std::size_t size);

// Starts `jtrace agent-child`, from the option jtrace=PATH, else ../bin or ../../bin beside this library, else PATH.
// Returns the socket to it and its process id in `child`, or none with the reason in `error`.
UniqueFd start_child(std::string_view options, int& child, Reason& error);

// Waits for the child, which exits after forking the process that stays: the JVM is left without a child of ours.
void reap_child(int child);

}  // namespace jtrace::agent
