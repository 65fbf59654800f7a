#include "cli/probe_trace.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "dtrace/probe_events.h"
#include "dtrace/probe_stacks.h"
#include "dtrace/probe_summary.h"
#include "session/document/trace_identity.h"
#include "target/jvm_discovery.h"
#include "trace/option_keys.h"
#include "trace/trace_document.h"

namespace jtrace::cli {
namespace {

constexpr int kInterval = 4;                                 // ms between two looks into the ring
constexpr std::uint64_t kFactsAgain = kNanosPerSecond / 10;  // between two tries to read a JVM that starts

// Events of the probes get their place in the trace.
class PlacingSink final : public trace::EventSink {
 public:
  explicit PlacingSink(trace::EventEmitter& events) : events_(events) {}
  Result<> write(const trace::Event& event) override {
    return std::visit([this](const auto& element) { return events_.emit(element); }, event);
  }

 private:
  trace::EventEmitter& events_;
};

bool pattern_matches(std::string_view pattern, std::string_view text) {
  if (pattern == "*") return true;
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return text.ends_with(pattern.substr(1));
  return pattern == text;
}

// The first rule that matches a class decides; no match includes.
bool wanted_by(const std::vector<session::FilterRule>& rules, std::string_view class_name, std::string_view method) {
  std::string dotted(class_name);
  std::replace(dotted.begin(), dotted.end(), '/', '.');
  for (const session::FilterRule& rule : rules) {
    if (!pattern_matches(rule.class_pattern, dotted)) continue;
    if (rule.method_pattern != "*" && (method.empty() || !pattern_matches(rule.method_pattern, method))) continue;
    return rule.include;
  }
  return true;
}

enum class Ending { kDuration, kInterrupted, kCount, kTargetEnded, kTargetChanged, kOutput };

// One trace from its head to its end.
class ProbeTrace {
 public:
  ProbeTrace(const target::Process& process, dtrace::ProbeSource& source, const std::vector<dtrace::TracedSite>& sites,
             session::TraceOutput& output, const session::TraceOptions& options, const ProbeTraceOptions& more,
             int cancel_fd)
      : process_(process),
        source_(source),
        sites_(sites),
        output_(output),
        options_(options),
        more_(more),
        cancel_fd_(cancel_fd),
        document_(output.sink(), true, false),
        placing_(document_.events()),
        summary_(sites),
        facts_(more.facts),
        seen_libjvm_(!more.starts),
        events_(placing_, process, sites, anchor_, event_options()) {}

  Result<ExitStatus> run() {
    start_ = monotonic_ns();
    Result<> written = write_head();
    if (written) written = know_threads();
    const Ending ending = written ? trace(written) : Ending::kOutput;
    const std::uint64_t ended = monotonic_ns();
    source_.detach();
    const std::uint64_t detached = monotonic_ns();
    taken_out_in_ = detached - ended;
    if (written) written = source_.drain([this](const dtrace::ProbeRecord& record) { return take(record); }, true);
    if (written) written = write_method_counts();
    output_.begin_closing();
    const Result<> closed = write_end(detached);
    say_end(ending, detached);
    if (!written) return fail(written.error());
    if (!closed) return fail(closed.error());
    return document_.written_losses() != 0 || events_.counts().missing_texts != 0 ? ExitStatus::kPartial
                                                                                  : ExitStatus::kOk;
  }

 private:
  dtrace::EventOptions event_options() {
    dtrace::EventOptions events;
    events.class_of = [this](std::string_view name, std::uint64_t loader) {
      dtrace::VmFacts* const facts = vm_facts();
      if (facts == nullptr) return std::optional<coreinspect::ClassDefinition>();
      return loader != 0 ? facts->loaded_class(name, loader) : facts->class_named(name);
    };
    if (more_.stacks) events.stack_text = [this](const dtrace::CopiedStack& stack) { return stack_text(stack); };
    if (!options_.filters.empty())
      events.wanted = [this](std::string_view name, std::string_view method) {
        return wanted_by(options_.filters, name, method);
      };
    return events;
  }

  trace::Time wall(std::uint64_t time) const { return trace::Time(anchor_.wall_of(time)); }
  Result<> option(std::string_view key, const std::string& value) { return document_.write_option(key, value); }

