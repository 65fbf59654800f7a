// jtrace top: the threads of a live JVM by processor time, with their frames.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/json_answer.h"
#include "base/strings.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/stop_signals.h"
#include "cli/units.h"
#include "cli/view_run.h"
#include "coreinspect/tools/top_threads.h"

namespace jtrace::cli {
namespace {

struct TopArguments {
  InspectArguments inspect;
  std::chrono::milliseconds interval{1000};
  std::uint64_t count = 0;
  std::size_t rows = 20;
};

std::string text_of(const coreinspect::TopRow& row) {
  char share[32] = "      -";
  if (row.measured) std::snprintf(share, sizeof share, "%7.1f", row.cpu * 100);
  char line[100];
  std::snprintf(line, sizeof line, "%s %8d %-13.*s ", share, row.native_id, static_cast<int>(row.state.size()),
                row.state.data());
  return line + printable(row.name) + (row.frame.empty() ? "" : "  " + row.frame);
}

std::string text_of_ended(double share) {
  char text[80];
  std::snprintf(text, sizeof text, "%7.1f        - by threads that have ended since the last look", share * 100);
  return text;
}

std::string heading_of(const coreinspect::TopTable& table, std::size_t rows) {
  char pause[64];
  std::snprintf(pause, sizeof pause, "; the target was stopped for %.1f ms",
                static_cast<double>(table.pause.count()) / 1e6);
  std::string text = counted(table.rows.size(), "thread");
  if (rows < table.rows.size()) text += ", the busiest " + std::to_string(rows) + " shown";
  return text + pause;
}

// On a screen, as many rows as it has room for, cut to its width.
std::string text_of(const coreinspect::TopTable& table, std::size_t rows, const TerminalSize& screen) {
  const bool ended = table.ended > 0;
  // Two headings, who has ended, the messages and the cursor's line.
  const std::size_t others = 3 + (ended ? 1 : 0) + table.held.size();
  if (screen.rows != 0) rows = std::min(rows, screen.rows - std::min(screen.rows, others));
  std::vector<std::string> lines = {heading_of(table, rows), "   CPU%      NID STATE         THREAD"};
  for (const coreinspect::TopRow& row : table.rows)
    if (lines.size() - 2 < rows) lines.push_back(text_of(row));
  if (ended) lines.push_back(text_of_ended(table.ended));
  std::string text;
  for (const std::string& line : lines)
    text += (screen.columns == 0 ? line : cut_to_columns(line, screen.columns)) + "\n";
  return text;
}

// One object for each sample.
std::string json_of(const coreinspect::Inspection& inspection, const coreinspect::TopTable& table, std::size_t rows) {
  std::string text;
  JsonWriter json(text);
  begin_answer(json, "top");
  write_target(json, inspection);
  write_missing(json, table.missing).member("pauseMicros", table.pause.count() / 1000);
  if (table.ended > 0) json.member("endedCpuShare", table.ended);
  json.key("data").begin_array();
  for (const coreinspect::TopRow& row : table.rows) {
    if (rows-- == 0) break;
    json.begin_object().member("name", row.name).member("nativeId", row.native_id);
    if (row.measured) json.member("cpuShare", row.cpu);
    if (row.id != 0) json.member("threadId", row.id).member("state", row.state);
    if (!row.frame.empty()) json.member("frame", row.frame);
    json.end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

ExitStatus run(const TopArguments& arguments) {
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto inspection = open_inspection(arguments.inspect);
  if (!inspection) return report(inspection.error());
  if (!(*inspection)->target().process())
    return report({.category = ErrorCategory::kUsage, .text = "a core does not run: jtrace inspect CORE threads"});
  if (!(*inspection)->healthy()) return report((*inspection)->healthy().error());
  coreinspect::TopThreads top(**inspection, arguments.inspect.max_stop);
  const bool screen = ::isatty(STDOUT_FILENO) && arguments.inspect.format == "text";
  auto first = top.look();
  if (!first) return report(first.error());
  std::vector<std::string> held;  // of the last sample
  bool partial = false;
  const auto ended = [&partial] { return partial ? ExitStatus::kPartial : ExitStatus::kOk; };
  for (std::uint64_t looks = 0; arguments.count == 0 || looks < arguments.count; ++looks) {
    pollfd descriptor{.fd = stop->get(), .events = POLLIN, .revents = 0};
    if (::poll(&descriptor, 1, static_cast<int>(arguments.interval.count())) > 0) return ended();
    if ((*inspection)->target().process()->has_exited()) {
      log_info("the target ended");
      return ended();
    }
    const auto table = top.look();
    if (!table) return report(table.error().with_context("top of " + arguments.inspect.target));
    const std::string text =
        arguments.inspect.format == "json"
            ? json_of(**inspection, *table, arguments.rows)
            : text_of(*table, arguments.rows, screen ? terminal_size(STDOUT_FILENO) : TerminalSize{});
    if (screen) std::fputs("\033[H\033[2J", stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) return ExitStatus::kOk;  // the reader is gone
    // On a screen they are printed below each table, otherwise once.
    if (screen || table->held != held)
      for (const std::string& line : table->held) log_info("missing: " + line);
    held = table->held;
    partial = partial || !held.empty();
  }
  return ended();
}

}  // namespace

void add_top_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<TopArguments>();
  CLI::App* command = app.add_subcommand("top", "threads of a live JVM by processor time, with their top frames");
  command->add_option("PID", arguments->inspect.target, "process id, or part of a main class")->required();
  add_time(*command, "--interval", arguments->interval, "time between two looks (1s)",
           {.least = std::chrono::milliseconds(50), .most = std::chrono::hours(1)});
  command->add_option("--count", arguments->count, "how many looks; without it until Ctrl-C");
  add_rows(*command, arguments->rows, "the busiest threads to show (20)");
  command->add_option("--format", arguments->inspect.format, "text or json: one object a look")
      ->check(CLI::IsMember({"text", "json"}));
  add_max_stop(*command, arguments->inspect, "longest single stop (200ms)");
  command->footer("Example: jtrace top 1234 --interval 2");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
