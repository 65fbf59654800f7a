// CallbackGuard: how a callback of the JVM, or a native of a callout, reaches the trace that is running.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/producer.h"
#include "agent/recorder.h"

namespace jtrace::agent {

// Lets a callback use the recorder, which exists as long as the guard. False if there is no trace, if the thread is
// inside a callback already (the agent's own work in a callback makes events, which are dropped), after the thread's
// threadEnd, and while the trace is paused; the last two depend on the kind.
class CallbackGuard {
 public:
  // kOrdinary: is complete by itself, or begins something. kEnd: ends something that may have begun in the trace; also
  // while paused. kLifecycle: keeps the document complete (starts and ends of threads, definitions, collections); also
  // while paused and after threadEnd.
  enum Kind { kOrdinary, kEnd, kLifecycle };
  explicit CallbackGuard(Kind kind = kOrdinary);
  CallbackGuard(const CallbackGuard&) = delete;
  CallbackGuard& operator=(const CallbackGuard&) = delete;
  ~CallbackGuard();

  explicit operator bool() const { return recorder_ != nullptr; }
  Recorder& recorder() const { return *recorder_; }
  Producer& producer() const { return *producer_; }

  template <class Record>
  void write(Record& made, record::RecordKind kind, bool may_block = true) const {
    producer_->write(recorder_->writer, made, kind, may_block);
  }

  // The recorder that guards return; nullptr: there is no trace.
  static std::atomic<Recorder*>& current();
  // Releases the chunk of a thread that ends.
  static void leave_pool(Producer& producer);
  // Waits until no thread is inside a callback; current() must be nullptr already. False after `limit_ms`.
  static bool wait_until_empty(std::uint32_t limit_ms);

 private:
  Producer* producer_;
  Recorder* recorder_ = nullptr;
};

}  // namespace jtrace::agent
