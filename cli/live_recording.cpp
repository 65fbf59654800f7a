#include "cli/live_recording.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/child_program.h"
#include "base/log.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/temporary_file.h"
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
constexpr double kLate = 0.1;                             // an end by --duration comes so much later, as a share
constexpr const char* kMostBytes = "4G";                  // of a trace that nobody keeps

// How long, and where to and in which form it was written, is of that recording alone. No thread is held up either.
constexpr std::string_view kNotTaken[] = {"output",        "file",
                                          "spill",         "duration",
                                          "timeout",       "fragments",
                                          "strict-dtd",    "doctype",
                                          "filter",        "filters",
                                          "max-size",      "rotate",
                                          "min-free",      "strict",
                                          "agent-options", record::kBlockWhenFullOption,
                                          "show-secrets",  record::kBlockLimitOption};

// The time that was asked for, unless it ended earlier.
std::string seconds_of(const io::Recording& before) {
  const std::string* option = before.made.find("duration");
  if (const auto asked = option == nullptr ? std::nullopt : parse_seconds(*option);
      asked && static_cast<double>(*asked) / 1e9 * (1 - kLate) <= before.seconds && before.seconds <= kMost)
    return *option + "s";
  const double seconds = before.seconds > 0 ? std::clamp(std::round(before.seconds), kLeast, kMost) : kUnknown;
  return std::to_string(static_cast<int>(seconds)) + "s";
}

void add_option(Words& words, const session::OptionSpec& spec, const std::string& value) {
  if (spec.kind != session::OptionKind::kFlag) words.insert(words.end(), {"--" + std::string(spec.name), value});
  else if (value == "true") words.push_back("--" + std::string(spec.name));
}

// What differs from the defaults. An older jtrace had not all of them.
void add_options(Words& words, const io::RecordedWith& made) {
  const auto defaults = session::effective_options(session::TraceOptions());
  for (const session::OptionSpec& spec : session::option_table()) {
    if (std::find(std::begin(kNotTaken), std::end(kNotTaken), spec.name) != std::end(kNotTaken)) continue;
    const std::string* value = made.find(spec.name);
    const bool is_default = value != nullptr && std::any_of(defaults.begin(), defaults.end(), [&](auto& each) {
                              return each.key == spec.name && each.value == *value;
                            });
    if (value != nullptr && !value->empty() && !is_default) add_option(words, spec, *value);
    if (value == nullptr && spec.name == record::kMinContentionOption) add_option(words, spec, "0");
  }
}

// Those of a file of filters include what no rule matches, those of the command line do not if all include.
void add_filters(Words& words, const io::RecordedWith& made) {
  const auto includes = [](const std::string& rule) { return rule.ends_with(" include"); };
  for (const std::string& rule : made.filters) words.insert(words.end(), {"--filter", rule});
  if (!made.filters.empty() && std::all_of(made.filters.begin(), made.filters.end(), includes))
    words.insert(words.end(), {"--filter", "* include"});
}

void warn_of_unknown(const io::Recording& before) {
  std::string names;
  const auto table = session::option_table();
  for (const auto& option : before.made.options) {
    const std::string& key = option.first;
    const bool is_known = std::any_of(table.begin(), table.end(), [&](auto& spec) { return spec.name == key; }) ||
                          std::find(std::begin(kNotTaken), std::end(kNotTaken), key) != std::end(kNotTaken);
    if (!is_known) names += (names.empty() ? "" : ", ") + key;
  }
  if (!names.empty())
    log_warning(before.name + " was recorded with options that this jtrace does not know and cannot repeat: " + names);
}

Result<Words> attach_words(const io::Recording& before, const std::string& jvm) {
  const std::string* strict = before.made.find(trace::kStrictDtdKey);
  if (strict != nullptr && *strict == "true" && !before.made.filters.empty())
    return fail(ErrorCategory::kUsage,
                before.name + " has no patterns of methods (--strict-dtd): it does not say how it was filtered",
                "record the JVM as a file, and compare the two files");
  warn_of_unknown(before);
  Words words = {"attach", jvm, "-o", "-", "--max-size", kMostBytes};
  add_options(words, before.made);
  add_filters(words, before.made);
  return words;
}

