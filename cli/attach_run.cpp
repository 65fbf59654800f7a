#include "cli/attach_run.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "attach/commands.h"
#include "attach/properties.h"
#include "attach/request_run.h"
#include "base/file.h"
#include "base/in_parallel.h"
#include "base/json_answer.h"
#include "base/log.h"
#include "base/secrets.h"
#include "cli/command.h"
#include "cli/selector.h"
#include "cli/stop_signals.h"
#include "cli/units.h"

namespace jtrace::cli {
namespace {

using attach::Outcome;
using attach::Request;

std::string label_of(const Outcome& outcome) {
  std::string label = std::to_string(outcome.pid) + " " + outcome.request.operation;
  for (const std::string& argument : outcome.request.arguments) label += " " + argument;
  return label;
}

void mask(Outcome& outcome, const AttachRunOptions& options) {
  if (options.show_secrets || !outcome.reply || outcome.reply->spool) return;
  std::string& data = outcome.reply->data;
  if (attach::answers_properties(outcome.request)) data = attach::with_masked_secrets(data);
  else if (attach::answers_command_line(outcome.request)) data = mask_secrets_of_lines(data);
  else return;
  outcome.reply->size = data.size();
}

constexpr std::string_view kStandardOutput = "standard output";

// Appends the reply's data to `text`; the text of a refusal is in the error.
Result<> append_text(std::string& text, const Outcome& outcome, bool labelled) {
  const bool has_data = outcome.reply && (outcome.reply->code == 0 || outcome.reply->cut);
  if (labelled) text += "==> " + label_of(outcome) + " <==\n";
  if (has_data && outcome.reply->spool) {
    JTRACE_RETURN_IF_ERROR(write_whole(STDOUT_FILENO, std::exchange(text, {}), kStandardOutput));
    JTRACE_RETURN_IF_ERROR(outcome.reply->write_to(STDOUT_FILENO, kStandardOutput));
  } else if (has_data) {
    text += outcome.reply->data;
  }
  if (labelled && !text.ends_with('\n')) text += '\n';
  return {};
}

void append_json(JsonWriter& json, const Outcome& outcome) {
  json.begin_object().member("pid", outcome.pid).member("operation", outcome.request.operation);
  json.key("arguments").begin_array();
  for (const std::string& argument : outcome.request.arguments) json.value(argument);
  json.end_array();
  if (outcome.reply)
    json.member("code", outcome.reply->code).member("text", outcome.reply->data).member("size", outcome.reply->size);
  json.member("status", outcome.verdict ? 0 : static_cast<int>(exit_status(outcome.verdict.error())));
  if (!outcome.verdict) json.member("error", outcome.verdict.error().message());
  json.end_object();
}

// Prints outcomes in the order of the JVMs, in whatever order they arrive.
class Printer {
 public:
  Printer(const AttachRunOptions& options, bool labelled, bool several)
      : options_(options), labelled_(labelled), several_(several) {
    json_.begin_array();
  }

  void print(Outcome& outcome) {
    mask(outcome, options_);
    statuses_.push_back(outcome.verdict ? ExitStatus::kOk : exit_status(outcome.verdict.error()));
    if (is_json()) {
      if (!outcome.verdict) missing_.push_back(label_of(outcome));
      append_json(json_, outcome);
      return;
    }
    if (auto written = append_text(text_, outcome, labelled_); !written) statuses_.back() = report(written.error());
    if (text_.size() >= kTogether) flush();
    if (outcome.verdict) return;
    flush();
    const Error& error = outcome.verdict.error();
    report(several_ ? error.with_context("process " + std::to_string(outcome.pid)) : error);
  }

  // A batch has many short answers: they are written together, but without a delay for the reader.
  void flush() {
    if (auto written = write_whole(STDOUT_FILENO, std::exchange(text_, {}), kStandardOutput); !written)
      statuses_.push_back(report(written.error()));
  }

  ExitStatus finish() {
    if (!is_json()) {
      flush();
      return combined_status(statuses_);
    }
    json_.end_array();
    const std::string text = json_view("cmd", options_.selectors, missing_, rows_);
    if (auto written = write_whole(STDOUT_FILENO, text, "standard output"); !written) return report(written.error());
    return combined_status(statuses_);
  }

 private:
  static constexpr std::size_t kTogether = 64 * 1024;

  bool is_json() const { return options_.format == "json"; }

  const AttachRunOptions& options_;
  bool labelled_;
  bool several_;
  std::vector<ExitStatus> statuses_;
  std::vector<std::string> missing_;
  std::string text_;  // not yet written
  std::string rows_;
  JsonWriter json_{rows_};
};

Result<> check_confirmed(const AttachRunOptions& options, const std::vector<Request>& requests) {
  if (!selects_all(options.selectors) || options.confirmed) return {};
  const auto changing =
      std::find_if(requests.begin(), requests.end(), [](const Request& r) { return !attach::reads_only(r); });
  if (changing == requests.end()) return {};
  return fail(ErrorCategory::kUsage,
              "'" + std::string(attach::command_of(*changing)) + "' may change a JVM, and 'all' means each one",
              "say --yes");
}

}  // namespace

ExitStatus combined_status(const std::vector<ExitStatus>& all) {
  const auto failed = std::find_if(all.begin(), all.end(), [](ExitStatus s) { return s != ExitStatus::kOk; });
  if (failed == all.end()) return ExitStatus::kOk;
  const bool some_ok = std::find(all.begin(), all.end(), ExitStatus::kOk) != all.end();
  return some_ok ? ExitStatus::kPartial : *failed;
}

std::string json_view(std::string_view view, std::string_view selectors, const std::vector<std::string>& missing,
                      std::string_view rows) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, view).begin_object().member("selectors", selectors).end_object();
  write_missing(json, missing).key("data").json(rows).end_object();
  return out + '\n';
}

void add_timeout(CLI::App& command, AttachRunOptions& options) {
  const auto take = [&options](std::chrono::nanoseconds time) {
    options.timeout = std::chrono::duration<double>(time).count();
  };
  add_time(command, "--timeout", std::function<void(std::chrono::nanoseconds)>(take),
           "time limit for start and reply (default: 10s and 60s)", {.least = std::chrono::milliseconds(1)});
}

ExitStatus run_and_print(const AttachRunOptions& options, const std::vector<Request>& requests) {
  if (auto confirmed = check_confirmed(options, requests); !confirmed) return report(confirmed.error());
  const auto pids = select_jvms(options.selectors);
  if (!pids) return report(pids.error());
  Printer printer(options, pids->size() > 1 || requests.size() > 1, pids->size() > 1);
  ScopedCancel cancel;
  const auto bounds = attach::bounds_of(requests, options.timeout, cancel.fd());
  if (pids->size() == 1) {
    const auto print = [&](Outcome& outcome) { printer.print(outcome); };
    const auto flush = [&] { printer.flush(); };
    if (requests.size() > 1) {
      attach::run_requests(pids->front(), requests, bounds, print, flush);
    } else {
      auto outcomes = attach::run_requests(pids->front(), requests, bounds);
      cancel.let_go();  // from here on a signal may interrupt the printing
      print(outcomes.front());
    }
    return printer.finish();
  }
  InParallel<std::vector<Outcome>> workers(
      pids->size(), [&](std::size_t i) { return attach::run_requests((*pids)[i], requests, bounds); });
  for (std::size_t i = 0; i < pids->size(); ++i)
    for (Outcome& outcome : workers.wait(i)) printer.print(outcome);
  return printer.finish();
}

}  // namespace jtrace::cli
