// Poller: samples JVMs at a fixed interval and passes the samples to a PollOutput. It ends if it is stopped, if all
// JVMs have ended or if the plan is complete. Ownership: owns the sources, borrows the output. One thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "perfdata/counter_source.h"
#include "perfdata/gc_tracker.h"
#include "perfdata/poll_loop.h"
#include "perfdata/poll_output.h"
#include "perfdata/tick_clock.h"

namespace jtrace::perfdata {

struct PollSummary {
  std::uint64_t samples = 0;
  std::uint64_t skipped = 0;  // planned times that could not be met
  std::int64_t pauses = 0;
  std::int64_t missed = 0;     // pauses that began and ended between two samples
  std::uint64_t unstable = 0;  // samples without two equal copies
};

class Poller {
 public:
  // `report` gets a line for the user to be shown at once (a JVM has ended).
  Poller(std::vector<CounterSource> sources, PollOutput& output, std::function<void(const std::string&)> report);

  // `stop_fd`: becomes readable to end the poll; -1: none. An error of the output ends the poll; output that can be
  // completed is completed.
  Result<PollSummary> run(const PollPlan& plan, int stop_fd);

 private:
  struct Polled {
    CounterSource source;
    Snapshot snapshot;
    GcTracker tracker;
    TickClock clock;
    std::int64_t last_look = 0;  // ns of CLOCK_MONOTONIC
    bool ended = false;          // its process
    bool closed = false;         // its part of the output
  };

  Result<> begin();
  Result<> loop(PollLoop& pace);
  Result<> sample_all();
  Result<> look_for_pauses_of_all();
  Result<> look_for_pauses(std::size_t jvm, Snapshot& snapshot);
  Result<> end_of(std::size_t jvm);
  Result<> close(std::size_t jvm);
  void watch(PollLoop& pace);
  const ClockAnchor& anchor();

  std::vector<Polled> jvms_;
  std::vector<std::size_t> watched_;  // index of jvms_ for each descriptor that the pace watches
  PollOutput& output_;
  std::function<void(const std::string&)> report_;
  Snapshot scratch_;
  PollSummary summary_;
  std::uint64_t last_flush_ = 0;
  ClockAnchor anchor_;  // for the times of pauses. Renewed once a minute, so that they do not jitter
};

}  // namespace jtrace::perfdata
