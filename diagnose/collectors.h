// The collectors, one for each source of facts. Each belongs to one thread.
#pragma once

#include <optional>

#include "coreinspect/tools/thread_snapshot.h"
#include "diagnose/collect.h"
#include "diagnose/facts.h"
#include "diagnose/lanes.h"
#include "perfdata/counter_source.h"

namespace jtrace::diagnose {

// Facts of the VM's own structures: threads with their stacks and locks, safepoints.
class JvmCollector {
 public:
  JvmCollector(OpenTarget open, const CollectOptions& options) : open_(std::move(open)), options_(options) {}

  // Call it first. Errors: those of opening the target.
  Result<Publish> open();
  Result<Publish> look_at_threads();
  // Takes stacks of the threads that used a whole processor between the last two samples.
  Result<Publish> look_at_busy_threads();
  Result<Publish> look_at_safepoint();
  Result<Publish> look_at_direct_memory();
  Result<Publish> look_at_limits();
  Result<Publish> look_at_mutexes();
  Result<Publish> look_at_malloc();
  // Where the collector works beside the program: native stacks of threads that were runnable in the last sample.
  Result<Publish> look_at_allocations();

 private:
  struct Busy {
    ThreadKey key;
    pid_t tid;
  };
  std::vector<Busy> busy_threads() const;
  bool vm_thread_is_busy() const;  // between the last two samples
  OperationsFact look_at_operations() const;

  OpenTarget open_;
  CollectOptions options_;
  std::unique_ptr<coreinspect::Inspection> inspection_;
  std::optional<coreinspect::ThreadSampler> sampler_;
  std::optional<ThreadsLook> before_, last_;
  std::chrono::nanoseconds stopped_{};  // since the last sample, for other stacks
  std::size_t stops_ = 0;
};

// Counts a stop of the target's threads; 0: there was none.
void add_stop(Collected& collected, std::chrono::nanoseconds pause);

// The used bytes of all code heaps and their size.
struct CodeBytes {
  std::uint64_t used = 0, size = 0;
  bool has_methods = false;
};
// Errors: those of reading the code cache.
Result<CodeBytes> bytes_of_code(const coreinspect::Inspection& inspection);

// Facts of the kernel about a live process.
class ProcessCollector {
 public:
  explicit ProcessCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

// Its control groups: limits, and how near to them it is.
class GroupCollector {
 public:
  explicit GroupCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

// The file systems of the folders that the JVM writes to.
class DiskCollector {
 public:
  explicit DiskCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
};

// The sockets of the process that it has not closed.
class SocketCollector {
 public:
  explicit SocketCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();

 private:
  pid_t pid_;
  std::optional<target::Process> process_;
};

// A connection of /proc/PID/net/tcp or tcp6 (proc_net_tcp.rst).
struct TcpLine {
  std::string peer;  // "10.0.0.7:443", "[::1]:443"
  int state = 0;     // include/net/tcp_states.h: 1 established, 8 closed by the peer
  std::uint64_t inode = 0;
};
std::vector<TcpLine> parse_tcp(std::string_view text);
// The inode of the socket to which a link of /proc/PID/fd leads; nothing if it leads to something else.
std::optional<std::uint64_t> socket_at(int folder, const char* name);

// The JVM's counters in its hsperfdata file.
class CounterCollector {
 public:
  explicit CounterCollector(pid_t pid) : pid_(pid) {}
  Result<Publish> look();
  // Again and again for the time `span`.
  Result<Publish> look_often(std::chrono::milliseconds between, std::chrono::milliseconds span);

 private:
  Result<CounterFact> read();

  pid_t pid_;
  std::optional<perfdata::CounterSource> source_;
};

}  // namespace jtrace::diagnose
