// Any bytes as a listener's answer: the reply parser, with the bytes split at any position, and everything that reads
// replies, files and texts written by a target.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "attach/agent_file.h"
#include "attach/properties.h"
#include "attach/protocol.h"
#include "attach/unix_table.h"
#include "target/buffer_memory.h"

using namespace jtrace;

namespace {

struct Parsed {
  std::optional<int> code;
  bool malformed = false;
  std::string data;
};

Parsed parse_in_pieces(std::string_view reply, std::size_t piece) {
  attach::ReplyParser parser;
  Parsed parsed;
  for (std::size_t at = 0; at < reply.size(); at += piece) parsed.data += parser.feed(reply.substr(at, piece));
  parser.finish();
  parsed.code = parser.code();
  parsed.malformed = parser.malformed();
  return parsed;
}

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t piece = bytes[0] % 37 + 1;
  const std::string_view reply(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const Parsed whole = parse_in_pieces(reply, reply.size());
  const Parsed pieces = parse_in_pieces(reply, piece);
  require(whole.code == pieces.code && whole.malformed == pieces.malformed && whole.data == pieces.data);

  const attach::LoadVerdict verdict = attach::judge_load(whole.code.value_or(0), whole.data);
  require(verdict.ok() || !attach::load_error(verdict, "agent.jar").message().empty());
  const auto support = attach::support_of_reply(whole.code.value_or(0), whole.data);
  require(support.version == 1 || support.version == 2);
  (void)attach::reported_failure({.operation = "printflag"}, reply);
  (void)attach::parse_properties(reply);
  (void)attach::with_masked_secrets(reply);
  (void)attach::listener_state(attach::parse_unix_table(reply), ".java_pid1");
  (void)attach::read_elf_facts(target::BufferMemory(0, std::as_bytes(std::span(reply))));

  // An encoded request must have the form that its protocol version defines.
  const attach::Request request{.operation = std::string(reply.substr(0, piece % 18)),
                                .arguments = {std::string(reply)}};
  for (const attach::ProtocolSupport& jvm : {attach::ProtocolSupport{}, attach::ProtocolSupport{2, true}}) {
    const auto encoded = attach::encode_request(request, jvm);
    if (encoded) require(encoded->back() == '\0' && ((*encoded)[0] == '1' || (*encoded)[0] == '2'));
  }
  return 0;
}
