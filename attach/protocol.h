// The bytes of HotSpot's Dynamic Attach: requests, replies and what the replies mean. Pure functions, no system calls.
//
// Source of the constants: src/hotspot/share/services/attachListener.hpp and os/posix/attachListener_posix.cpp
// (os/linux in JDK 8), JDK 8 to 27. Version 1 is in all; version 2 came with 24 (JDK-8339289), its options with 25.
// Threads: functions are pure; a ReplyParser belongs to one thread.
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

// What a JVM understands, as its answer to `getversion` tells.
struct ProtocolSupport {
  int version = 1;
  bool streaming_option = false;  // takes streaming=0: the reply is made in the JVM's memory, then sent
};

struct Request {
  std::string operation;
  std::vector<std::string> arguments = {};
  std::optional<bool> streaming = std::nullopt;  // left out of the request where the JVM does not take the option
};

// Whether the operation may write its reply from inside a safepoint (JDK 25 and later stream by default): such a
// request asks for streaming=0, so that no reader can stretch the JVM's pause.
bool wants_buffered_reply(const Request& request);

// True where version 1 carries the request whole.
bool fits_version_1(const Request& request);

// Errors: kUsage; says which argument, its length and the limit. NUL and newline are refused: the first ends an
// argument, the second makes one jcmd string two commands.
Result<> check_words(const Request& request);
Result<std::string> encode_request(const Request& request, const ProtocolSupport& support);

// "getversion options" and its reply: "0\n2 streaming" (25, 27); -1 before 24.
Request version_request();
ProtocolSupport support_of_reply(int code, std::string_view data);

// Splits a reply, "<int>\n" and then data to the end, fed in pieces of any size.
class ReplyParser {
 public:
  // Takes the next bytes; returns those that are data (a part of `bytes`, or none).
  std::string_view feed(std::string_view bytes);
  std::optional<int> code() const { return code_; }  // once its line is complete
  bool malformed() const { return malformed_; }      // the first line is not a number: not an attach listener
  // At the end of the stream: a first line without its newline counts too.
  void finish();

 private:
  void take_code_line();

  std::string line_;
  std::optional<int> code_;
  bool malformed_ = false;
};

// What a reply to `load` says; the three forms of JDK 8, 9 to 20, and 21 and later (JDK-8304438) are told by
// themselves.
struct LoadVerdict {
  bool called = false;      // Agent_OnAttach was called
  int agent_code = 0;       // what it returned; meaningful where called
  std::string reason = {};  // why not loaded, in the JVM's words; one line
  bool ok() const { return called && agent_code == 0; }
};
LoadVerdict judge_load(int code, std::string_view data);
// The same as an Error (kAgent), for library `name`; ok() verdicts must not be passed.
Error load_error(const LoadVerdict& verdict, std::string_view name);
// What a code of java.instrument's Agent_OnAttach means (InvocationAdapter.c); "" for others.
std::string_view instrument_meaning(int agent_code);

// The operation, or the diagnostic command that a jcmd request names.
std::string_view command_of(const Request& request);

// Where a reply with code 0 is the JVM's way of saying no (a heap dump that could not be written, a flag that does not
// exist): its first line that says so. `data` may be the reply's beginning alone.
std::optional<std::string> reported_failure(const Request& request, std::string_view data);

}  // namespace jtrace::attach
