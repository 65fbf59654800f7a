#include "cli/hsperf_common.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <regex>

#include "base/file.h"
#include "base/json_answer.h"
#include "cli/selector.h"
#include "coreinspect/tools/core_counters.h"
#include "perfdata/counter_table.h"
#include "target/jvm_discovery.h"
#include "trace/io/document_kind.h"

namespace jtrace::cli {

using perfdata::CounterSource;

perfdata::SourceOptions SourceArguments::options() const {
  perfdata::SourceOptions options;
  options.trust = trust;
  options.stale = stale;
  options.partial = partial;
  options.any_state = any_state;
  options.mapped = mapped;
  options.wait = wait;
  return options;
}

void add_source_arguments(CLI::App& command, SourceArguments& arguments, bool several) {
  if (several)
    command
        .add_option("JVM", arguments.selectors,
                    "pid, hsperfdata file, core, part of a main class; several with commas, or all")
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
  add_time(command, "--wait", arguments.wait, "how long to wait for a JVM that is starting (1s)",
           {.most = std::chrono::hours(1)});
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
  char first[16] = {};
  return fd && ::pread(fd->get(), first, sizeof first, 0) == sizeof first &&
         trace::io::document_kind({first, sizeof first}) == trace::io::DocumentKind::kElf;
}

}  // namespace

Result<std::vector<CounterSource>> open_selector(const std::string& selector, const SourceArguments& arguments) {
  const perfdata::SourceOptions options = arguments.options();
  const std::string path = selector.starts_with("file://") ? selector.substr(7) : selector;
  if (is_path(path)) {
    return just(is_elf(path) ? coreinspect::open_core_counters(path, arguments.core, options)
                             : CounterSource::of_file(path, options));
  }
  if (selects_all(selector)) return open_everything(options);
  JTRACE_ASSIGN_OR_RETURN(const std::vector<pid_t> pids, select_jvms(selector, Takes::kJvmOrFile));
  std::vector<CounterSource> sources;
  for (const pid_t pid : pids) {
    JTRACE_ASSIGN_OR_RETURN(CounterSource source, CounterSource::of_process(pid, options));
    sources.push_back(std::move(source));
  }
  return sources;
}

Result<CounterSource> open_one(const SourceArguments& arguments) {
  const std::string& selector = arguments.selectors.front();
  if (selector == "all") return fail(ErrorCategory::kUsage, "give one JVM, not all", "give a pid");
  JTRACE_ASSIGN_OR_RETURN(auto sources, open_selector(selector, arguments));
  if (sources.size() != 1) return fail(ErrorCategory::kUsage, "give one JVM, not " + selector, "give a pid");
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
  if (source.core() != nullptr && !source.core()->unused_option.empty()) log_info(source.core()->unused_option);
}

void add_counters_option(CLI::App& command, std::string& regex) {
  add_old_name(command, command.add_option("--counters", regex, "only counters whose name matches")->type_name("REGEX"),
               "--filter");
}

Result<perfdata::NameFilter> parse_filter(const std::string& regex) {
  if (regex.empty()) return perfdata::NameFilter();
  try {
    auto compiled = std::make_shared<const std::regex>(regex, std::regex::ECMAScript | std::regex::optimize);
    return perfdata::NameFilter(
        [compiled](std::string_view name) { return std::regex_search(name.begin(), name.end(), *compiled); });
  } catch (const std::regex_error& error) {
    return fail(ErrorCategory::kUsage, "--counters '" + regex + "' is not a regular expression: " + error.what());
  }
}

Result<> check_matches(const std::vector<CounterSource>& sources, const std::string& regex) {
  if (regex.empty()) return {};
  JTRACE_ASSIGN_OR_RETURN(const perfdata::NameFilter filter, parse_filter(regex));
  const bool any = std::any_of(sources.begin(), sources.end(), [&](const CounterSource& source) {
    return !perfdata::CounterTable(source.first(), filter).rows().empty();
  });
  if (any) return {};
  return fail(ErrorCategory::kUsage, "no counter has a name that matches --counters '" + regex + "'",
              "it is one regular expression, 'gc|threads' for either; hsperf snap prints all names");
}

Result<> print_out(std::string_view text) { return write_whole(STDOUT_FILENO, text, "standard output"); }

void begin_json_view(JsonWriter& json, std::string_view view, const CounterSource& source,
                     const perfdata::Snapshot& snapshot) {
  begin_answer(json, view).begin_object();
  if (const target::Process* process = source.process())
    json.member("pid", process->pid()).member("nspid", process->nspid());
  json.member("source", perfdata::source_name(source.kind())).member("name", source.name());
  json.member("time", static_cast<double>(snapshot.realtime_ns) / 1e9).member("stable", snapshot.stable).end_object();
  write_missing(json, snapshot.layout().complete() && snapshot.prologue().overflow == 0, source.warnings());
}

}  // namespace jtrace::cli
