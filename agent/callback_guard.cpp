#include "agent/callback_guard.h"

#include <unistd.h>

namespace jtrace::agent {
namespace {

constinit std::atomic<Recorder*> g_recorder{nullptr};

}  // namespace

std::atomic<Recorder*>& CallbackGuard::current() { return g_recorder; }

CallbackGuard::CallbackGuard(Kind kind) : producer_(Producer::current()) {
  if (producer_ == nullptr) return;
  // Store, then load, in one total order with the store and loads of wait_until_empty(): either this thread sees that
  // the session has ended, or that function sees this thread inside.
  if (producer_->in_callback().fetch_add(1, std::memory_order_seq_cst) != 0) return;
  Recorder* recorder = g_recorder.load(std::memory_order_seq_cst);
  if (recorder == nullptr || (kind == kOrdinary && recorder->paused.load(std::memory_order_relaxed))) return;
  if (kind != kLifecycle && producer_->thread_is_over) {
    recorder->writer.pool.header().filtered_events.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  recorder_ = recorder;
}

CallbackGuard::~CallbackGuard() {
  if (producer_ != nullptr) producer_->in_callback().fetch_sub(1, std::memory_order_release);
}

void CallbackGuard::leave_pool(Producer& producer) {
  if (producer.in_callback().fetch_add(1, std::memory_order_seq_cst) == 0) {
    if (Recorder* recorder = g_recorder.load(std::memory_order_seq_cst)) producer.leave(recorder->writer);
  }
  producer.in_callback().fetch_sub(1, std::memory_order_release);
}

// The session is no longer current: a thread that was once seen outside cannot enter again.
bool CallbackGuard::wait_until_empty(std::uint32_t limit_ms) {
  std::uint32_t waited = 0;
  bool empty = true;
  Producer::for_each([&](Producer& p) {
    for (; p.in_callback().load(std::memory_order_seq_cst) != 0; ++waited) {
      if (waited >= limit_ms) {
        empty = false;
        return;
      }
      usleep(1000);
    }
  });
  return empty;
}

}  // namespace jtrace::agent
