#include "cli/profile_summary.h"

#include <chrono>
#include <cstdio>

#include "base/joined.h"
#include "base/log.h"
#include "base/strings.h"

namespace jtrace::cli {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string how_sampled(bool several, const sampling::SamplerOptions& options, const sampling::PerfEvents& events) {
  std::string how;
  if (options.events.ticks) how = number_text(options.events.hz) + " samples a second of CPU time";
  if (options.events.switches) {
    how += how.empty() ? "" : " and ";
    how += "waits of " + number_text(static_cast<double>(options.least.count()) / 1e6) + " ms and more, in ns";
  }
  return how + ", " + events.description() + (several ? ", several JVMs" : "");
}

namespace {

std::string share(std::uint64_t part, std::uint64_t all) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

std::string text_of(const char* format, double value) {
  char text[120];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
constexpr double kLeastUnsampled = 100;  // ms

double millis(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

void report_waits(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options) {
  if (summary.brief > 0)
    log_info(counted(summary.brief, "wait") + " " + was_were(summary.brief) + " shorter than " +
             number_text(millis(options.least)) +
             " ms (--min): " + text_of("%.1f ms in all, not shown", millis(summary.brief_time)));
  if (summary.stacks.missing() > 0)
    log_info(counted(summary.stacks.missing(), "wait") + (summary.stacks.missing() == 1 ? " has" : " have") +
             " no stack: begun before the recording, or the copy was lost or not allowed");
  if (!summary.no_wakers.empty()) log_info("who woke the threads that waited is not known: " + summary.no_wakers);
  if (summary.lost_wakers > 0)
    log_info(counted(summary.lost_wakers, "record") + " of wakeups " + was_were(summary.lost_wakers) +
             " lost: of some waits it is not known who ended them");
  if (summary.blind.count() > 0)
    log_info("for " + text_of("%.1f ms", millis(summary.blind)) +
             " in all switches of threads were lost: waits are cut there, and what goes on after has no stack");
}

// Each thread's clock begins with a whole period: what is left of one when the thread ends is in no sample.
void report_unsampled(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options,
                      const sampling::PerfEvents& events) {
  if (!options.events.ticks || !events.of_threads()) return;
  const double used = millis(summary.used), none = used - millis(summary.sampled);
  if (none < kLeastUnsampled || none < used / 10) return;
  log_info(
      text_of("%.0f ms", none) + text_of(" of %.0f ms of CPU time", used) +
      text_of(" (%.0f %%) are in no sample: of threads that ran for less than a sampling period", 100 * none / used) +
      text_of(" (%.1f ms)", 1e3 / options.events.hz) + (events.with_kernel() ? "" : ", or in the kernel") +
      (summary.lost > 0 ? ", or lost" : "") + "; a greater --hz has more");
}

}  // namespace

void report_summary(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options,
                    const sampling::PerfEvents& events) {
  const bool waits = options.events.switches;
  const std::uint64_t samples = summary.stacks.all();
  std::string line = (waits ? counted(samples, "wait or sample", "waits and samples") : counted(samples, "sample")) +
                     text_of(" in %.1f s, ", millis(summary.elapsed) / 1e3) + std::to_string(summary.lost) +
                     " lost; the target was not stopped";
  if (summary.jvms != 1) line += "; " + std::to_string(summary.jvms) + " JVMs";
  if (samples > 0)
    line += text_of("; %.0f us to decode each", millis(summary.decoding) * 1e3 / static_cast<double>(samples));
  else if (!waits)
    line += "; it used " + (summary.used.count() == 0 ? "no" : text_of("%.1f ms of", millis(summary.used))) +
            " CPU time: jtrace stack shows where its threads are";
  if (summary.target_ended) line += "; the target ended";
  log_info(line);
  for (const auto& [cause, count] : summary.stacks.cut())
    log_info(counted(count, "stack") + " " + is_are(count) + " incomplete (" + share(count, samples) + "): " + cause);
  if (summary.unnamed > 0)
    log_info(counted(summary.unnamed, "sample") + " " + is_are(summary.unnamed) +
             " of virtual threads that are not known: they had moved on, or their stack was cut");
  report_unsampled(summary, options, events);
  report_waits(summary, options);
  for (const std::string& note : events.notes()) log_info(note);
  for (const std::string& missing : missing_samples(summary)) log_info(missing);
}

std::vector<std::string> missing_samples(const sampling::SamplerSummary& summary) {
  std::vector<std::string> lines = summary.missing;
  if (summary.broken > 0)
    lines.push_back(counted(summary.broken, "switch", "switches") + " of threads " + was_were(summary.broken) +
                    " lost: the waits that began there are missing");
  if (summary.throttled > 0)
    lines.push_back("the kernel suspended an event " + counted(summary.throttled, "time") + ": less was sampled then");
  return lines;
}

std::string stopping_summary(const coreinspect::ProfileSummary& summary) {
  const double seconds = static_cast<double>(summary.elapsed.count()) / 1e9;
  char text[300];
  std::snprintf(text, sizeof text,
                "%s in %.1f s (%.1f a second), %s; the target was stopped for %.2f %% of the time, %.1f ms at most",
                counted(summary.samples, "sample").c_str(), seconds,
                seconds > 0 ? static_cast<double>(summary.samples) / seconds : 0.0,
                counted(summary.stacks, "stack").c_str(), summary.share() * 100,
                static_cast<double>(summary.longest.count()) / 1e6);
  std::string line = text;
  if (summary.delayed > 0)
    line += "; " + counted(summary.delayed, "sample") + " " + was_were(summary.delayed) +
            " put off to keep below --max-share";
  if (summary.incomplete > 0)
    line += "; " + counted(summary.incomplete, "stack") + " " + is_are(summary.incomplete) + " incomplete";
  if (summary.target_ended) line += "; the target ended";
  return line;
}

}  // namespace jtrace::cli
