#include "agent/jvmpi/gc_events.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {
namespace {

// How long to wait for the frees of a collection, and after how long a silence no more are expected. A free that comes
// later gets a GC_START and GC_FINISH of its own.
constexpr int kFreesFollow = 200;  // ms
constexpr int kSilence = 20;       // ms

}  // namespace

GcEvents::GcEvents(Bridge& bridge) : bridge_(bridge), wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  pthread_mutex_init(&lock_, nullptr);
  pthread_mutex_init(&delivering_, nullptr);
}

void GcEvents::send_start() {
  if (!bridge_.wants(JVMPI_EVENT_GC_START)) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_GC_START, nullptr);
  bridge_.notify(event);
}

void GcEvents::send_finish(const HeapFigures& figures) {
  if (!bridge_.wants(JVMPI_EVENT_GC_FINISH)) return;
  JVMPI_Event event = event_of(JVMPI_EVENT_GC_FINISH, nullptr);
  event.u.gc_info.used_object_space = figures.used;
  event.u.gc_info.total_object_space = figures.total;
  bridge_.notify(event);
}

void GcEvents::started() {
  if (in_pause_) send_start();
}

void GcEvents::finished() {
  const HeapFigures figures = counters_.read();
  if (in_pause_) send_finish(figures);
  else if (running_) push({0, figures});
}

void GcEvents::freed(jlong tag) {
  if (running_) push({tag, {}});
}

void GcEvents::push(const Item& item) {
  pthread_mutex_lock(&lock_);
  const bool first = queue_.empty();
  queue_.push_back(item);
  pthread_mutex_unlock(&lock_);
  if (!first) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(wakeup_.get(), &one, sizeof one);
}

bool GcEvents::start_thread(JNIEnv* jni) {
  if (running_.exchange(true)) return true;
  jthread thread = bridge_.own_thread;
  if (thread != nullptr &&
      bridge_.jvmti->RunAgentThread(thread, run, this, JVMTI_THREAD_NORM_PRIORITY) == JVMTI_ERROR_NONE)
    return true;
  running_ = false;
  jni->ExceptionClear();
  return false;
}

void GcEvents::run(jvmtiEnv*, JNIEnv* jni, void* self) {
  auto& events = *static_cast<GcEvents*>(self);
  for (;;) {
    events.wait_for_batch();
    events.deliver(jni);
  }
}

// Waits for the first free, then until no more come.
void GcEvents::wait_for_batch() {
  pollfd wakeup{wakeup_.get(), POLLIN, 0};
  while (poll(&wakeup, 1, -1) <= 0) {
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = read(wakeup_.get(), &count, sizeof count);
  std::size_t had = 0;
  for (int waited = 0; waited < kFreesFollow; waited += kSilence) {
    poll(nullptr, 0, kSilence);
    pthread_mutex_lock(&lock_);
    const bool silent = queue_.size() == had && had > 0 && queue_.back().tag != 0;
    had = queue_.size();
    pthread_mutex_unlock(&lock_);
    if (silent) return;
  }
}

void GcEvents::deliver(JNIEnv* jni) {
  pthread_mutex_lock(&delivering_);
  std::vector<Item> batch;
  pthread_mutex_lock(&lock_);
  batch.swap(queue_);
  pthread_mutex_unlock(&lock_);
  for (std::size_t at = 0; at < batch.size();) at = deliver_pair(jni, batch, at);
  pthread_mutex_unlock(&delivering_);
}

// Sends a collection and its frees; frees without a collection get a pair of their own.
std::size_t GcEvents::deliver_pair(JNIEnv* jni, const std::vector<Item>& batch, std::size_t from) {
  const std::size_t first = batch[from].tag == 0 ? from + 1 : from;
  std::size_t end = first;
  bool any_object = false;
  for (; end < batch.size() && batch[end].tag != 0; ++end) any_object = any_object || (batch[end].tag & kIsClass) == 0;
  if (first != from || (any_object && bridge_.wants(JVMPI_EVENT_OBJECT_FREE))) {
    send_start();
    for (std::size_t i = first; i < end && bridge_.wants(JVMPI_EVENT_OBJECT_FREE); ++i) {
      if ((batch[i].tag & kIsClass) != 0) continue;
      JVMPI_Event event = event_of(JVMPI_EVENT_OBJECT_FREE, nullptr);
      event.u.obj_free.obj_id = id_of_tag(batch[i].tag);
      bridge_.notify(event);
    }
    send_finish(first != from ? batch[from].figures : counters_.read());
  }
  for (std::size_t i = first; i < end && bridge_.wants(JVMPI_EVENT_CLASS_UNLOAD); ++i) {
    // A class that was loaded but never linked was not reported.
    if ((batch[i].tag & kIsClass) == 0 || (bridge_.wants(JVMPI_EVENT_CLASS_LOAD) && (batch[i].tag & kReported) == 0))
      continue;
    JVMPI_Event event = event_of(JVMPI_EVENT_CLASS_UNLOAD, jni);
    event.u.class_unload.class_id = id_of_tag(batch[i].tag);
    bridge_.notify(event);
  }
  return end;
}

void GcEvents::deliver_rest() {
  if (running_) deliver(bridge_.current_env());
}

}  // namespace jtrace::agent::jvmpi
