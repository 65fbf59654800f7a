#include "cli/hsperf_common.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <memory>
#include <regex>

#include "base/file.h"
#include "cli/selector.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {

using perfdata::CounterSource;

perfdata::SourceOptions SourceArguments::options() const {
  perfdata::SourceOptions options;
  options.trust = trust;
  options.stale = stale;
  options.partial = partial;
  options.any_state = any_state;
  options.mapped = mapped;
  options.wait = std::chrono::milliseconds(static_cast<std::int64_t>(wait_seconds * 1000));
  return options;
}

void add_source_arguments(CLI::App& command, SourceArguments& arguments, bool several) {
  if (several)
    command.add_option("JVM", arguments.selectors, "pid, hsperfdata file, core, part of a main class, or all")
        ->required();
  else  // one string, because a list would take the words of the positionals that follow
    command
        .add_option_function<std::string>(
            "JVM", [&arguments](const std::string& word) { arguments.selectors = {word}; },
            "pid, hsperfdata file, core or part of a main class")
        ->required();
  command.add_flag("--trust", arguments.trust, "read a file that other users could have written");
  command.add_flag("--stale", arguments.stale, "read the file of a JVM that has ended");
  command.add_flag("--partial", arguments.partial, "read the intact part of a truncated or corrupt file");
  command.add_flag("--any-state", arguments.any_state, "do not wait for a JVM that is starting");
  command.add_option("--wait", arguments.wait_seconds, "how long to wait for a JVM that is starting")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--sysroot", arguments.core.sysroot,
                     "for a core: the folder below which mapped files are searched");
  command.add_option("--libjvm", arguments.core.libjvm, "for a core: the libjvm.so that the process had mapped");
}

namespace {

std::string one_line(const target::Jvm& jvm) {
  return std::to_string(jvm.pid) + " " + (jvm.main_class.empty() ? "?" : jvm.main_class);
}

bool is_path(const std::string& text) {
  std::error_code ignored;
  return text.find('/') != text.npos || std::filesystem::is_regular_file(text, ignored);
}

// A JVM that has ended or cannot be read must not affect the others of "all".
Result<std::vector<CounterSource>> open_everything(const perfdata::SourceOptions& options) {
  std::vector<CounterSource> sources;
  for (const target::Jvm& jvm : target::discover_jvms().jvms) {
    auto source = CounterSource::of_process(jvm.pid, options);
    if (source) sources.push_back(std::move(*source));
    else log_warning(source.error().with_context(one_line(jvm)).message());
  }
  if (sources.empty()) return fail(ErrorCategory::kNotFound, "no JVM whose counters can be read", "hsperf list");
  return sources;
}

Result<std::vector<CounterSource>> just(Result<CounterSource> source) {
  if (!source) return fail(std::move(source).error());
  std::vector<CounterSource> sources;
  sources.push_back(std::move(*source));
  return sources;
}

// hsperfdata never begins like an ELF file.
bool is_elf(const std::string& path) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  char magic[4] = {};
  return fd && ::pread(fd->get(), magic, 4, 0) == 4 && std::string_view(magic, 4) == "\177ELF";
}

}  // namespace

Result<std::vector<CounterSource>> open_selector(const std::string& selector, const SourceArguments& arguments) {
  const perfdata::SourceOptions options = arguments.options();
  if (selector == "all") return open_everything(options);
  const std::string path = selector.starts_with("file://") ? selector.substr(7) : selector;
  if (is_path(path)) {
    return just(is_elf(path) ? open_core_counters(path, arguments) : CounterSource::of_file(path, options));
  }
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(selector));
  return just(CounterSource::of_process(pid, options));
}

Result<CounterSource> open_one(const SourceArguments& arguments) {
  const std::string& selector = arguments.selectors.front();
  if (selector == "all") return fail(ErrorCategory::kUsage, "give one JVM, not all", "give a pid");
  JTRACE_ASSIGN_OR_RETURN(auto sources, open_selector(selector, arguments));
  return std::move(sources.front());
}

std::vector<CounterSource> open_all(const SourceArguments& arguments, ExitStatus& status) {
  std::vector<CounterSource> all;
  for (const std::string& selector : arguments.selectors) {
    auto sources = open_selector(selector, arguments);
    if (!sources) {
      status = report(sources.error());
      continue;
    }
    for (CounterSource& source : *sources) all.push_back(std::move(source));
  }
  return all;
}

void print_warnings(const CounterSource& source) {
  for (const std::string& warning : source.warnings()) log_warning(source.name() + ": " + warning);
}

Result<perfdata::NameFilter> parse_filter(const std::string& regex) {
  if (regex.empty()) return perfdata::NameFilter();
  try {
    auto compiled = std::make_shared<const std::regex>(regex, std::regex::ECMAScript | std::regex::optimize);
    return perfdata::NameFilter(
        [compiled](std::string_view name) { return std::regex_search(name.begin(), name.end(), *compiled); });
  } catch (const std::regex_error& error) {
    return fail(ErrorCategory::kUsage, "--filter '" + regex + "' is no regular expression: " + error.what());
  }
}

Result<std::chrono::nanoseconds> parse_interval(std::string_view text) {
  std::string_view number = text;
  double unit = 1e6;
  if (number.ends_with("ms")) number.remove_suffix(2);
  else if (number.ends_with("us")) number.remove_suffix(2), unit = 1e3;
  else if (number.ends_with("s")) number.remove_suffix(1), unit = 1e9;
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0) || value * unit > 1e18)
    return fail(ErrorCategory::kUsage, "not an interval: '" + std::string(text) + "'", "for example 500, 500ms or 2s");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * unit));
}

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  std::string_view number = text;
  double unit = 1e9;
  if (number.ends_with("ms")) number.remove_suffix(2), unit = 1e6;
  else if (number.ends_with("us")) number.remove_suffix(2), unit = 1e3;
  else if (number.ends_with('s')) number.remove_suffix(1);
  else if (number.ends_with('m')) number.remove_suffix(1), unit = 60e9;
  else if (number.ends_with('h')) number.remove_suffix(1), unit = 3600e9;
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0) || value * unit > 1e18)
    return fail(ErrorCategory::kUsage, "not a time: '" + std::string(text) + "'",
                "for example 90, 500ms, 30s, 5m or 1h");
  return std::chrono::nanoseconds(static_cast<std::int64_t>(value * unit));
}

Result<> print_out(std::string_view text) { return write_whole(STDOUT_FILENO, text, "standard output"); }

void begin_json_view(JsonWriter& json, std::string_view view, const CounterSource& source,
                     const perfdata::Snapshot& snapshot) {
  json.begin_object().member("view", view).key("target").begin_object();
  if (const target::Process* process = source.process())
    json.member("pid", process->pid()).member("nspid", process->nspid());
  json.member("source", perfdata::source_name(source.kind())).member("name", source.name());
  json.member("time", static_cast<double>(snapshot.realtime_ns) / 1e9).member("stable", snapshot.stable).end_object();
  const auto warnings = source.warnings();
  json.member("complete", snapshot.layout().complete() && snapshot.prologue().overflow == 0);
  json.key("missing").begin_array();
  for (const std::string& warning : warnings) json.value(warning);
  json.end_array();
}

}  // namespace jtrace::cli
