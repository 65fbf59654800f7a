// jtrace attach PID: loads the agent into a running JVM and writes its trace, until the duration, Ctrl-C or the JVM's
// end.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/selector.h"
#include "cli/shipped_output.h"
#include "cli/stop_signals.h"
#include "cli/summaries.h"
#include "cli/trace_arguments.h"
#include "session/attach_trace.h"
#include "session/key_control.h"
#include "session/left_pools.h"
#include "session/live_watch.h"
#include "trace/gc_cause.h"
#include "trace/methods_with_callouts.h"
#include "trace/record/control.h"

namespace jtrace::cli {
namespace {

struct AttachArguments {
  std::string jvm, ship;
  TraceArguments trace;
};

// One line on a terminal that is overwritten again and again.
class ProgressLine {
 public:
  explicit ProgressLine(bool on) : on_(on) {}
  // `state`: what happens in the JVM; "": not known.
  void show(const session::Progress& progress, const std::string& state) {
    if (!on_) return;
    const double seconds = static_cast<double>(progress.elapsed - last_.elapsed) / 1e9;
    const double rate = static_cast<double>(progress.events - last_.events) / (seconds > 0 ? seconds : 1);
    char figures[160];
    std::snprintf(figures, sizeof figures, "%3.0f s  %llu events (%.0f/s)  %.1f MiB",
                  static_cast<double>(progress.elapsed) / 1e9, static_cast<unsigned long long>(progress.events), rate,
                  static_cast<double>(progress.bytes) / (1 << 20));
    const std::string lost = progress.dropped == 0 ? "" : "  " + std::to_string(progress.dropped) + " lost";
    text_ = figures + lost + (state.empty() ? "" : "  " + state);
    last_ = progress;
    draw();
  }
  // Another line above it.
  void print_above(std::string_view text) {
    clear();
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
    if (on_ && !text_.empty()) draw();
  }
  bool is_on() const { return on_; }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  void draw() {
    std::fprintf(stderr, "\r%s\033[K", fitting(text_).c_str());
    shown_ = true;
  }
  // A line that is wider than the terminal could not be overwritten.
  static std::string fitting(const std::string& text) {
    const std::size_t columns = terminal_size(STDERR_FILENO).columns;
    return cut_to_columns(text, columns > 1 ? columns - 1 : 79);
  }

  bool on_;
  bool shown_ = false;
  std::string text_;
  session::Progress last_;
};

// The messages at the end of a trace.
void report_end(const session::TraceSummary& summary, const std::string& path, pid_t pid, bool filtered) {
  using session::EndReason;
  const std::string jvm = "JVM " + std::to_string(pid);
  if (summary.target_killed) log_warning(jvm + " " + summary.death);
  else if (summary.reason == EndReason::kTargetEnded) log_info(jvm + " ended");
  if (summary.reason == EndReason::kSizeReached) log_info("the trace has reached --max-size and ends here");
  if (summary.error) log_error(summary.error->message());
  if (summary.malformed != 0)
    log_warning(counted(summary.malformed, "place") + " in the ring memory " + is_are(summary.malformed) +
                " invalid and left out");
  if (summary.made_up_definitions != 0)
    log_warning(std::to_string(summary.made_up_definitions) +
                " definitions found no room: what they define has only its id; --ring-memory makes room");
  if (summary.dropped != 0)
    log_warning(std::to_string(summary.dropped) +
                " events were lost: --ring-memory makes room, --when-full block waits for it");
  if (summary.methods_with_callouts == 0 && filtered) log_warning(trace::kNoCallouts);
  if (!summary.uncounted.empty()) log_warning("no counts of calls: " + summary.uncounted);
  if (!summary.agent_left) log_warning("the agent did not answer: " + jvm + " gets rid of it when it sees our end");
  if (path != "-" && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT)
    log_warning(path + " was removed while it was written: what it held is gone");
  log_info(summary.text() + (path == "-" ? "" : " -> " + path));
}

// What to type next: what was seen, in lines, and where the rest is.
// `end`: when the last events were recorded; who was blocked then may have gone on while the agent left.
void report_findings(const session::LiveWatch& watch, std::uint64_t end, const session::TraceOptions& options,
                     const std::string& path) {
  namespace record = trace::record;
  const auto traces = [&](std::uint64_t events) { return (options.events & events) != 0; };
  const std::string findings = watch.findings(end);
  if (!findings.empty()) log_info(findings);
  if (watch.asked_pauses() != 0)
    log_info(counted(watch.asked_pauses(), "pause") + " by System.gc(); " + std::string(trace::kWhoCallsGc));
  if (path == "-" || ::access(path.c_str(), F_OK) != 0) return;
  const char* command = traces(record::kMethodEvent)       ? "slow"
                        : traces(record::kCatchEvent)      ? "exceptions"
                        : traces(record::kAllocationEvent) ? "allocations"
                                                           : "stats";
  std::string next = "next: jtrace " + std::string(command) + " " + shell_word(path);
  if (traces(record::kMonContendedEnteredEvent) && !traces(record::kParkEvent))
    next += "; waits for locks of java.util.concurrent: --events threads,gc,monitors,parks";
  if (watch.lacked_owners() && !options.monitor_owner) next += "; who had the monitors: --monitor-owner";
  log_info(next);
}

session::KeyConsole console_on(ProgressLine& line) {
  return {.show =
              [&line](LogLevel level, std::string_view text) {
                line.clear();
                log(level, text);
              },
          .prompt =
              [&line](std::string_view text) {
                line.clear();
                std::fwrite(text.data(), 1, text.size(), stderr);
              },
          .clear = [&line] { line.clear(); }};
}

// The line for a user without a terminal: where the trace is written, and when it ends.
std::string beginning(const session::TraceOptions& options, pid_t pid) {
  const std::string path = options.output_path(pid);
  std::string text = "tracing JVM " + std::to_string(pid) + (path == "-" ? "" : " into " + path) + "; it ends ";
  if (options.duration) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(*options.duration) / 1e9);
    text += "after " + std::string(seconds) + " s, ";
  }
  return text + "at Ctrl-C (SIGINT), SIGTERM, or with the JVM";
}

