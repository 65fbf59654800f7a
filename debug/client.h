// What belongs to one connection. A value.
#pragma once

#include <cstdint>
#include <functional>

namespace jtrace::debug {

struct Client {
  std::uint32_t next_event_request = 1;
  bool ended = false;          // by Dispose or Exit: after the reply the connection is closed
  std::function<bool()> gone;  // asked during long work; may be empty
  bool is_gone() const { return gone && gone(); }
};

}  // namespace jtrace::debug
