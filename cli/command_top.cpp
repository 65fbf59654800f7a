// jtrace top: the threads of a live JVM by processor time, with their frames.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "base/joined.h"
#include "base/json_answer.h"
#include "base/strings.h"
#include "base/terminal.h"
#include "base/wait_readable.h"
#include "cli/commands.h"
#include "cli/inspect_common.h"
#include "cli/one_of.h"
#include "cli/screen_keys.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/units.h"
#include "cli/view_run.h"
#include "coreinspect/tools/thread_groups.h"
#include "coreinspect/tools/top_threads.h"
#include "sampling/live_top.h"

namespace jtrace::cli {
namespace {

struct TopArguments {
  InspectArguments inspect;
  std::chrono::milliseconds interval{1000};
  std::uint64_t count = 0;
  std::size_t rows = 20;
  bool with_idle = false;  // --rows: as many as are asked for
  bool ptrace = false;
};

// Of the samples of a thread that was elsewhere too.
std::string share_of_frame(const coreinspect::TopRow& row) {
  if (row.frame.empty() || row.samples == 0 || row.of_frame == row.samples) return "";
  return " (" + std::to_string(100 * row.of_frame / row.samples) + " %)";
}

// A carrier is named after the virtual thread that it runs.
std::string name_of(const coreinspect::TopRow& row) {
  if (row.carried == 0) return printable(row.name);
  std::string carried = std::to_string(row.carried) + " virtual threads";
  if (row.carried_id != 0)
    carried =
        row.carried_name.empty() ? "virtual thread #" + std::to_string(row.carried_id) : printable(row.carried_name);
  else if (row.carried == 1) carried = "a virtual thread";
  return carried + " on " + printable(row.name);
}

// What the column shows as 0.0.
bool is_idle(const coreinspect::TopRow& row) { return row.measured && row.cpu < 0.0005; }

std::string text_of_idle(const std::vector<coreinspect::ThreadLabel>& threads) {
  return "    0.0        - " + counted(threads.size(), "thread") + ": " + joined(coreinspect::name_families(threads));
}

std::string text_of(const coreinspect::TopRow& row) {
  char share[32] = "      -";
  if (row.measured) std::snprintf(share, sizeof share, "%7.1f", row.cpu * 100);
  char line[100];
  std::snprintf(line, sizeof line, "%s %8d %-13.*s ", share, row.native_id, static_cast<int>(row.state.size()),
                row.state.data());
  return line + name_of(row) + (row.frame.empty() ? "" : "  " + row.frame) + share_of_frame(row);
}

std::string text_of_ended(double share) {
  char text[80];
  std::snprintf(text, sizeof text, "%7.1f        - by threads that have ended since the last look", share * 100);
  return text;
}

std::string heading_of(const coreinspect::TopTable& table, std::size_t rows, std::size_t busy, bool has_keys) {
  char pause[64] = "; the target was not stopped";
  if (table.pause.count() != 0)
    std::snprintf(pause, sizeof pause, "; the target was stopped for %.1f ms",
                  static_cast<double>(table.pause.count()) / 1e6);
  // First, because a narrow screen cuts the rest.
  std::string text = (has_keys ? "q quits; " : "") + counted(table.rows.size(), "thread");
  if (rows < busy) text += ", the busiest " + std::to_string(rows) + " shown";
  return text + pause;
}

// On a screen, as many rows as it has room for, cut to its width.
std::string text_of(const coreinspect::TopTable& table, const TopArguments& arguments, const TerminalSize& screen,
                    bool has_keys) {
  const bool ended = table.ended > 0;
  std::vector<coreinspect::ThreadLabel> idle;
  for (const coreinspect::TopRow& row : table.rows)
    if (!arguments.with_idle && is_idle(row)) idle.push_back({row.name, row.id});
  const std::size_t busy = table.rows.size() - idle.size();
  // Two headings, who is idle, who has ended, the messages and the cursor's line.
  const std::size_t others = 3 + (idle.empty() ? 0 : 1) + (ended ? 1 : 0) + table.missing.size();
  std::size_t rows = arguments.rows;
  if (screen.rows != 0) rows = std::min(rows, screen.rows - std::min(screen.rows, others));
  std::vector<std::string> lines = {heading_of(table, rows, busy, has_keys), "   CPU%      NID STATE         THREAD"};
  for (const coreinspect::TopRow& row : table.rows)
    if (lines.size() - 2 < rows && (arguments.with_idle || !is_idle(row))) lines.push_back(text_of(row));
  if (!idle.empty()) lines.push_back(text_of_idle(idle));
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
    if (row.carried > 0) json.member("virtualThreads", row.carried);
    if (row.carried_id != 0) json.member("carries", row.carried_id).member("carriesName", row.carried_name);
    if (row.samples > 0) json.member("samples", row.samples).member("frameSamples", row.of_frame);
    json.end_object();
  }
  json.end_array().end_object();
  return text + "\n";
}

// Where tables come from.
struct Looker {
  std::function<Result<coreinspect::TopTable>()> look;
  // Until that time (CLOCK_MONOTONIC, ns); false if `stop` became readable before.
  std::function<bool(std::uint64_t until, int stop)> wait;
};

Looker by_stopping(coreinspect::Inspection& inspection, const TopArguments& arguments) {
  auto top = std::make_shared<coreinspect::TopThreads>(inspection, arguments.inspect.max_stop);
  return {.look = [top] { return top->look(); },
          .wait = [](std::uint64_t until, int stop) { return !wait_readable(stop, until); }};
}

// By the kernel's samples, or, where they are not allowed, by stopping threads.
Looker looker_of(const std::shared_ptr<coreinspect::Inspection>& inspection, const TopArguments& arguments) {
  if (arguments.ptrace) return by_stopping(*inspection, arguments);
  auto opened = sampling::LiveTop::open(inspection);
  if (!opened) {
    log_info(opened.error().message() + "; threads are stopped by ptrace for each look instead");
    return by_stopping(*inspection, arguments);
  }
  for (const std::string& note : (*opened)->events().notes()) log_info(note);
  const std::shared_ptr<sampling::LiveTop> top = std::move(*opened);
  return {.look = [top, rows = arguments.rows]() -> Result<coreinspect::TopTable> { return top->look(rows); },
          .wait = [top](std::uint64_t until, int stop) { return top->sample_until(until, stop); }};
}

ExitStatus run(const TopArguments& arguments) {
  const auto stop = stop_signals();
  if (!stop) return report(stop.error());
  auto opened = open_inspection(arguments.inspect);
  if (!opened) return report(opened.error());
  const std::shared_ptr<coreinspect::Inspection> inspection = std::move(*opened);
  if (!inspection->target().process())
    return report({.category = ErrorCategory::kUsage, .text = "a core does not run: jtrace inspect CORE threads"});
  if (!inspection->healthy()) return report(inspection->healthy().error());
  const Looker top = looker_of(inspection, arguments);
  const bool screen = ::isatty(STDOUT_FILENO) && arguments.inspect.format == "text";
  std::optional<ScreenKeys> keys;
  if (screen) keys.emplace(stop->get());
  // False if it is to end.
  const auto wait = [&](std::uint64_t until) {
    while (!top.wait(until, keys ? keys->fd() : stop->get()))
      if (!keys || keys->is_quit()) return false;
    return true;
  };
  auto first = top.look();
  const auto interval = static_cast<std::uint64_t>(std::chrono::nanoseconds(arguments.interval).count());
  if (!first) return report(first.error());
  std::vector<std::string> missing;  // of the last sample
  bool partial = false;
  const auto ended = [&partial] { return partial ? ExitStatus::kPartial : ExitStatus::kOk; };
  for (std::uint64_t looks = 0; arguments.count == 0 || looks < arguments.count; ++looks) {
    if (!wait(monotonic_ns() + interval)) return ended();
    if (inspection->target().process()->has_exited()) {
      log_info("the target ended");
      return ended();
    }
    const auto table = top.look();
    if (!table) return report(table.error().with_context("top of " + arguments.inspect.target));
    const std::string text = arguments.inspect.format == "json"
                                 ? json_of(*inspection, *table, arguments.rows)
                                 : text_of(*table, arguments, screen ? terminal_size(STDOUT_FILENO) : TerminalSize{},
                                           keys && keys->has_keys());
    if (screen) std::fputs("\033[H\033[2J", stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) return ExitStatus::kOk;  // the reader is gone
    // On a screen they are printed below each table, otherwise once.
    if (screen || table->missing != missing)
      for (const std::string& line : table->missing) log_info("missing: " + line);
    missing = table->missing;
    partial = partial || !missing.empty();
  }
  return ended();
}

}  // namespace

void add_top_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<TopArguments>();
  CLI::App* command = app.add_subcommand("top", summary_of("top"));
  command->add_option("PID", arguments->inspect.target, "process id, or part of a main class")->required();
  add_time(*command, "--interval", arguments->interval, "time between two looks (1s)",
           {.least = std::chrono::milliseconds(50), .most = std::chrono::hours(1)});
  command->add_option("--count", arguments->count, "how many looks; without it until Ctrl-C, or q on a terminal");
  auto* rows = add_rows(*command, arguments->rows, "the busiest threads to show, idle ones too (20 that are not idle)");
  command->add_option("--format", arguments->inspect.format, "text or json: one object a look")
      ->check(one_of({"text", "json"}));
  command->add_flag("--ptrace", arguments->ptrace, "stop threads for each look, without perf events");
  add_max_stop(*command, arguments->inspect, "if threads are stopped: longest single stop (200ms)");
  command->footer("Example: jtrace top 1234 --interval 2");
  command->callback([arguments, rows, &status] {
    arguments->with_idle = rows->count() > 0;
    status = run(*arguments);
  });
}

}  // namespace jtrace::cli
