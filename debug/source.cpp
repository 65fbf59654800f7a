#include "debug/source.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "coreinspect/tools/core_copy.h"
#include "debug/source_parts.h"

namespace jtrace::debug {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongestStopping{5000};  // of all threads, one after the other
constexpr seconds kBetweenLines{30};
constexpr int kTries = 5;  // to meet the JVM outside of a collection

// A thread that was killed while this process held it stays a zombie as long as this process lives, and the kernel does
// not say that the target has ended.
bool has_ended(const target::Process& process) {
  if (process.has_exited()) return true;
  const auto threads = process.threads();
  return !threads || std::all_of(threads->begin(), threads->end(), [&](pid_t tid) {
    const auto status = process.read_proc("task/" + std::to_string(tid) + "/status");
    return !status || target::parse_status(*status).has_exited();
  });
}

std::string text_of(steady_clock::duration time) {
  const auto ms = duration_cast<milliseconds>(time).count();
  return ms < 10'000 ? std::to_string(ms) + " ms" : std::to_string(ms / 1000) + " s";
}

}  // namespace

std::string time_of_day() {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[16] = "";
  std::tm local{};
  std::strftime(text, sizeof text, "%H:%M:%S", ::localtime_r(&now, &local));
  return text;
}

std::string stop_text(std::chrono::nanoseconds stopped) {
  char text[64] = "";
  std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(stopped).count());
  return text;
}

Result<> read_anew(coreinspect::Inspection& inspection) {
  if (auto* cache = inspection.vm().cached_memory()) cache->reset();
  inspection.classes().forget();
  return inspection.read_mappings_again();
}

Result<> check_runs(const target::Process& process) {
  if (!has_ended(process)) return {};
  return fail(ErrorCategory::kNotFound, "process " + std::to_string(process.pid()) + " has ended");
}

Result<std::unique_ptr<CoreSource>> CoreSource::open(coreinspect::Inspection& inspection, const WorldOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(auto snapshot, coreinspect::take_thread_snapshot(inspection, {.locks = false}));
  std::unique_ptr<CoreSource> source(new CoreSource());
  source->world_ = std::make_unique<World>(inspection, std::move(snapshot), options);
  return source;
}

Result<> SnapshotSource::available() const { return check_runs(process_); }

Result<> SnapshotSource::take() {
  auto copied =
      coreinspect::copy_whole(process_.pid(), {.max_stop = snapshot_.max_stop, .libraries = true, .pages = {}});
  if (!copied)
    return fail(copied.error()
                    .with_context("no copy of the JVM")
                    .with_help("--max-stop TIME allows a longer stop, --hold stops it while a debugger is connected, "
                               "jtrace core PID -o FILE writes a core to open"));
  const std::string taken_at = time_of_day();
  // Otherwise it may be a later process with the same number.
  JTRACE_RETURN_IF_ERROR(check_runs(process_));
  for (const std::string& line : copied->copy.missing()) snapshot_.say("missing: " + line);
  JTRACE_ASSIGN_OR_RETURN(core_, coreinspect::core_in_memory(copied->copy));
  JTRACE_ASSIGN_OR_RETURN(auto target, target::Target::open_core(coreinspect::path_of_core(core_)));
  JTRACE_ASSIGN_OR_RETURN(inspection_, coreinspect::Inspection::open(std::move(target)));
  options_.name = "a copy of process " + std::to_string(process_.pid()) + ", taken at " + taken_at;
  snapshot_.say("the JVM was stopped for " + stop_text(copied->longest) +
                " and runs again: the debugger sees a copy of it");
  return {};
}

// During a collection objects are in two places, or in none.
Result<World*> SnapshotSource::begin() {
  for (int tries = 1;; ++tries) {
    end();
    JTRACE_RETURN_IF_ERROR(take());
    if (!inspection_->died_in_gc() || tries == kTries) break;
  }
  JTRACE_RETURN_IF_ERROR(inspection_->healthy());
  JTRACE_ASSIGN_OR_RETURN(auto snapshot, coreinspect::take_thread_snapshot(*inspection_, {.locks = false}));
  world_ = std::make_unique<World>(*inspection_, std::move(snapshot), options_);
  for (const std::string& line : world_->missing()) snapshot_.say("missing: " + line);
  return world_.get();
}

void SnapshotSource::end() {
  world_.reset();
  inspection_.reset();
  core_.reset();
}

Result<> HoldSource::available() const { return check_runs(*inspection_.target().process()); }

Result<World*> HoldSource::begin() {
  end();
  // The stop raises the priority, so that it is short; the answers after it need none.
  const int priority = ::getpriority(PRIO_PROCESS, 0);
  auto stop = coreinspect::HeapStop::make(inspection_, kLongestStopping);
  ::setpriority(PRIO_PROCESS, 0, priority);
  if (!stop) return fail(stop.error().with_context("the JVM cannot be held"));
  begun_ = told_ = steady_clock::now();
  stop_.emplace(std::move(*stop));
  if (!stop_->held().empty()) {
    const auto held = stop_->held();
    stop_.reset();
    return fail(ErrorCategory::kRefused, "the JVM cannot be held: thread " + std::to_string(held.front().tid) +
                                             " is held by " + target::describe_tracer(held.front()));
  }
  hold_.say("the JVM is stopped from now on, for at most " + std::to_string(hold_.most.count()) + " s (--max-hold)");
  JTRACE_RETURN_IF_ERROR(read_anew(inspection_));
  const auto threads = stop_->threads();
  JTRACE_ASSIGN_OR_RETURN(auto snapshot, coreinspect::take_thread_snapshot(
                                             inspection_, {.details = false, .locks = false, .stopped = &threads}));
  world_ = std::make_unique<World>(inspection_, std::move(snapshot), options_);
  for (const std::string& line : world_->missing()) hold_.say("missing: " + line);
  return world_.get();
}

void HoldSource::end() {
  world_.reset();
  if (!stop_) return;
  stop_.reset();
  if (has_ended(*inspection_.target().process())) return;
  hold_.say("the JVM runs again, after " + text_of(steady_clock::now() - begun_));
}

std::string HoldSource::is_over() {
  if (!stop_) return {};
  const auto now = steady_clock::now();
  if (has_ended(*inspection_.target().process())) return "the JVM has ended";
  if (now - begun_ >= hold_.most) return "it was held for as long as --max-hold allows";
  if (now - told_ >= kBetweenLines) {
    told_ = now;
    hold_.say("the JVM has been stopped for " + text_of(now - begun_));
  }
  return {};
}

}  // namespace jtrace::debug
