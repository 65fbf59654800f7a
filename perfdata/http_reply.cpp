#include "perfdata/http_reply.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"

namespace jtrace::perfdata {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";

tl::unexpected<Error> no_reply(std::string text) { return fail(ErrorCategory::kMalformed, std::move(text)); }

std::string lower(std::string_view text) {
  std::string low(text);
  for (char& c : low)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return low;
}

struct Head {
  HttpReply reply;
  std::optional<std::uint64_t> length;
  bool chunked = false;
};

// "HTTP/1.1 200 OK"
std::optional<int> status_of(std::string_view line) {
  if (!line.starts_with("HTTP/1.") || line.size() < 12 || line[8] != ' ') return std::nullopt;
  const auto status = parse_decimal<int>(line.substr(9, 3));
  if (!status || *status < 100 || *status > 599 || (line.size() > 12 && line[12] != ' ')) return std::nullopt;
  return status;
}

Result<Head> read_head(std::string_view text) {
  Head head;
  bool first = true;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (first) {
      const auto status = status_of(line);
      if (!status) return no_reply("what answers does not speak HTTP: " + printable(std::string(line.substr(0, 40))));
      head.reply.status = *status;
      first = false;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "retry-after") head.reply.retry_after = value;
    if (name == "transfer-encoding") head.chunked = lower(value) == "chunked";
    if (name != "content-length") continue;
    head.length = parse_decimal<std::uint64_t>(value);
    if (!head.length) return no_reply("the server's answer has an impossible length");
  }
  return head;
}

struct Chunk {
  std::size_t size = 0, begin = 0;  // of its bytes
};
// Nothing while the line with its size is not whole.
Result<std::optional<Chunk>> next_chunk(std::string_view rest) {
  const std::size_t end = rest.find("\r\n");
  if (end == rest.npos) return std::nullopt;
  const std::string_view digits = trimmed(rest.substr(0, std::min(end, rest.find(';'))));
  Chunk chunk{.begin = end + 2};
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), chunk.size, 16);
  if (error != std::errc() || stop != digits.data() + digits.size() || chunk.size > HttpReply::kMostBytes)
    return no_reply("the server's answer has a part of an impossible size");
  return chunk;
}

// True when the last one is there.
Result<bool> join_chunks(std::string_view rest, std::string& body) {
  for (;;) {
    JTRACE_ASSIGN_OR_RETURN(const auto chunk, next_chunk(rest));
    if (!chunk) return false;
    rest.remove_prefix(chunk->begin);
    if (chunk->size == 0) return true;
    if (rest.size() < chunk->size + 2) return false;
    body.append(rest.substr(0, chunk->size));
    rest.remove_prefix(chunk->size + 2);
  }
}

}  // namespace

Result<std::optional<HttpReply>> read_http_reply(std::string_view received, bool ended) {
  const auto not_yet = [&]() -> Result<std::optional<HttpReply>> {
    if (received.size() > HttpReply::kMostBytes) return no_reply("the server's answer is too large");
    if (!ended) return std::nullopt;
    return fail(ErrorCategory::kRefused, received.empty() ? "the server closed the connection without an answer"
                                                          : "the server closed the connection within its answer");
  };
  Head head;
  std::string_view rest = received;
  while (head.reply.status < 200) {
    constexpr std::string_view kStart = "HTTP/1.";
    if (!kStart.starts_with(rest.substr(0, kStart.size())))
      return no_reply("what answers does not speak HTTP: " + printable(std::string(rest.substr(0, 40))));
    const std::size_t end = rest.find(kHeadEnd);
    if (end == rest.npos) return not_yet();
    JTRACE_ASSIGN_OR_RETURN(head, read_head(rest.substr(0, end)));
    rest.remove_prefix(end + kHeadEnd.size());
  }
  if (head.reply.status == 204) return std::optional(std::move(head.reply));
  if (head.chunked) {
    JTRACE_ASSIGN_OR_RETURN(const bool whole, join_chunks(rest, head.reply.body));
    if (!whole) return not_yet();
  } else if (head.length) {
    if (*head.length > HttpReply::kMostBytes) return no_reply("the server's answer is too large");
    if (rest.size() < *head.length) return not_yet();
    head.reply.body = rest.substr(0, *head.length);
  } else {
    if (!ended || rest.size() > HttpReply::kMostBytes) return not_yet();
    head.reply.body = rest;
  }
  return std::optional(std::move(head.reply));
}

}  // namespace jtrace::perfdata
