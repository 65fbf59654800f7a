// The bytes of HotSpot's Dynamic Attach: requests, replies and their meaning. Pure functions, no system calls.
//
// Source of the constants: src/hotspot/share/services/attachListener.hpp and os/posix/attachListener_posix.cpp
// (os/linux in JDK 8), JDK 8 to 27. All have version 1; version 2 came with JDK 24 (JDK-8339289), its options with JDK
// 25. Threads: functions are pure; a ReplyParser belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::attach {

constexpr std::size_t kOperationLimit = 16;          // AttachOperation::name_length_max, bytes
constexpr std::size_t kArgumentLimitV1 = 1024;       // AttachOperation::arg_length_max, bytes
constexpr std::size_t kArgumentCountV1 = 3;          // AttachOperation::arg_count_max
constexpr std::size_t kRequestLimitV2 = 256 * 1024;  // MAX_REQUEST_LEN: bytes after the size field
constexpr int kBadVersionCode = 101;                 // ATTACH_ERROR_BADVERSION

// The protocol that a JVM understands, from its answer to `getversion`.
struct ProtocolSupport {
  int version = 1;
  bool streaming_option = false;  // accepts streaming=0: the reply is made in the JVM's memory, then sent
};

struct Request {
  std::string operation;
  std::vector<std::string> arguments = {};
  std::optional<bool> streaming = std::nullopt;  // left out of the request if the JVM does not accept the option
};

// True if the operation may write its reply from inside a safepoint (JDK 25 and later stream by default): such a
// request asks for streaming=0, so that no reader can prolong the JVM's pause.
bool wants_buffered_reply(const Request& request);

// True if version 1 can carry the whole request.
bool fits_version_1(const Request& request);

// Errors: kUsage, with the argument, its length and the limit. NUL and newline are refused: NUL ends an argument, and a
// newline makes two commands of one jcmd string.
Result<> check_words(const Request& request);
Result<std::string> encode_request(const Request& request, const ProtocolSupport& support);

// "getversion options" and its reply: "0\n2 streaming" (JDK 25 and 27); -1 before JDK 24.
Request version_request();
ProtocolSupport support_of_reply(int code, std::string_view data);

// Splits a reply, "<int>\n" and then data to the end, passed in pieces of any size.
class ReplyParser {
 public:
  // Takes the next bytes; returns those of them that are data (a part of `bytes`, or none).
  std::string_view feed(std::string_view bytes);
  std::optional<int> code() const { return code_; }  // once its line is complete
  bool malformed() const { return malformed_; }      // the first line is not a number: not an attach listener
  // Call it at the end of the stream: a first line without its newline is valid too.
  void finish();

 private:
  void take_code_line();

  std::string line_;
  std::optional<int> code_;
  bool malformed_ = false;
};

// The meaning of a reply to `load`. JDK 8, 9 to 20, and 21 and later (JDK-8304438) have different forms, which are
// recognised by their text.
struct LoadVerdict {
  bool called = false;      // Agent_OnAttach was called
  int agent_code = 0;       // its return value; valid if it was called
  std::string reason = {};  // why it was not loaded, in the JVM's words; one line
  bool ok() const { return called && agent_code == 0; }
};
LoadVerdict judge_load(int code, std::string_view data);
// The same as an Error (kAgent) for library `name`; `verdict` must not be ok().
Error load_error(const LoadVerdict& verdict, std::string_view name);
// The meaning of a code of java.instrument's Agent_OnAttach (InvocationAdapter.c); "" for others.
std::string_view instrument_meaning(int agent_code);

// The operation, or the diagnostic command of a jcmd request.
std::string_view command_of(const Request& request);

// If a reply with code 0 reports a failure (a heap dump that could not be written, a flag that does not exist), the
// first line that does so. `data` may be only the beginning of the reply.
std::optional<std::string> reported_failure(const Request& request, std::string_view data);

}  // namespace jtrace::attach
