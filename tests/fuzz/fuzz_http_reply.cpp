// Any bytes as the answer to a push: the reply, read as its bytes come, what it means, and the texts of a user.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "perfdata/http_client.h"
#include "perfdata/push_outcome.h"

using namespace jtrace;
using namespace jtrace::perfdata;

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

bool equal(const HttpReply& a, const HttpReply& b) {
  return a.status == b.status && a.body == b.body && a.retry_after == b.retry_after;
}

// No line of a header goes beyond its end.
void require_sound(const Result<HttpHeaders>& headers) {
  if (!headers) return;
  for (const auto& [name, value] : *headers)
    require(!name.empty() && (name + value).find_first_of("\r\n") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const auto ended = read_http_reply(text, true);
  require(!ended || ended->has_value());
  if (ended) require((*ended)->status >= 200 && (*ended)->status < 600);
  constexpr std::uint64_t kNow = 1'795'807'800'000'000'000;
  const PushOutcome outcome =
      outcome_of(ended ? Result<HttpReply>(**ended) : Result<HttpReply>(fail(ended.error())), kNow);
  require(outcome.rejected >= 0 && outcome.reason.find('\n') == std::string::npos);
  require(!outcome.after || outcome.after->count() >= 0);
  // What follows a whole reply does not change it.
  const std::size_t part = text.size() * bytes[0] / 256;
  if (const auto early = read_http_reply(text.substr(0, part), false); early && *early) {
    const auto late = read_http_reply(text, false);
    require(late && *late && equal(**early, **late));
  }
  if (const auto url = parse_http_url("http://" + std::string(text)))
    require(!url->host.empty() && url->path.starts_with('/') && url->path.find_first_of("\r\n ") == std::string::npos);
  require_sound(parse_header_lines(text, "file"));
  require_sound(parse_header_list(text, "variable"));
  return 0;
}
