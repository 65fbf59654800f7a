// hsperf stat: the twelve views of the JDK's jstat, byte for byte: hsperf stat -gcutil PID [INTERVAL [COUNT]].
#include <memory>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/hsperf_commands.h"
#include "cli/hsperf_common.h"
#include "cli/hsperf_output.h"
#include "perfdata/jstat.h"
#include "perfdata/poll_loop.h"

namespace jtrace::cli {
namespace {

struct StatArguments {
  SourceArguments sources;
  std::string option;
  std::optional<std::chrono::nanoseconds> interval;
  std::uint64_t count = 0;
  std::uint64_t header_every = 0;
  bool timestamp = false;
};

Result<perfdata::JstatView> view_of(const StatArguments& arguments) {
  auto view = perfdata::JstatView::of(arguments.option, arguments.timestamp);
  if (view) return std::move(*view);
  const auto known = perfdata::jstat_options();
  const auto near = nearest_word(arguments.option, known);
  std::string help;
  for (std::string_view name : known) help.append(help.empty() ? "one of -" : " -").append(name);
  if (!near.empty()) help = "did you mean -" + std::string(near) + "?";
  return fail(ErrorCategory::kUsage,
              arguments.option.empty() ? "stat: no view given" : "no such view: -" + arguments.option, help);
}

perfdata::PollPlan plan_of(const StatArguments& arguments) {
  perfdata::PollPlan plan;
  plan.count = arguments.interval ? arguments.count : 1;
  if (arguments.interval) plan.interval = *arguments.interval;
  return plan;
}

class StatPrinter {
 public:
  StatPrinter(perfdata::JstatView view, std::uint64_t header_every)
      : view_(std::move(view)), header_every_(header_every) {}

  Result<> print(const perfdata::Snapshot& snapshot) {
    std::string lines;
    if (rows_ == 0 || (header_every_ != 0 && rows_ % header_every_ == 0)) lines = view_.header() + "\n";
    ++rows_;
    lines += view_.row(snapshot, static_cast<std::int64_t>(snapshot.realtime_ns / 1'000'000)) + "\n";
    return print_out(lines);
  }

 private:
  perfdata::JstatView view_;
  std::uint64_t header_every_;
  std::uint64_t rows_ = 0;
};

Result<> print_rows(perfdata::CounterSource& source, StatPrinter& printer, const perfdata::PollPlan& plan) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd stop, stop_signals());
  perfdata::PollLoop pace(plan, stop.get());
  if (source.process()) pace.watch({source.process()->pidfd()});
  perfdata::Snapshot snapshot = source.first();
  for (bool first = true;; first = false) {
    const auto wake = pace.wait();
    if (wake == perfdata::PollLoop::Wake::kDone || wake == perfdata::PollLoop::Wake::kStopped) return {};
    const bool ended = wake == perfdata::PollLoop::Wake::kEnded;
    auto read = first ? Result<>() : source.read(snapshot);
    if (read) JTRACE_RETURN_IF_ERROR(printer.print(snapshot));
    else if (!ended && !source.has_ended()) return read;
    if (ended) {
      log_info("JVM " + std::to_string(source.pid()) + " has ended");
      return {};
    }
  }
}

Result<> stat(const StatArguments& arguments) {
  JTRACE_ASSIGN_OR_RETURN(perfdata::JstatView view, view_of(arguments));
  const perfdata::PollPlan plan = plan_of(arguments);
  JTRACE_ASSIGN_OR_RETURN(perfdata::CounterSource source, open_one(arguments.sources));
  print_warnings(source);
  if (plan.count != 1 && view.shows_eden() && perfdata::VmTraits::of(source.first()).eden_only_at_gc)
    log_info("this JVM brings eden's used space up to date at a collection only");
  StatPrinter printer(std::move(view), arguments.header_every);
  return print_rows(source, printer, plan);
}

}  // namespace

std::vector<std::string> stat_words(const std::vector<std::string>& words) {
  std::vector<std::string> out = words;
  std::size_t i = 0;
  while (i < out.size() && out[i].starts_with('-')) ++i;  // options of hsperf itself
  if (i >= out.size() || out[i] != "stat") return out;
  for (++i; i < out.size(); ++i) {
    std::string& word = out[i];
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') continue;
    if (word == "-h" && i + 1 < out.size()) word = "--header-every";
    else if (word.starts_with("-h") && word.find_first_not_of("0123456789", 2) == word.npos)
      word = "--header-every=" + word.substr(2);
    else if (word.size() > 2) word = "--view=" + word.substr(1);
  }
  return out;
}

void add_hsperf_stat(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<StatArguments>();
  auto* command = app.add_subcommand("stat", "the twelve views of jstat: hsperf stat -gcutil PID [INTERVAL [COUNT]]");
  command->set_help_flag("--help", "this text");
  add_source_arguments(*command, arguments->sources, false);
  const auto take = [&interval = arguments->interval](std::chrono::nanoseconds time) { interval = time; };
  add_time(*command, "INTERVAL", std::function<void(std::chrono::nanoseconds)>(take),
           "time between rows: 500ms, 2s; a number alone is ms",
           {.plain = PlainUnit::kMilliseconds, .least = std::chrono::microseconds(10)});
  command->add_option("COUNT", arguments->count, "number of rows (default: until the JVM ends)");
  command->add_option("--view", arguments->option, "gcutil, gc, gccause, ... (also -gcutil)");
  command->add_flag("-t", arguments->timestamp, "add a first column with the age of the JVM");
  command->add_option("--header-every", arguments->header_every, "repeat the heading after this many rows (also -hN)");
  command->footer("example: hsperf stat -gcutil -t -h20 4711 1s 100");
  command->callback([arguments, &status] {
    auto done = stat(*arguments);
    status = done ? ExitStatus::kOk : report(done.error());
  });
}

}  // namespace jtrace::cli