// A document says "profile hz=99 off-cpu"; collapsed stacks and speedscope do not.
Words profile_words(const io::Recording& before, const std::string& jvm) {
  const bool is_document = !before.made.agent.empty();
  const char* format = is_document ? "xml" : before.stacks.unit == "samples" ? "collapsed" : "speedscope";
  Words words = {"profile", jvm, "-o", "-", "--format", format};
  bool all_threads = false;
  for (const std::string_view word : split(before.made.parameters, ' ')) {
    if (word.starts_with("hz=")) words.insert(words.end(), {"--hz", std::string(word.substr(3))});
    all_threads |= word == "wall";
  }
  const Waits waits = waits_of(before.stacks);
  if (waits.some) words.push_back(waits.only ? "--off-cpu" : "--wall");
  else if (all_threads) words.insert(words.end(), {"--wall", "--ptrace"});  // which does not tell waits from running
  return words;
}

tl::unexpected<Error> does_not_say(const io::Recording& before, const std::string& jvm) {
  return fail(ErrorCategory::kUsage,
              before.name + " does not say how it was recorded, so that JVM " + jvm + " cannot be recorded alike",
              "record it as a file, and compare the two files");
}

// The child has said why, unless a signal ended it.
tl::unexpected<Error> not_recorded(const std::string& jvm, int status) {
  Error error{.category = ErrorCategory::kSystem};
  if (status > 128)
    error.text = "JVM " + jvm + " was not recorded: signal " + std::to_string(status - 128) + " ended it";
  else error.category = static_cast<ErrorCategory>(status - 1);
  return fail(std::move(error));
}

// Of no name, so that nothing is left.
Result<UniqueFd> unnamed_file() {
  UniqueFd file(::open(temporary_folder().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) file.reset(::memfd_create("jtrace-recording", MFD_CLOEXEC));
  if (!file) return fail(system_error("cannot make a file in", temporary_folder()));
  return file;
}

std::string own_program() {
  std::error_code unknown;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", unknown);
  return unknown || !std::filesystem::exists(path, unknown) ? "/proc/self/exe" : path.string();
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
  const io::RecordedWith& made = before.made;
  if (before.kind == "histogram") {
    if (!duration.empty())
      return fail(ErrorCategory::kUsage, "--duration: a histogram takes no time, " + before.name + " is one");
    Words words = {"inspect", jvm, "histogram", "--format", "json"};
    if (made.parameters == io::kReachable) words.push_back("--reachable");
    return words;
  }
  Words words;
  if (before.kind == "profile") {
    if (!made.agent.empty() && !made.parameters.starts_with(trace::kProfileParameters))
      return does_not_say(before, jvm);
    words = profile_words(before, jvm);
  } else {
    if (made.agent != "jtrace" || made.options.empty()) return does_not_say(before, jvm);
    JTRACE_ASSIGN_OR_RETURN(words, attach_words(before, jvm));
  }
  words.insert(words.end(), {"--duration", duration.empty() ? seconds_of(before) : duration});
  return words;
}

Result<io::Recording> record_like(const io::Recording& before, const std::string& jvm, const std::string& duration) {
  JTRACE_ASSIGN_OR_RETURN(Words words, words_like(before, jvm, duration));
  std::string line = "jtrace";
  for (const std::string& word : words) line += " " + shell_word(word);
  log_info("as " + before.name + " was recorded: " + line);
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd made, unnamed_file());
  if (log_level() < LogLevel::kInfo) words.insert(words.begin(), "-q");
  words.insert(words.begin(), own_program());
  JTRACE_ASSIGN_OR_RETURN(const int status, run_child_program(words, made.get()));
  if (status != 0 && status != static_cast<int>(ExitStatus::kPartial)) return not_recorded(jvm, status);
  if (::lseek(made.get(), 0, SEEK_END) == 0)
    return fail(ErrorCategory::kRefused, "nothing was recorded of JVM " + jvm + ": it ran no code in that time");
  return read_recording("/proc/self/fd/" + std::to_string(made.get()), "JVM " + jvm);
}

}  // namespace jtrace::cli
