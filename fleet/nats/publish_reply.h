// What JetStream answers to a message that was published: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jtrace::fleet {

struct PublishReply {
  bool is_stored = false;
  bool is_duplicate = false;  // it was there already
  std::string problem;        // why it is not stored, with what helps
};
// `text`: the JSON of the answer.
PublishReply read_publish_reply(std::string_view text);

}  // namespace jtrace::fleet
