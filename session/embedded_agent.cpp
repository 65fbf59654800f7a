#include "session/embedded_agent.h"

// session/embedded_agent.S
extern "C" const std::byte jtrace_embedded_agent_begin[];
extern "C" const std::byte jtrace_embedded_agent_end[];

namespace jtrace::session {

std::span<const std::byte> embedded_agent() { return {jtrace_embedded_agent_begin, jtrace_embedded_agent_end}; }

}  // namespace jtrace::session
