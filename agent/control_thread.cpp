#include "agent/control_thread.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "agent/control_socket.h"
#include "agent/cycle_watch.h"
#include "agent/handshake.h"
#include "agent/heap_words.h"
#include "agent/libc_floor.h"
#include "agent/methods/method_tracer.h"
#include "agent/waits/wait_tracer.h"
#include "base/clock.h"

namespace jtrace::agent {
namespace {

// Blocks all signals except those that a fault raises in the thread itself (HotSpot uses them for safepoint polls and
// null checks) and SIGUSR2, by which HotSpot suspends a thread to read its stack (os_posix.cpp, SR_signum).
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGUSR2}) sigdelset(&all, signal);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// Runtime.totalMemory() and freeMemory(): what every JDK has, whatever its collector.
class RuntimeFigures {
 public:
  explicit RuntimeFigures(JNIEnv* jni) : jni_(jni) {
    LocalFrame frame(jni, 4);
    jclass runtime_class = jni->FindClass("java/lang/Runtime");
    if (runtime_class == nullptr) {
      jni->ExceptionClear();
      return;
    }
    jmethodID get = jni->GetStaticMethodID(runtime_class, "getRuntime", "()Ljava/lang/Runtime;");
    total_ = jni->GetMethodID(runtime_class, "totalMemory", "()J");
    free_ = jni->GetMethodID(runtime_class, "freeMemory", "()J");
    jobject runtime = jni->CallStaticObjectMethod(runtime_class, get);
    if (failed() || runtime == nullptr) return;
    runtime_ = jni->NewGlobalRef(runtime);
  }
  RuntimeFigures(const RuntimeFigures&) = delete;
  RuntimeFigures& operator=(const RuntimeFigures&) = delete;
  ~RuntimeFigures() {
    if (runtime_ != nullptr) jni_->DeleteGlobalRef(runtime_);
  }
  bool read(std::uint64_t& used, std::uint64_t& total) const {
    if (runtime_ == nullptr) return false;
    const jlong committed = jni_->CallLongMethod(runtime_, total_);
    if (failed()) return false;
    const jlong unused = jni_->CallLongMethod(runtime_, free_);
    if (failed()) return false;
    total = static_cast<std::uint64_t>(committed);
    used = static_cast<std::uint64_t>(committed - unused);
    return true;
  }

 private:
  // Whether the last Java call threw (an OutOfMemoryError may hit anywhere); the exception is not the application's to
  // see.
  bool failed() const {
    if (!jni_->ExceptionCheck()) return false;
    jni_->ExceptionClear();
    return true;
  }

  JNIEnv* jni_;
  jobject runtime_ = nullptr;
  jmethodID total_ = nullptr;
  jmethodID free_ = nullptr;
};

constexpr int kClassesInterval = 100;  // ms

class ControlThread {
 public:
  ControlThread(AgentSession& session, JNIEnv* jni) : session_(session), jni_(jni), figures_(jni) {}

  void run() {
    set_time_out(session_.control.get(), 0);
    if (session_.waits != nullptr) session_.waits->start(jni_);
    send_started(session_.control.get(), session_.granted_events, session_.left_out());
    start_watching();
    if (session_.methods != nullptr) session_.methods->start(jni_, session_.started_with_vm);
    owes_classes_ = session_.config.has_flag(record::kAllLoadedClasses);
    // A program waits for its callouts at its start.
    if (!session_.started_with_vm || session_.methods == nullptr) all_is_on();
    while (wait() && !done_) {
    }
    if (!done_) session_.writer.stop_waiting();
    session_.stop(jni_);
    if (done_) send_frame(session_.control.get(), record::FrameType::kDetached, nullptr, 0);
  }

 private:
  void all_is_on() {
    session_.announce_all_is_on();
    if (owes_classes_) session_.registry->define_loaded_classes(jni_);
    owes_classes_ = false;
  }

  // One wake-up; false at the hang-up of jtrace.
  bool wait() {
    pollfd sources[2] = {{session_.control.get(), POLLIN, 0}, {session_.wakeup.descriptor(), POLLIN, 0}};
    int limit = -1;
    // Classes that wait for their callouts, and ends of objects; more may come at any time.
    if (session_.methods != nullptr) {
      session_.methods->write_due_frees();
      const bool has_more = session_.methods->rewrite_some(jni_);
      limit = has_more ? 0 : kClassesInterval;
      if (!has_more) all_is_on();
    }
    if (const int look = cycles_.next_look(monotonic_ns()); look >= 0 && (limit < 0 || look < limit)) limit = look;
    const int ready = poll(sources, 2, limit);
    look_for_end_of_cycle();
    if (ready <= 0) return true;
    if ((sources[1].revents & POLLIN) != 0) write_figures();
    return sources[0].revents == 0 || answer();
  }

  // Collectors whose counters are right after a pause collect within it.
  bool watches_cycles() const { return session_.traces(record::kGcEvent) && session_.counters().used.empty(); }
  void start_watching() {
    if (watches_cycles()) cycles_.start(session_.counters(), monotonic_ns());
  }
  void look_for_end_of_cycle() {
    if (!watches_cycles()) return;
    const record::CountersFields& counters = session_.counters();
    record::GcFinishRecord made{};
    made.header.number = session_.collections.figures_wanted.load(std::memory_order_acquire);
    const CycleWatch::Look look = cycles_.look(counters, made.header.number, monotonic_ns());
    if (look == CycleWatch::Look::kGoesOn) return;
    const std::uint64_t used = used_in(counters.spaces);
    if (!figures_.read(made.used, made.total)) return;
    if (!counters.spaces.empty()) made.used = used;
    if (cycles_.ended_is_partial()) made.header.flags |= record::kIsPartial;
    if (look == CycleWatch::Look::kAnotherRuns) made.header.flags |= record::kAnotherRuns;
    CallbackGuard guard(CallbackGuard::kLifecycle);
    if (guard) guard.write(made, record::RecordKind::kCycleEnd);
  }

