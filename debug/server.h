// Server: serves one debugger after the other, and reports what happens.
//
// One client at a time: while one is served nothing listens. Borrows the source. Threads: one. Errors: those of the
// sockets; with `once` or `connect` also those of the source.
#pragma once

#include <functional>
#include <optional>

#include "debug/endpoint.h"
#include "debug/source.h"

namespace jtrace::debug {

struct ServerOptions {
  Endpoint listen;
  std::optional<Endpoint> connect;  // instead of listening
  bool once = false;                // ends when the first client leaves
  int stop_fd = -1;                 // readable: ends
  Say say;                          // a line of what happens
  std::function<void(const Endpoint&)> listening;
};
Result<> serve_debuggers(Source& source, const ServerOptions& options);

}  // namespace jtrace::debug
