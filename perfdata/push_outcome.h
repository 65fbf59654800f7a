// What the answer to a request of OTLP/HTTP means for what was sent (opentelemetry-proto, "OTLP/HTTP Response"). Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "perfdata/http_reply.h"

namespace jtrace::perfdata {

struct PushOutcome {
  enum class Kind : std::uint8_t { kTaken, kTryAgain, kLost };
  Kind kind = Kind::kTaken;
  std::string reason;                              // one line; "" if all is well
  std::int64_t rejected = 0;                       // points of what was taken, which the server did not keep
  std::optional<std::chrono::seconds> after = {};  // the server's wish for the next try
  ErrorCategory category = ErrorCategory::kRefused;
};
// `now`: ns since the epoch.
PushOutcome outcome_of(const Result<HttpReply>& reply, std::uint64_t now);

// Between tries: doubles from 1 s to 30 s, with a part that is random so that many senders do not come at once.
// `failures`: how many there were in a row, from 1; `random`: 0 to 1.
std::chrono::milliseconds wait_before_try(int failures, double random);

}  // namespace jtrace::perfdata