  void write_figures() {
    session_.wakeup.clear();
    record::GcFinishRecord made{};
    made.header.number = session_.collections.figures_wanted.load(std::memory_order_acquire);
    if (made.header.number == figures_written_ || !figures_.read(made.used, made.total)) return;
    figures_written_ = made.header.number;
    // A collection that ends during the read changes the figures; it asks for its own afterwards.
    CallbackGuard guard;
    if (guard) guard.write(made, record::RecordKind::kGcFigures);
  }

  bool answer() {
    Frame frame;
    if (!receive_frame(session_.control.get(), frame)) return false;
    switch (frame.type) {
      case record::FrameType::kDetach: done_ = true; return true;
      case record::FrameType::kPause: return set_paused(true);
      case record::FrameType::kResume: return set_paused(false);
      case record::FrameType::kQuery: return send_answer({});
      case record::FrameType::kCount: return count();
      case record::FrameType::kCounters: take_counters(frame.payload); return true;
      case record::FrameType::kFilters: {
        FilterBlock filters;
        if (!decode_filters(static_cast<std::vector<std::byte>&&>(frame.payload), filters))
          return send_answer({}, record::AnswerStatus::kMalformed);
        session_.registry->set_filters(static_cast<FilterBlock&&>(filters));
        if (session_.methods != nullptr) session_.methods->refilter(jni_);
        return send_answer({});
      }
      default: return send_answer({}, record::AnswerStatus::kUnknownFrame);
    }
  }

  // Callbacks may hold the ones that were taken before, so they are taken once.
  void take_counters(std::span<const std::byte> payload) {
    if (session_.collections.counters.load(std::memory_order_relaxed) != nullptr) return;
    if (!decode_counters(payload, session_.late_counters)) return;
    session_.collections.counters.store(&session_.late_counters, std::memory_order_release);
    start_watching();
  }

  // Over the socket, not through the pool, where they would come after everything that is not drained yet.
  bool count() {
    constexpr std::size_t kCountsPerFrame = 32'768;
    if (session_.methods == nullptr || session_.vm_dead) return send_answer({}, record::AnswerStatus::kNothingCounted);
    const std::vector<std::uint32_t> counted = session_.methods->counted_methods();
    record::CountsFields frame;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      frame.counts.push_back({counted[i], session_.methods->area().counts().sum(counted[i])});
      const bool is_whole = frame.counts.size() == kCountsPerFrame || i + 1 == counted.size();
      if (!is_whole) continue;
      if (!send_frame(session_.control.get(), frame)) return false;
      frame.counts.clear();
    }
    char text[320];
    const int length = session_.methods->coverage(jni_, counted.size(), text, sizeof text);
    return send_answer(
        {.has_counts = 1, .counted = counted.size(), .coverage = {text, static_cast<std::size_t>(length)}});
  }

  bool set_paused(bool paused) {
    session_.paused = paused;
    if (session_.methods != nullptr) {
      // A thread that is in a callout's native code now may still write: it has seen that the trace is not paused.
      for (int i = 0; paused && i < 100 && !CallbackGuard::wait_until_empty(10); ++i)
        session_.methods->rewrite_urgent(jni_);
      session_.methods->set_on(!paused);
    }
    session_.writer.pool.header().agent_state.store(
        static_cast<std::uint32_t>(paused ? record::AgentState::kPaused : record::AgentState::kTracing));
    return send_answer({});
  }

  // Adds what every answer has: status, pause, collections.
  bool send_answer(record::AnswerFields answer, record::AnswerStatus status = record::AnswerStatus::kOk) {
    answer.status = static_cast<std::uint32_t>(status);
    answer.paused = session_.paused ? 1 : 0;
    answer.collections = session_.collections.number.load();
    char figures[512];
    if (session_.methods != nullptr) {
      const int length = session_.methods->figures(figures, sizeof figures);
      answer.has_callouts = 1;
      answer.methods_with_callouts = session_.methods->methods_with_callouts();
      answer.rewritten = {figures, static_cast<std::size_t>(length)};
    }
    return send_frame(session_.control.get(), answer);
  }

  AgentSession& session_;
  JNIEnv* jni_;
  RuntimeFigures figures_;
  CycleWatch cycles_;
  bool done_ = false;
  bool owes_classes_ = false;  // the definitions of those that were loaded before
  std::uint32_t figures_written_ = 0;
};

void JNICALL control_thread_main(jvmtiEnv*, JNIEnv* jni, void* argument) {
  std::unique_ptr<AgentSession> session(static_cast<AgentSession*>(argument));
  block_signals();
  session->threads.release_own(jni);
  ControlThread(*session, jni).run();
  const bool is_in_use = session->registry != nullptr;  // stop() kept it, for a callback that does not end
  if (is_in_use) session.release();
}

}  // namespace

// The thread may have ended, and the session with it, before RunAgentThread returns.
bool run_control_thread(std::unique_ptr<AgentSession>& session) {
  AgentSession* const given = session.release();
  if (given->jvmti->RunAgentThread(given->threads.own(), control_thread_main, given, JVMTI_THREAD_NORM_PRIORITY) ==
      JVMTI_ERROR_NONE)
    return true;
  session.reset(given);
  return false;
}

}  // namespace jtrace::agent
