// HttpReply: the answer of a server to one request (RFC 9112), read from bytes as they come: with a length, in chunks,
// or until the end of the connection. Interim answers (1xx) are skipped. Bounded: kMostBytes of head and body. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::perfdata {

struct HttpReply {
  static constexpr std::size_t kMostBytes = 1u << 20;

  int status = 0;
  std::string retry_after;  // as it was sent; "" if it was not
  std::string body;
};

// The reply in what was received so far; nothing while it is not whole. `ended`: no more will come. Errors: kMalformed
// (it is none, or it is too large), kRefused (it ended too early).
Result<std::optional<HttpReply>> read_http_reply(std::string_view received, bool ended);

}  // namespace jtrace::perfdata
