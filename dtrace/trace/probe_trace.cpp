#include "dtrace/trace/probe_trace.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "dtrace/probe_stacks.h"
#include "dtrace/probe_summary.h"
#include "dtrace/trace/class_filter.h"
#include "session/document/first_error.h"
#include "session/document/trace_identity.h"
#include "target/jvm_discovery.h"
#include "trace/option_keys.h"
#include "trace/trace_document.h"

namespace jtrace::dtrace {
namespace {

constexpr int kInterval = 4;                                 // ms between two reads of the ring
constexpr std::uint64_t kFactsAgain = kNanosPerSecond / 10;  // between two attempts to read a JVM that is starting

// Puts the events of the probes into the trace.
class PlacingSink final : public trace::EventSink {
 public:
  explicit PlacingSink(trace::EventEmitter& events) : events_(events) {}
  Result<> write(const trace::Event& event) override {
    return std::visit([this](const auto& element) { return events_.emit(element); }, event);
  }

 private:
  trace::EventEmitter& events_;
};

// One trace from its head to its end.
class ProbeTrace {
 public:
  ProbeTrace(const target::Process& process, ProbeSource& source, const std::vector<TracedSite>& sites,
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

  ProbeTraceSummary run() {
    start_ = monotonic_ns();
    ProbeTraceSummary summary;
    Result<> written = write_head();
    if (written) written = define_running_threads();
    summary.end = written ? trace(written) : ProbeEnd::kOutput;
    const std::uint64_t ended = monotonic_ns();
    source_.detach();
    const std::uint64_t detached = monotonic_ns();
    if (written) written = source_.drain([this](const ProbeRecord& record) { return take(record); }, true);
    if (written) written = write_method_counts();
    output_.begin_closing();
    const Result<> closed = write_end(detached);
    if (!written || !closed) summary.error = written ? closed.error() : written.error();
    summary.duration = detached - start_;
    summary.taking_out = detached - ended;
    fill(summary);
    return summary;
  }

 private:
  EventOptions event_options() {
    EventOptions events;
    events.class_of = [this](std::string_view name, std::uint64_t loader) {
      VmFacts* const facts = vm_facts();
      if (facts == nullptr) return std::optional<coreinspect::ClassDefinition>();
      return loader != 0 ? facts->loaded_class(name, loader) : facts->class_named(name);
    };
    if (more_.stacks) events.stack_text = [this](const CopiedStack& stack) { return stack_text(stack); };
    if (!options_.filters.empty())
      events.wanted = [this](std::string_view name, std::string_view method) {
        return is_wanted(options_.filters, name, method);
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
    const Probe* last = nullptr;
    for (const TracedSite& site : sites_) {
      if (site.chosen && site.probe != last) names += (names.empty() ? "" : ",") + site.probe->full_name();
      last = site.probe;
    }
    JTRACE_RETURN_IF_ERROR(option(trace::kProbesKey, names));
    JTRACE_RETURN_IF_ERROR(option(trace::kBackEndKey, std::string(to_string(source_.back_end()))));
    for (const std::string& line : more_.unavailable) JTRACE_RETURN_IF_ERROR(option(trace::kUnavailableKey, line));
    if (more_.may_have_carriers) JTRACE_RETURN_IF_ERROR(option(trace::kVirtualThreadsKey, "carriers"));
    for (const session::FilterRule& rule : options_.filters)
      JTRACE_RETURN_IF_ERROR(document_.events().emit(session::to_element(rule, true)));
    JTRACE_RETURN_IF_ERROR(option(trace::kVmKey, "pid=" + std::to_string(identity_.nspid)));
    JTRACE_RETURN_IF_ERROR(document_.write_clock());
    return output_.flush();
  }

  VmFacts* vm_facts() {
    if (facts_ != nullptr || !more_.starts || monotonic_ns() < next_facts_) return facts_;
    next_facts_ = monotonic_ns() + kFactsAgain;
    if (auto opened = VmFacts::open(process_.pid())) {
      own_facts_ = std::move(*opened);
      facts_ = own_facts_.get();
    }
    return facts_;
  }

  std::string stack_text(const CopiedStack& stack) {
    VmFacts* const facts = stacks_ == nullptr ? vm_facts() : nullptr;
    if (facts != nullptr) {
      if (auto opened = ProbeStacks::open(*facts)) stacks_ = std::move(*opened);
    }
    if (stacks_ != nullptr) return stacks_->text(stack);
    ++unread_stacks_;
    return "...";
  }

  // All threads at once if the trace is about threads, otherwise each at its first event.
  Result<> define_running_threads() {
    if (facts_ == nullptr) return {};
    const auto threads = facts_->threads();
    if (!threads) {
      more_.warn(threads.error().with_context("cannot list the threads that run already").message());
      return {};
    }
    const bool define = std::any_of(sites_.begin(), sites_.end(), [](const TracedSite& site) {
      return site.chosen && site.probe->full_name() == "hotspot:thread__start";
    });
    return events_.add_running_threads(*threads, define, wall(start_));
  }

  Result<> take(const ProbeRecord& record) {
    if (count_reached()) return {};
    summary_.add(record);
    return events_.write(record);
  }
  bool count_reached() const { return more_.count != 0 && events_.counts().taken >= more_.count; }

  // Runs until something ends it. `written`: the output's error.
  ProbeEnd trace(Result<>& written) {
    for (std::uint64_t next_check = start_ + kNanosPerSecond;;) {
      pollfd waits[] = {{cancel_fd_, POLLIN, 0}, {process_.pidfd(), POLLIN, 0}};
      ::poll(waits, 2, kInterval);
      written = source_.drain([this](const ProbeRecord& record) { return take(record); }, false);
      const std::uint64_t now = monotonic_ns();
      if (written && now >= next_check) {
        next_check = now + kNanosPerSecond;
        written = write_losses();
        if (written && document_.is_clock_due(now)) written = document_.write_clock();
        if (written) written = output_.flush();
        if (libjvm_is_gone()) return ProbeEnd::kTargetChanged;
      }
      if (!written) return ProbeEnd::kOutput;
      if (waits[0].revents != 0) {
        signalfd_siginfo taken{};  // if it stayed pending, it would end this process once it is unblocked
        [[maybe_unused]] const ssize_t size = ::read(cancel_fd_, &taken, sizeof taken);
        return ProbeEnd::kInterrupted;
      }
      if (process_.has_exited()) return ProbeEnd::kTargetEnded;
      if (count_reached()) return ProbeEnd::kCount;
      if (options_.duration && now - start_ >= *options_.duration) return ProbeEnd::kDuration;
    }
  }

  // The process executes another program (execve).
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
    for (const SiteCounters& counter : counters) lost += counter.lost;
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
    session::FirstError first;
    first.add(write_losses());
    first.add(document_.end_trace(anchor_.wall_of(time)));
    first.add(document_.end(anchor_.wall_of(time)));
    first.add(output_.finish());
    return first.result();
  }

  void fill(ProbeTraceSummary& summary) {
    summary.counts = events_.counts();
    summary.elements = document_.events().total();
    summary.lost = document_.written_losses();
    summary.cut_stacks = unread_stacks_ + (stacks_ ? stacks_->cut() : 0);
    summary.path = output_.path();
    if (!more_.summary) return;
    const auto counters = source_.counters();
    summary.table = summary_.text(counters ? *counters : std::vector<SiteCounters>(sites_.size()));
  }

  const target::Process& process_;
  ProbeSource& source_;
  const std::vector<TracedSite>& sites_;
  session::TraceOutput& output_;
  const session::TraceOptions& options_;
  const ProbeTraceOptions more_;
  int cancel_fd_;
  ClockAnchor anchor_ = ClockAnchor::now();
  trace::TraceDocument document_;
  PlacingSink placing_;
  ProbeSummary summary_;
  std::unique_ptr<VmFacts> own_facts_;
  VmFacts* facts_;
  bool seen_libjvm_;
  std::uint64_t next_facts_ = 0;
  std::unique_ptr<ProbeStacks> stacks_;
  std::uint64_t unread_stacks_ = 0;  // before the JVM could be read
  ProbeEvents events_;
  session::TraceIdentity identity_;
  std::uint64_t start_ = 0;
};

}  // namespace

ExitStatus ProbeTraceSummary::status() const {
  if (error) return exit_status(*error);
  return lost != 0 || counts.missing_texts != 0 ? ExitStatus::kPartial : ExitStatus::kOk;
}

ProbeTraceSummary run_probe_trace(const target::Process& process, ProbeSource& source,
                                  const std::vector<TracedSite>& sites, session::TraceOutput& output,
                                  const session::TraceOptions& options, const ProbeTraceOptions& more, int cancel_fd) {
  return ProbeTrace(process, source, sites, output, options, more, cancel_fd).run();
}

}  // namespace jtrace::dtrace
