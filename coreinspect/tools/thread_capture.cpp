#include "coreinspect/tools/thread_capture.h"

#include <algorithm>
#include <map>

#include "target/stop_threads.h"

namespace jtrace::coreinspect {
namespace {

using target::Mapping;
using target::StoppedThreads;
using target::ThreadRegisters;

constexpr std::uint64_t kMaxStackCopy = 1u << 20;
constexpr std::uint64_t kRedZone = 128;  // System V ABI, AMD64 3.2.2
// What stopping, copying and releasing one thread costs on a slow machine; corrected by what the first batch took.
constexpr std::chrono::nanoseconds kThreadCost{100'000};

struct Copied {
  Address start = 0;
  std::vector<std::byte> bytes;
};

// As much of [start, end) as can be read.
Copied copy_range(const target::MemoryReader& memory, Address start, Address end) {
  Copied copied{start, std::vector<std::byte>(end - start)};
  std::size_t done = 0;
  while (done < copied.bytes.size()) {
    const auto count = memory.read_some(start + done, std::span(copied.bytes).subspan(done));
    if (!count) break;
    done += *count;
  }
  copied.bytes.resize(done);
  return copied;
}

class Capture {
 public:
  explicit Capture(const Inspection& inspection)
      : inspection_(inspection),
        process_(*inspection.target().process()),
        cache_(*inspection.vm().cached_memory()),
        java_size_(inspection.vm().types().size_of("JavaThread").value_or(0)) {
    if (java_size_ > 65536) java_size_ = 0;
  }

  Result<ThreadCapture> run(std::chrono::milliseconds max_stop, std::span<const pid_t> some) {
    cache_.reset();
    JTRACE_ASSIGN_OR_RETURN(mappings_, process_.maps());
    std::vector<pid_t> tids(some.begin(), some.end());
    if (tids.empty()) {
      JTRACE_ASSIGN_OR_RETURN(tids, process_.threads());
    }
    if (!some.empty()) {
      JTRACE_RETURN_IF_ERROR(run_in_batches(max_stop, tids));
    } else if (kThreadCost * static_cast<std::int64_t>(tids.size()) <= max_stop) {
      JTRACE_ASSIGN_OR_RETURN(auto stopped, StoppedThreads::stop(process_, max_stop));
      take(stopped);
    } else {
      JTRACE_RETURN_IF_ERROR(run_in_batches(max_stop, tids));
    }
    cache_.forget();
    for (Copied& part : copied_) cache_.overlay(part.start, std::move(part.bytes));
    return std::move(result_);
  }

 private:
  Result<> run_in_batches(std::chrono::milliseconds max_stop, std::span<const pid_t> tids) {
    auto cost = kThreadCost;
    result_.batches = 0;
    note_java_stacks();
    while (!tids.empty()) {
      const auto room = std::max<std::int64_t>(1, std::chrono::nanoseconds(max_stop) / cost);
      const auto batch = tids.first(std::min(tids.size(), static_cast<std::size_t>(room)));
      tids = tids.subspan(batch.size());
      auto stopped = StoppedThreads::stop(process_, max_stop, batch);
      if (!stopped && stopped.error().category == ErrorCategory::kNotFound && !process_.has_exited()) continue;
      if (!stopped) return fail(stopped.error());
      const auto pause = take(*stopped);
      ++result_.batches;
      cost = std::max<std::chrono::nanoseconds>(pause / static_cast<std::int64_t>(batch.size()),
                                                std::chrono::nanoseconds(10'000));
    }
    return {};
  }

  // Copies what the threads have, and lets them go.
  std::chrono::nanoseconds take(StoppedThreads& stopped) {
    cache_.forget();
    for (const ThreadRegisters& thread : stopped.threads()) {
      if (stopped.time_left().count() < 0) break;
      copy_stack(thread.registers.sp());
      if (const auto owner = java_stacks_.lower_bound(thread.registers.sp()); owner != java_stacks_.end())
        copy_java_thread(owner->second);
    }
    if (java_stacks_.empty()) copy_all_java_threads(stopped);
    result_.late = result_.late || stopped.time_left().count() < 0;
    result_.threads.insert(result_.threads.end(), stopped.threads().begin(), stopped.threads().end());
    const auto pause = stopped.release();
    result_.pause = std::max<std::chrono::nanoseconds>(result_.pause, pause);
    return pause;
  }

  // Of batches: which JavaThread is on which stack, by the highest address of the stack.
  void note_java_stacks() {
    const auto addresses = java_thread_addresses(inspection_.vm());
    if (!addresses) return;
    for (Address address : *addresses) java_stacks_[java_stack_base(inspection_.vm(), address).value_or(0)] = address;
    java_stacks_.erase(0);
  }
  void copy_all_java_threads(const StoppedThreads& stopped) {
    const auto addresses = java_thread_addresses(inspection_.vm());
    if (!addresses) return;
    for (Address address : *addresses) {
      if (stopped.time_left().count() < 0) return;
      copy_java_thread(address);
    }
  }
  void copy_java_thread(Address address) {
    if (java_size_ > 0) copied_.push_back(copy_range(inspection_.target().memory(), address, address + java_size_));
  }
  void copy_stack(Address sp) {
    const Mapping* mapping = target::find_mapping(mappings_, sp);
    if (!mapping) return;
    const Address start = std::max(mapping->start, sp - kRedZone);
    const Address end = std::min(mapping->end, start + kMaxStackCopy);
    copied_.push_back(copy_range(inspection_.target().memory(), start, end));
  }

  const Inspection& inspection_;
  const target::Process& process_;
  CachedMemory& cache_;
  std::uint64_t java_size_;
  std::vector<Mapping> mappings_;
  std::map<Address, Address> java_stacks_;  // stack base -> JavaThread
  std::vector<Copied> copied_;
  ThreadCapture result_;
};

}  // namespace

Result<ThreadCapture> capture_threads(const Inspection& inspection, std::chrono::milliseconds max_stop,
                                      std::span<const pid_t> tids) {
  return Capture(inspection).run(max_stop, tids);
}

}  // namespace jtrace::coreinspect
