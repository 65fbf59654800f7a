// The built library of the agent, inside this program: jtrace delivers it into targets. Lives as long as the program.
#pragma once

#include <cstddef>
#include <span>

namespace jtrace::session {

std::span<const std::byte> embedded_agent();

}  // namespace jtrace::session
