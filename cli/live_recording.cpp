#include "cli/live_recording.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "base/child_program.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/time_text.h"
#include "base/unique_fd.h"
#include "cli/recording_input.h"
#include "sampling/wait_kind.h"
#include "session/options/options.h"
#include "trace/option_keys.h"
#include "trace/record/start_options.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;
namespace record = trace::record;
using Words = std::vector<std::string>;

constexpr double kUnknown = 30, kLeast = 1, kMost = 600;  // seconds

// How long, and where to and in which form it was written, is of that recording alone.
constexpr std::string_view kNotTaken[] = {"output",        "spill",
                                          "duration",      "timeout",
                                          "fragments",     "strict-dtd",
                                          "doctype",       "filter",
                                          "filters",       "max-size",
                                          "rotate",        "min-free",
                                          "strict",        record::kBlockWhenFullOption,
                                          "ring-memory",   record::kBlockLimitOption,
                                          "agent-options", "show-secrets"};

// The time that was asked for, unless it ended earlier.
std::string seconds_of(const io::Recording& before) {
  const double seconds = before.seconds > 0 ? std::clamp(std::round(before.seconds), kLeast, kMost) : kUnknown;
  for (const auto& [key, value] : before.made.options)
    if (const auto asked = key == "duration" ? parse_seconds(value) : std::nullopt;
        asked && static_cast<double>(*asked) / 1e9 < seconds)
      return value + "s";
  return std::to_string(static_cast<int>(seconds)) + "s";
}

void add_option(Words& words, const session::OptionSpec& spec, const std::string& value) {
  if (spec.kind == session::OptionKind::kFlag) {
    if (value == "true") words.push_back("--" + std::string(spec.name));
  } else {
    words.push_back("--" + std::string(spec.name));
    words.push_back(value);
  }
}

Words attach_words(const io::RecordedWith& made, const std::string& jvm) {
  Words words = {"attach", jvm, "-o", "-"};
  for (const session::OptionSpec& spec : session::option_table()) {
    if (std::find(std::begin(kNotTaken), std::end(kNotTaken), spec.name) != std::end(kNotTaken)) continue;
    for (const auto& [key, value] : made.options)
      if (key == spec.name) add_option(words, spec, value);
  }
  for (const std::string& rule : made.filters) {
    words.push_back("--filter");
    words.push_back(rule);
  }
  return words;
}

// "profile hz=99 off-cpu" in a document; collapsed stacks do not say.
Words profile_words(const io::Recording& before, const std::string& jvm) {
  Words words = {"profile", jvm, "-o", "-", "--format", before.seconds > 0 ? "xml" : "collapsed"};
  const auto said = split(before.made.parameters, ' ');
  for (const std::string_view word : said)
    if (word.starts_with("hz=")) words.insert(words.end(), {"--hz", std::string(word.substr(3))});
  const Waits waits = waits_of(before.stacks);
  if (waits.some) words.push_back(waits.only ? "--off-cpu" : "--wall");
  return words;
}

ErrorCategory category_of(int status) {
  return status >= 1 && status < static_cast<int>(ExitStatus::kPartial) ? static_cast<ErrorCategory>(status - 1)
                                                                        : ErrorCategory::kSystem;
}

}  // namespace

Waits waits_of(const io::StackProfile& profile) {
  std::size_t waits = 0;
  for (const auto& [stack, weight] : profile.stacks)
    for (std::size_t kind = 1; kind < sampling::kWaitKinds; ++kind)
      if (stack.find(";" + std::string(to_string(static_cast<sampling::WaitKind>(kind))) + ";") != stack.npos) {
        ++waits;
        break;
      }
  return {waits != 0, waits != 0 && waits == profile.stacks.size()};
}

Result<Words> words_like(const io::Recording& before, const std::string& jvm, const std::string& duration) {
  Words words;
  if (before.kind == "histogram") {
    if (!duration.empty())
      return fail(ErrorCategory::kUsage, "--duration: a histogram takes no time, " + before.name + " is one");
    return Words{"inspect", jvm, "histogram", "--format", "json"};
  }
  if (before.kind == "profile") words = profile_words(before, jvm);
  else if (before.made.agent == "jtrace" && !before.made.options.empty()) words = attach_words(before.made, jvm);
  else
    return fail(ErrorCategory::kUsage,
                before.name + " does not say how it was recorded, so that JVM " + jvm + " cannot be recorded alike",
                "record it as a file, and compare the two files");
  words.insert(words.end(), {"--duration", duration.empty() ? seconds_of(before) : duration});
  return words;
}

Result<io::Recording> record_like(const io::Recording& before, const std::string& jvm, const std::string& duration) {
  JTRACE_ASSIGN_OR_RETURN(Words words, words_like(before, jvm, duration));
  std::string line = "jtrace";
  for (const std::string& word : words) line += " " + shell_word(word);
  log_info("as " + before.name + " was recorded: " + line);
  const UniqueFd made(::memfd_create("jtrace-recording", MFD_CLOEXEC));
  if (made.get() < 0) return fail(system_error("cannot make a file in memory"));
  words.insert(words.begin(), "/proc/self/exe");
  JTRACE_ASSIGN_OR_RETURN(const int status, run_child_program(words, made.get()));
  if (status != 0 && status != static_cast<int>(ExitStatus::kPartial))
    return fail(category_of(status), "JVM " + jvm + " was not recorded");
  return read_recording("/proc/self/fd/" + std::to_string(made.get()), "JVM " + jvm);
}

}  // namespace jtrace::cli
