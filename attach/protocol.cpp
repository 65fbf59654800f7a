#include "attach/protocol.h"

#include <algorithm>
#include <array>

#include "base/strings.h"

namespace jtrace::attach {
namespace {

constexpr std::size_t kCodeLineLimit = 16;  // "-2147483648" and some slack

Error too_long(std::string_view what, std::size_t length, std::size_t limit, std::string_view who) {
  Error error{.category = ErrorCategory::kUsage};
  error.text = std::string(what) + " is " + std::to_string(length) + " bytes long; " + std::string(who) + " takes " +
               std::to_string(limit);
  return error;
}

std::string argument_name(std::size_t index) { return "argument " + std::to_string(index + 1); }

Result<> check_version_1(const Request& request) {
  constexpr std::string_view kWho = "this JVM (attach protocol 1, before JDK 24)";
  if (request.arguments.size() > kArgumentCountV1)
    return fail(ErrorCategory::kUsage, std::to_string(request.arguments.size()) + " arguments; " + std::string(kWho) +
                                           " takes " + std::to_string(kArgumentCountV1));
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    if (request.arguments[i].size() > kArgumentLimitV1)
      return fail(too_long(argument_name(i), request.arguments[i].size(), kArgumentLimitV1, kWho));
  return {};
}

std::string encode_version_1(const Request& request) {
  std::string bytes("1\0", 2);
  bytes += request.operation + '\0';
  for (std::size_t i = 0; i < kArgumentCountV1; ++i)
    bytes += (i < request.arguments.size() ? request.arguments[i] : std::string()) + '\0';
  return bytes;
}

Result<std::string> encode_version_2(const Request& request, const ProtocolSupport& support) {
  std::string body = request.operation;
  if (request.streaming && support.streaming_option) body += *request.streaming ? " streaming=1" : " streaming=0";
  body += '\0';
  for (const std::string& argument : request.arguments) body += argument + '\0';
  if (body.size() > kRequestLimitV2)
    return fail(too_long("the request", body.size(), kRequestLimitV2, "this JVM (attach protocol 2)"));
  return std::string("2\0", 2) + std::to_string(body.size()) + '\0' + body;
}

std::string first_line(std::string_view text) { return std::string(trimmed(text.substr(0, text.find('\n')))); }

// Joins all lines, because an error is one line.
std::string joined_lines(std::string_view text) {
  std::string line(trimmed(text));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

bool wants_buffered_reply(const Request& request) {
  constexpr std::array<std::string_view, 8> kShort = {"load",      "properties", "agentProperties", "setflag",
                                                      "printflag", "datadump",   "getversion",      "detachall"};
  constexpr std::array<std::string_view, 5> kShortCommands = {"VM.version", "VM.uptime", "VM.command_line", "VM.flags",
                                                              "help"};
  if (std::find(kShort.begin(), kShort.end(), request.operation) != kShort.end()) return false;
  if (request.operation != "jcmd" || request.arguments.empty()) return true;
  const std::string_view command = request.arguments.front();
  const std::string_view word = command.substr(0, command.find(' '));
  return !word.empty() && std::find(kShortCommands.begin(), kShortCommands.end(), word) == kShortCommands.end();
}

bool fits_version_1(const Request& request) { return check_version_1(request).has_value(); }

Result<> check_words(const Request& request) {
  constexpr std::string_view kForbidden("\0\n", 2);
  if (request.operation.empty()) return fail(ErrorCategory::kUsage, "the operation is empty");
  if (request.operation.size() > kOperationLimit)
    return fail(too_long("the operation '" + request.operation.substr(0, 64) + "'", request.operation.size(),
                         kOperationLimit, "every JVM"));
  // A blank would start the options of version 2.
  if (request.operation.find_first_of(std::string(kForbidden) + ' ') != std::string::npos)
    return fail(ErrorCategory::kUsage, "the operation contains a NUL, a newline or a blank");
  for (std::size_t i = 0; i < request.arguments.size(); ++i)
    if (request.arguments[i].find_first_of(kForbidden) != std::string::npos)
      return fail(ErrorCategory::kUsage, argument_name(i) + " contains a NUL or a newline");
  return {};
}

Result<std::string> encode_request(const Request& request, const ProtocolSupport& support) {
  JTRACE_RETURN_IF_ERROR(check_words(request));
  const bool with_option = request.streaming && support.streaming_option;
  if (support.version >= 2 && (with_option || !fits_version_1(request))) return encode_version_2(request, support);
  JTRACE_RETURN_IF_ERROR(check_version_1(request));
  return encode_version_1(request);
}

Request version_request() { return {.operation = "getversion", .arguments = {"options"}}; }

ProtocolSupport support_of_reply(int code, std::string_view data) {
  ProtocolSupport support;
  if (code != 0) return support;
  const std::string line = first_line(data);
  for (std::string_view word : split(line, ' ')) {
    if (const auto version = parse_decimal<int>(word)) support.version = std::clamp(*version, 1, 2);
    for (std::string_view option : split(word, ',')) support.streaming_option |= option == "streaming";
  }
  if (support.version < 2) support.streaming_option = false;
  return support;
}

std::string_view ReplyParser::feed(std::string_view bytes) {
  if (code_) return bytes;
  if (malformed_) return {};
  const std::size_t newline = bytes.find('\n');
  line_.append(bytes.substr(0, std::min(newline, kCodeLineLimit + 1)));
  malformed_ = line_.size() > kCodeLineLimit;
  if (malformed_ || newline == bytes.npos) return {};
  take_code_line();
  return malformed_ ? std::string_view() : bytes.substr(newline + 1);
}

void ReplyParser::finish() {
  if (!code_ && !malformed_ && !line_.empty()) take_code_line();
}

void ReplyParser::take_code_line() {
  code_ = parse_decimal<int>(line_);
  malformed_ = !code_;
}

LoadVerdict judge_load(int code, std::string_view data) {
  constexpr std::string_view kReturnCode = "return code: ";
  LoadVerdict verdict;
  const std::string_view text = trimmed(data);
  if (code == 0) {
    const std::string_view number = text.starts_with(kReturnCode) ? text.substr(kReturnCode.size()) : text;
    if (const auto agent_code = parse_decimal<int>(number)) return {.called = true, .agent_code = *agent_code};
  }
  verdict.reason = joined_lines(text);
  if (verdict.reason.empty())
    verdict.reason =
        "the JVM did not load it, or found no Agent_OnAttach in it (it reports only code " + std::to_string(code) + ")";
  return verdict;
}

std::string_view instrument_meaning(int agent_code) {
  switch (agent_code) {
    case 100: return "the jar cannot be opened, or its manifest has no Agent-Class";
    case 101: return "the jar cannot be added to the class path";
    case 102: return "agentmain threw an exception or the agent class was not found: see the target's stderr";
    case -4: return "no memory";
    default: return {};
  }
}

Error load_error(const LoadVerdict& verdict, std::string_view name) {
  Error error{.category = ErrorCategory::kAgent};
  if (verdict.called) {
    error.text = "Agent_OnAttach of " + std::string(name) + " returned " + std::to_string(verdict.agent_code);
    if (name.ends_with(".jar") && !instrument_meaning(verdict.agent_code).empty())
      error.text += ": " + std::string(instrument_meaning(verdict.agent_code));
    return error;
  }
  error.text = "the JVM did not load " + std::string(name) + ": " + verdict.reason;
  if (verdict.reason.find("Dynamic agent loading is not enabled") != std::string::npos)
    error.help = "start the JVM with -XX:+EnableDynamicAgentLoading";
  return error;
}

}  // namespace jtrace::attach
