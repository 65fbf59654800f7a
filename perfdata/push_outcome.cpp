#include "perfdata/push_outcome.h"

#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "base/json_reader.h"
#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

using Kind = PushOutcome::Kind;
constexpr std::uint64_t kLongestWish = 1'000'000'000;  // s: for ever, and no number that clocks cannot add
constexpr std::size_t kMostText = 200;                 // of the server's own words

std::string short_text(std::string_view text) {
  return text.empty() ? "" : ": " + printable(std::string(text.substr(0, kMostText)));
}

// Numbers of 64 bits are texts; some servers write numbers.
std::int64_t number_of(const JsonValue& value) {
  if (value.is(JsonValue::Kind::kText)) return parse_decimal<std::int64_t>(value.text()).value_or(0);
  return value.number() > 0 && value.number() < 1e15 ? static_cast<std::int64_t>(value.number()) : 0;
}

PushOutcome taken(const HttpReply& reply) {
  PushOutcome outcome;
  const auto json = JsonValue::parse(reply.body);
  if (!json) return outcome;  // what was sent is taken all the same
  const JsonValue& partial = (*json)["partialSuccess"];
  outcome.rejected = std::max<std::int64_t>(0, number_of(partial["rejectedDataPoints"]));
  const std::string& message = partial["errorMessage"].text();
  if (outcome.rejected > 0)
    outcome.reason = "the server did not keep " + counted(outcome.rejected, "point") + short_text(message);
  else if (!message.empty()) outcome.reason = "the server says" + short_text(message);
  return outcome;
}

// google.rpc.Status, or any text.
std::string server_text(const HttpReply& reply) {
  const auto json = JsonValue::parse(reply.body);
  if (!json) return short_text(trimmed(reply.body));
  return short_text((*json)["message"].text());
}

// Seconds, or a date ("Fri, 27 Nov 2026 19:31:00 GMT", RFC 9110). Nothing if it is neither.
std::optional<std::chrono::seconds> wish_of(const std::string& retry_after, std::uint64_t now) {
  if (!retry_after.empty() && retry_after.find_first_not_of("0123456789") == retry_after.npos)
    return std::chrono::seconds(
        std::min(kLongestWish, parse_decimal<std::uint64_t>(retry_after).value_or(kLongestWish)));
  tm parts{};
  const char* const end = ::strptime(retry_after.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::int64_t left = ::timegm(&parts) - static_cast<std::int64_t>(now / kNanosPerSecond);
  return std::chrono::seconds(std::clamp<std::int64_t>(left, 0, kLongestWish));
}

bool may_try_again(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

}  // namespace

PushOutcome outcome_of(const Result<HttpReply>& reply, std::uint64_t now) {
  if (!reply) {
    const Error& error = reply.error();
    return {.kind = error.category == ErrorCategory::kMalformed ? Kind::kLost : Kind::kTryAgain,
            .reason = error.message(),
            .category = error.category};
  }
  if (reply->status >= 200 && reply->status < 300) return taken(*reply);
  PushOutcome outcome{.kind = may_try_again(reply->status) ? Kind::kTryAgain : Kind::kLost,
                      .reason = "the server answers " + std::to_string(reply->status) + server_text(*reply)};
  if (reply->status == 401 || reply->status == 403) outcome.category = ErrorCategory::kPermission;
  if (reply->status == 404) outcome.reason += "; the path is /v1/metrics as a rule";
  outcome.after = wish_of(reply->retry_after, now);
  return outcome;
}

std::chrono::milliseconds wait_before_try(int failures, double random) {
  const double most = std::min(30'000.0, 1000.0 * static_cast<double>(1 << std::clamp(failures - 1, 0, 5)));
  return std::chrono::milliseconds(static_cast<std::int64_t>(most * (0.5 + random / 2)));
}

}  // namespace jtrace::perfdata