ExitStatus run(const AttachArguments& arguments) {
  auto options = arguments.trace.options(arguments.ship.empty() ? "" : "-");
  if (!options) return report(options.error());
  auto process = open_selected(arguments.jvm);
  if (!process) return report(process.error());
  const auto shipped = ShippedOutput::start(arguments.ship);
  if (!shipped) return report(shipped.error());
  if (const std::string note = session::note_of_left_pools(*process); !note.empty()) log_info(note);
  for (const std::string& each : options->unused) log_warning(each);
  ::signal(SIGPIPE, SIG_IGN);
  const ScopedCancel cancel;
  ProgressLine line(::isatty(STDERR_FILENO) == 1 && log_level() >= LogLevel::kInfo);
  session::AttachTraceOptions attach;
  attach.signal_fd = cancel.fd();
  if (const char* agent = std::getenv("JTRACE_AGENT")) attach.agent_path = agent;
  session::KeyControl control(options->filter_file, console_on(line));
  attach.control = &control;
  session::LiveWatch watch([&](std::string_view text) {
    if (!line.is_on() || control.is_typing()) return;
    line.print_above(text);
  });
  if (log_level() >= LogLevel::kInfo && !options->spills()) attach.watcher = &watch;
  attach.progress = [&](const session::Progress& progress) {
    if (control.is_typing()) return;
    if (line.is_on()) line.show(progress, attach.watcher != nullptr ? watch.state(realtime_ns()) : "");
  };
  attach.started = [&](const std::string& left_out) {
    const std::string jvm = "JVM " + std::to_string(process->pid());
    log_debug("tracing " + jvm);
    if (!left_out.empty()) log_warning(jvm + " does not give all that was asked for: " + left_out);
    control.announce(beginning(*options, process->pid()));
  };
  const auto summary = session::trace_process(*process, *options, attach);
  line.clear();
  if (!summary) return abandon_shipping(*shipped, report(summary.error()));
  report_end(*summary, options->output_path(process->pid()), process->pid(), !options->filters.empty());
  if (const std::string advice = advice_of_size(*summary, options->events, options->slower_than != 0); !advice.empty())
    log_info(advice);
  if (attach.watcher != nullptr) report_findings(watch, summary->end, *options, options->output_path(process->pid()));
  return finish_shipping(*shipped, summary->status());
}

}  // namespace

void add_attach_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<AttachArguments>();
  CLI::App* command = app.add_subcommand("attach", summary_of("attach"));
  command->add_option("JVM", arguments->jvm, "pid, or a part of the main class that matches one JVM")
      ->required()
      ->type_name("PID");
  add_ship_option(*command, arguments->ship);
  arguments->trace.add_to(*command);
  command->footer(
      "On a terminal h lists the keys that steer the trace, with the verbs of jtrace ctl; signals do the same: " +
      session::KeyControl::signals_help() +
      ".\nExample: jtrace attach 4711 -o trace.xml --duration 10 --events threads,gc,monitors");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace jtrace::cli
