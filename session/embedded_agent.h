// The agent's library as it was built, inside this program: what jtrace delivers into a target. Lives as long as the
// program.
#pragma once

#include <cstddef>
#include <span>

namespace jtrace::session {

std::span<const std::byte> embedded_agent();

}  // namespace jtrace::session