  Result<> write_head() {
    JTRACE_RETURN_IF_ERROR(output_.begin());
    auto jvm = target::examine_jvm(process_);
    identity_ = session::identify(process_, jvm ? *jvm : target::Jvm{}, options_);
    identity_.agent_name = "jtrace probe";
    JTRACE_RETURN_IF_ERROR(document_.begin(identity_, anchor_.wall_of(start_)));
    JTRACE_RETURN_IF_ERROR(document_.begin_trace(anchor_.wall_of(start_)));
    std::string names;
    const dtrace::Probe* last = nullptr;
    for (const dtrace::TracedSite& site : sites_) {
      if (site.chosen && site.probe != last) names += (names.empty() ? "" : ",") + site.probe->full_name();
      last = site.probe;
    }
    JTRACE_RETURN_IF_ERROR(option(trace::kProbesKey, names));
    JTRACE_RETURN_IF_ERROR(option(trace::kBackEndKey, std::string(dtrace::to_string(source_.back_end()))));
    if (more_.has_carriers) JTRACE_RETURN_IF_ERROR(option(trace::kVirtualThreadsKey, "carriers"));
    for (const session::FilterRule& rule : options_.filters)
      JTRACE_RETURN_IF_ERROR(document_.events().emit(session::to_element(rule, true)));
    JTRACE_RETURN_IF_ERROR(option(trace::kVmKey, "pid=" + std::to_string(identity_.nspid)));
    JTRACE_RETURN_IF_ERROR(document_.write_clock());
    return output_.flush();
  }

  dtrace::VmFacts* vm_facts() {
    if (facts_ != nullptr || !more_.starts || monotonic_ns() < next_facts_) return facts_;
    next_facts_ = monotonic_ns() + kFactsAgain;
    if (auto opened = dtrace::VmFacts::open(process_.pid())) {
      own_facts_ = std::move(*opened);
      facts_ = own_facts_.get();
    }
    return facts_;
  }

  std::string stack_text(const dtrace::CopiedStack& stack) {
    dtrace::VmFacts* const facts = stacks_ == nullptr ? vm_facts() : nullptr;
    if (facts != nullptr) {
      if (auto opened = dtrace::ProbeStacks::open(*facts)) stacks_ = std::move(*opened);
    }
    if (stacks_ != nullptr) return stacks_->text(stack);
    ++unread_stacks_;
    return "...";
  }

  // All of them at once where the trace is one of threads, else each where it is first met.
  Result<> know_threads() {
    if (facts_ == nullptr) return {};
    const auto threads = facts_->threads();
    if (!threads) {
      log_warning(threads.error().with_context("cannot tell the threads that run already").message());
      return {};
    }
    const bool define = std::any_of(sites_.begin(), sites_.end(), [](const dtrace::TracedSite& site) {
      return site.chosen && site.probe->full_name() == "hotspot:thread__start";
    });
    return events_.know_threads(*threads, define, wall(start_));
  }

  Result<> take(const dtrace::ProbeRecord& record) {
    if (count_reached()) return {};
    summary_.add(record);
    return events_.write(record);
  }
  bool count_reached() const { return more_.count != 0 && events_.counts().taken >= more_.count; }

  // Until something ends it. `written`: the output's error.
  Ending trace(Result<>& written) {
    for (std::uint64_t next_check = start_ + kNanosPerSecond;;) {
      pollfd waits[] = {{cancel_fd_, POLLIN, 0}, {process_.pidfd(), POLLIN, 0}};
      ::poll(waits, 2, kInterval);
      written = source_.drain([this](const dtrace::ProbeRecord& record) { return take(record); }, false);
      const std::uint64_t now = monotonic_ns();
      if (written && now >= next_check) {
        next_check = now + kNanosPerSecond;
        written = write_losses();
        if (written && document_.is_clock_due(now)) written = document_.write_clock();
        if (written) written = output_.flush();
        if (libjvm_is_gone()) return Ending::kTargetChanged;
      }
      if (!written) return Ending::kOutput;
      if (waits[0].revents != 0) {
        signalfd_siginfo taken{};  // left pending it would end us once it is unblocked
        [[maybe_unused]] const ssize_t size = ::read(cancel_fd_, &taken, sizeof taken);
        return Ending::kInterrupted;
      }
      if (process_.has_exited()) return Ending::kTargetEnded;
      if (count_reached()) return Ending::kCount;
      if (options_.duration && now - start_ >= *options_.duration) return Ending::kDuration;
    }
  }

  // The process has become another program (execve).
  bool libjvm_is_gone() {
    const auto maps = process_.maps();
    if (!maps || process_.has_exited()) return false;
    const bool there = target::find_libjvm(*maps) != nullptr;
    const bool gone = seen_libjvm_ && !there;
    seen_libjvm_ |= there;
    return gone;
  }

