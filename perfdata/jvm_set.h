// JvmSet: the JVMs of this machine, each with its counters open; JVMs that start or end are added and removed.
//
// refresh() examines each new process once. A process that is not a JVM is examined again while it is young (a shell
// may become a JVM by exec), and then from time to time. One that has just started and is not ready is examined again
// too, and is not refused yet. Ownership: owns the sources. Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "perfdata/counter_source.h"

namespace jtrace::perfdata {

struct LiveJvm {
  CounterSource source;
  Snapshot snapshot;     // of the last read()
  Snapshot before = {};  // of the one before it
  bool has_before = false;
  std::uint64_t number = 0;  // never used twice
};

class JvmSet {
 public:
  using Say = std::function<void(const std::string& line)>;

  // `report` gets a line for each JVM that starts or ends, `refusal` one for each that cannot be read, and again when
  // the reason is another. Either may be empty.
  JvmSet(const SourceOptions& options, Say report, Say refusal)
      : options_(options), report_(std::move(report)), refusal_(std::move(refusal)) {
    options_.layouts = std::make_shared<LayoutCache>();
  }

  // From now on no other process is looked at; none: all are.
  void keep_to(std::set<pid_t> pids) { only_ = std::move(pids); }
  // True if JVMs were added or removed.
  bool refresh();
  // Takes a new snapshot of each JVM; removes those that cannot be read any more. True if some were removed, or a
  // layout has changed.
  bool read_all();

  const std::vector<std::unique_ptr<LiveJvm>>& jvms() const { return jvms_; }  // by pid
  // JVMs whose counters cannot be read, with the reason.
  const std::map<pid_t, std::string>& refused() const { return refused_; }

 private:
  struct Known {
    std::uint64_t start_ticks = 0;
    std::uint64_t look_again = 0;  // ns of CLOCK_MONOTONIC; 0: never
    std::uint64_t first_seen = 0;
  };
  bool examine(pid_t pid, Known& known, std::uint64_t now);
  void refuse(pid_t pid, const Known& known, const Error& error);
  bool drop_ended();

  SourceOptions options_;
  std::set<pid_t> only_;
  Say report_, refusal_;
  std::map<pid_t, Known> known_;
  std::map<pid_t, std::string> refused_;
  std::vector<std::unique_ptr<LiveJvm>> jvms_;
  std::uint64_t next_number_ = 1;
};

}  // namespace jtrace::perfdata
