#include "fleet/nats/publish_reply.h"

#include "base/json_reader.h"
#include "base/strings.h"

namespace jtrace::fleet {
namespace {

// Codes of JetStream's errors (server/errors.json).
constexpr int kStreamFull = 10077, kAccountFull = 10002, kNoSpace = 10023;

std::string helpful(int code, const std::string& words) {
  switch (code) {
    case kStreamFull:
      return "the stream is full (" + words + "), and keeps its messages for its max-age: raise its limits";
    case kAccountFull: return "the account's storage is full (" + words + ")";
    case kNoSpace: return "the server has no space (" + words + ")";
    default: return "the server does not store it: " + words;
  }
}

}  // namespace

PublishReply read_publish_reply(std::string_view text) {
  const auto json = JsonValue::parse(text);
  if (!json) return {.problem = "the server answers with something that is not an acknowledgement of JetStream"};
  if (json->has("error")) {
    const JsonValue& error = (*json)["error"];
    return {.problem = helpful(static_cast<int>(error["err_code"].number()), printable(error["description"].text()))};
  }
  if (!json->has("stream") || !json->has("seq"))
    return {.problem = "the server answers with something that is not an acknowledgement of JetStream"};
  return {.is_stored = true, .is_duplicate = (*json)["duplicate"].truth(), .problem = {}};
}

}  // namespace jtrace::fleet