  Result<> write_losses() {
    JTRACE_ASSIGN_OR_RETURN(const auto counters, source_.counters());
    std::uint64_t lost = 0;
    for (const dtrace::SiteCounters& counter : counters) lost += counter.lost;
    JTRACE_ASSIGN_OR_RETURN(const bool more, document_.write_losses(lost));
    if (!more) return {};
    events_.forget_after_loss();
    summary_.forget_after_loss();
    return {};
  }

  Result<> write_method_counts() {
    JTRACE_ASSIGN_OR_RETURN(const auto hits, source_.method_hits());
    return events_.write_counts(hits);
  }

  Result<> write_end(std::uint64_t time) {
    Result<> first = write_losses();
    const auto keep = [&first](Result<> next) {
      if (first && !next) first = std::move(next);
    };
    keep(document_.end_trace(anchor_.wall_of(time)));
    keep(document_.end(anchor_.wall_of(time)));
    keep(output_.finish());
    return first;
  }

  void say_end(Ending ending, std::uint64_t end) {
    const std::string name = "JVM " + std::to_string(process_.pid());
    if (ending == Ending::kTargetEnded) log_info(name + " ended");
    if (ending == Ending::kTargetChanged) log_info(name + " has become another program");
    const dtrace::EventCounts& counts = events_.counts();
    if (document_.written_losses() != 0)
      log_warning(std::to_string(document_.written_losses()) + " hits were lost: --ring-memory makes room");
    if (counts.missing_texts != 0) log_warning(std::to_string(counts.missing_texts) + " texts could not be read");
    if (counts.cut_texts != 0) log_warning(std::to_string(counts.cut_texts) + " texts were cut");
    const std::uint64_t cut = unread_stacks_ + (stacks_ ? stacks_->cut() : 0);
    if (cut != 0) log_warning(std::to_string(cut) + " stacks could not be followed to their end (\"...\")");
    if (counts.exits_without_entry != 0)
      log_info(std::to_string(counts.exits_without_entry) + " methods were left that had been entered before");
    if (counts.without_element != 0 && !more_.summary)
      log_info(std::to_string(counts.without_element) + " hits have no element in the trace; --summary counts them");
    if (more_.summary) {
      const auto counters = source_.counters();
      const std::string text = summary_.text(counters ? *counters : std::vector<dtrace::SiteCounters>(sites_.size()));
      std::fwrite(text.data(), 1, text.size(), output_.path() == "-" ? stderr : stdout);
    }
    if (counts.unknown_methods != 0)
      log_warning(std::to_string(counts.unknown_methods) + " hits are of methods of which no more is known");
    char taken[32];
    std::snprintf(taken, sizeof taken, "%.0f ms", static_cast<double>(taken_out_in_) / 1e6);
    log_info("probes taken out in " + std::string(taken));
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.1f s", static_cast<double>(end - start_) / 1e9);
    log_info(std::to_string(counts.taken) + " hits, " + std::to_string(document_.events().total()) + " elements in " +
             seconds + (output_.path() == "-" ? "" : " -> " + output_.path()));
  }

  const target::Process& process_;
  dtrace::ProbeSource& source_;
  const std::vector<dtrace::TracedSite>& sites_;
  session::TraceOutput& output_;
  const session::TraceOptions& options_;
  const ProbeTraceOptions more_;
  int cancel_fd_;
  ClockAnchor anchor_ = ClockAnchor::now();
  trace::TraceDocument document_;
  PlacingSink placing_;
  dtrace::ProbeSummary summary_;
  std::unique_ptr<dtrace::VmFacts> own_facts_;
  dtrace::VmFacts* facts_;
  bool seen_libjvm_;
  std::uint64_t next_facts_ = 0;
  std::unique_ptr<dtrace::ProbeStacks> stacks_;
  std::uint64_t unread_stacks_ = 0;  // before the JVM could be read
  dtrace::ProbeEvents events_;
  session::TraceIdentity identity_;
  std::uint64_t start_ = 0;
  std::uint64_t taken_out_in_ = 0;  // ns
};

}  // namespace

Result<ExitStatus> run_probe_trace(const target::Process& process, dtrace::ProbeSource& source,
                                   const std::vector<dtrace::TracedSite>& sites, session::TraceOutput& output,
                                   const session::TraceOptions& options, const ProbeTraceOptions& more, int cancel_fd) {
  return ProbeTrace(process, source, sites, output, options, more, cancel_fd).run();
}

}  // namespace jtrace::cli
