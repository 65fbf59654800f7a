#include "agent/methods/method_tracer.h"

#include <inttypes.h>
#include <stdio.h>

#include <algorithm>

#include "agent/callback_guard.h"
#include "agent/guarded_classes.h"
#include "agent/methods/method_counts.h"
#include "agent/methods/wanted_callouts.h"
#include "agent/wakeup.h"
#include "base/clock.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

// The longest time that a thread which links a class waits for its callouts. Normally it takes a millisecond.
constexpr std::uint64_t kMostWait = kNanosPerSecond;

// What the registry asks of this folder (the interface is declared in the floor below).
constexpr CalloutHooks kHooks = {
    [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor) {
      return tracer.numbers().number_of(class_id, name, descriptor);
    },
    [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor,
       std::uint64_t id) { tracer.numbers().keep_number(class_id, name, descriptor, id); },
    [](MethodTracer& tracer, JNIEnv* jni) { tracer.rewrite_urgent(jni); }};

// Whether the calling thread, which waits for a monitor, does so on its way into a synchronized method: the VM has made
// the method's frame by then, and is before its first bytecode. A synchronized block is never there.
bool waits_to_enter_method(jvmtiEnv* jvmti) {
  constexpr jint kSynchronized = 0x20;  // JVMS 4.6
  jmethodID method = nullptr;
  jlocation at = 0;
  jint modifiers = 0;
  return jvmti->GetFrameLocation(nullptr, 0, &method, &at) == JVMTI_ERROR_NONE && at <= 0 &&
         jvmti->GetMethodModifiers(method, &modifiers) == JVMTI_ERROR_NONE && (modifiers & kSynchronized) != 0;
}

// A virtual thread has a stack only while it is in calls of the trace: nothing would free one that it gets here.
void note_monitor_wait(Recorder& recorder, JNIEnv* jni, jthread thread, std::uint64_t id, bool is_over) {
  MethodTracer* tracer = recorder.methods;
  if (tracer == nullptr) return;
  OpenCalls& calls = tracer->area().open_calls();
  OpenCalls::Stack* stack = calls.find(id);
  if (stack == nullptr) {
    Producer* producer = is_over || recorder.threads.is_virtual(jni, thread) ? nullptr : Producer::current();
    if (producer == nullptr) return;
    producer->called_out_as = id;
    stack = tracer->open_calls_of(id);
  }
  if (stack == nullptr) return;
  if (is_over) calls.end_wait(*stack, monotonic_ns());
  else if (waits_to_enter_method(recorder.jvmti)) calls.begin_wait(*stack, monotonic_ns());
}

}  // namespace

MethodTracer::MethodTracer(Recorder& recorder, Wakeup& wakeup)
    : recorder_(recorder),
      wakeup_(wakeup),
      callees_(recorder.jvmti, *recorder.registry, recorder.definitions),
      results_(recorder.definitions),
      retransformer_(recorder.jvmti, numbers_, results_),
      hook_(recorder, numbers_, results_, callees_, retransformer_) {}

void MethodTracer::disconnect() { recorder_.registry->set_callout_hooks(kHooks, nullptr); }

void MethodTracer::connect() {
  recorder_.registry->set_callout_hooks(kHooks, this);
  Producer::release_called_out().store([](std::uint64_t thread) { CalloutArea::get()->release(thread); },
                                       std::memory_order_release);
}

const char* MethodTracer::prepare(JNIEnv* jni, int pool_descriptor) {
  area_ = CalloutArea::get();
  if (area_ == nullptr) return "no memory is left for the callouts' table";
  connect();
  if (recorder_.writer.pool.header().chunk_size != record::kChunkSize) return "the pool's chunks have another size";
  if (const char* error = find_callout_facts(jni, facts_)) return error;
  facts_.chunk_size = record::kChunkSize - record::kGapRoom;
  if (const char* error = define_callout_class(recorder_.jvmti, jni, callout_style(recorder_), facts_, area_))
    return error;
  retransformer_.prepare();
  if (!area_->show_clock(pool_descriptor)) return "the pool's clock cannot be mapped";
  advance_clock(recorder_.writer.pool.header(), monotonic_ns());
  area_->clear();
  area_->open_calls().start(recorder_.config.slower_than, recorder_.config.longest_from);
  if (recorder_.config.slower_than != 0) recorder_.note_monitor_wait = note_monitor_wait;
  hook_.prepare(*area_);
  if (traces_calls())
    if (const char* error = callees_.start(jni)) return error;
  if (counts_calls() && !area_->counts().start(recorder_.threads.own_id())) return "no memory is left for the counters";
  if (jclass string = jni->FindClass("java/lang/String"))
    string_class_ = static_cast<jclass>(jni->NewGlobalRef(string));
  boxes_.start(jni);
  if (recorder_.traces(record::kThrowEvent | record::kCatchEvent)) throwable_.find(jni);
  return nullptr;
}

bool MethodTracer::counts_calls() const { return recorder_.traces(record::kMethodCountEvent); }

bool MethodTracer::traces_calls() const { return recorder_.traces(record::kCallEvent); }

void MethodTracer::set_on(bool on) {
  area_->set_on(on);
  if (on) return;
  area_->clear();
  area_->open_calls().forget();
}

OpenCalls::Stack* MethodTracer::open_calls_of(std::uint64_t thread) {
  OpenCalls::Stack* stack = area_->open_calls().claim(thread);
  if (stack == nullptr) unwatched_.fetch_add(1, std::memory_order_relaxed);
  return stack;
}

void MethodTracer::start(JNIEnv* jni, bool notes_late) {
  server_ = pthread_self();
  active_ = true;
  set_on(true);
  refilter(jni, notes_late);
}

// True if a loaded and linked class has callouts or is to get them.
bool MethodTracer::is_concerned(jclass klass) {
  if (retransformer_.has_callouts(klass)) return true;
  JvmtiText signature(recorder_.jvmti);
  recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  const std::string_view name = internal_name(signature.view());
  return !name.empty() && name.front() != '[' && !is_guarded_class(name) && recorder_.registry->includes_class(name);
}

void MethodTracer::refilter(JNIEnv* jni) {
  hook_.filters_changed();
  refilter(jni, false);
}

// `notes_late`: name the classes that have already run.
void MethodTracer::refilter(JNIEnv* jni, bool notes_late) {
  results_.clear();
  const bool listed = for_each_loaded_class(recorder_.jvmti, jni, [&](jclass klass) {
    jint status = 0;
    recorder_.jvmti->GetClassStatus(klass, &status);
    // A class that is not linked yet gets its callouts at its ClassPrepare event.
    const bool linked = (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
    if (!linked || !is_concerned(klass) || !retransformer_.is_modifiable(klass)) return;
    queue_.add(jni, klass);
    if (notes_late && (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0) note_late(klass);
  });
  late_.finish([this](std::string_view text) { recorder_.definitions.append_option(trace::kLateKey, text); });
  if (!listed) return;
  filter_is_noted_ = false;
}

void MethodTracer::note_late(jclass klass) {
  JvmtiText signature(recorder_.jvmti);
  recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  late_.add(internal_name(signature.view()),
            [this](std::string_view text) { recorder_.definitions.append_option(trace::kLateKey, text); });
}

bool MethodTracer::rewrite_urgent(JNIEnv* jni) {
  if (!queue_.has_urgent()) return false;
  jclass batch[kBatch];
  jint count = 0;
  LocalFrame frame(jni, kBatch + 16);
  if (!queue_.take_urgent(jni, batch, kBatch, count)) return false;
  // A look at a stack cannot interfere: no frame is in a class that is being linked.
  retransformer_.retransform(batch, count, purpose());
  queue_.done();
  return true;
}

bool MethodTracer::rewrite_some(JNIEnv* jni) {
  if (rewrite_urgent(jni)) return true;
  jclass batch[kBatch];
  jint count = 0;
  {
    LocalFrame frame(jni, kBatch + 16);
    if (queue_.take(jni, batch, kBatch, count)) {
      recorder_.looks.close();
      recorder_.writer.note_work(record::AgentWork::kRewriting);
      retransformer_.retransform(batch, count, purpose());
    }
  }
  if (count > 0) return true;
  recorder_.looks.settle(recorder_.jvmti, jni);
  recorder_.writer.note_work(record::AgentWork::kNone);
  if (!filter_is_noted_) {
    filter_is_noted_ = true;
    char text[256];
    const int length = figures(text, sizeof text);
    recorder_.definitions.append_option(trace::kRewrittenKey, std::string_view(text, static_cast<std::size_t>(length)));
  }
  return false;
}

bool MethodTracer::keep_free(std::uint64_t object) {
  if (recorder_.config.slower_than == 0 || removing_) return false;
  late_frees_.add(object);
  return true;
}

void MethodTracer::write_due_frees() {
  constexpr std::uint64_t kInterval = 100'000'000;  // ns
  const std::uint64_t now = monotonic_ns();
  if (now < next_frees_) return;
  next_frees_ = now + kInterval;
  CallbackGuard guard(CallbackGuard::kLifecycle);
  if (guard) write_frees(guard, late_frees_.take_due(area_->open_calls()));
}

void MethodTracer::write_last_frees(const CallbackGuard& guard) { write_frees(guard, late_frees_.take_all()); }

void MethodTracer::write_frees(const CallbackGuard& guard, const std::vector<std::uint64_t>& objects) {
  for (const std::uint64_t object : objects) {
    record::ObjectRecord made{};
    made.id = object;
    guard.write(made, record::RecordKind::kObjFree);
  }
}

void MethodTracer::remove(JNIEnv* jni) {
  set_on(false);
  if (CallbackGuard guard(CallbackGuard::kLifecycle); guard) {
    record::ThreadRecord made{};
    guard.write(made, record::RecordKind::kCalloutsEnd);
  }
  area_->counts().stop();
  if (const std::uint64_t unwatched = unwatched_.load(); unwatched != 0) {
    char text[32];
    recorder_.definitions.append_option(
        trace::kUnwatchedKey,
        std::string_view(text, static_cast<std::size_t>(snprintf(text, sizeof text, "%" PRIu64, unwatched))));
  }
  removing_ = true;
  queue_.close(jni);
  for_each_batch(
      recorder_.jvmti, jni,
      [&](jclass klass) { return retransformer_.has_callouts(klass) || hook_.is_loading(jni, klass); },
      [&](jclass* classes, jint count) { retransformer_.retransform(classes, count, purpose()); });
  if (CallbackGuard guard(CallbackGuard::kLifecycle); guard) write_last_frees(guard);
  if (const std::uint64_t skipped = recorder_.looks.skipped(); skipped != 0) {
    char text[32];
    recorder_.definitions.append_option(
        trace::kUnseenStacksKey,
        std::string_view(text, static_cast<std::size_t>(snprintf(text, sizeof text, "%" PRIu64, skipped))));
  }
  active_ = false;
  callees_.stop(jni);
  numbers_.drop_loading(jni);
}

void MethodTracer::class_file(JNIEnv* jni, jclass redefined, jobject loader, classfile::ByteView bytes, jint* new_size,
                              unsigned char** new_bytes) {
  if (active_ && !removing_) hook_.class_file(jni, redefined, loader, bytes, new_size, new_bytes);
}

void MethodTracer::class_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread) {
  if (!active_ || removing_) return;
  take_prepared(jni, klass, thread);
  // After its methods have their numbers: a callee must get the same number.
  if (traces_calls()) callees_.class_prepared(jni, klass);
}

void MethodTracer::take_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread) {
  JvmtiText signature(recorder_.jvmti);
  if (recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view name = internal_name(signature.view());
  const ClassHook::Prepared known = hook_.class_prepared(jni, klass, name, thread);
  // Unseen: it was loaded before the hook was on, or from a shared archive that bypasses the hook (JDK 8).
  const bool lacks_callouts =
      known == ClassHook::Prepared::kUnseen && !retransformer_.has_callouts(klass) && is_concerned(klass);
  if (lacks_callouts || known == ClassHook::Prepared::kOutdated) rewrite_prepared(jni, klass, name);
}

// The thread that links the class waits until the control thread has retransformed it.
void MethodTracer::rewrite_prepared(JNIEnv* jni, jclass klass, std::string_view name) {
  if (!retransformer_.is_modifiable(klass)) return;
  const std::uint32_t ticket = queue_.add_urgent(jni, klass);
  wakeup_.wake();
  const bool may_wait = ticket != 0 && !recorder_.vm_dead && pthread_equal(server_, pthread_self()) == 0;
  if ((may_wait && queue_.wait_for(ticket, kMostWait)) || removing_) return;
  char text[512];
  const int length = snprintf(text, sizeof text, "%.*s: its first calls may have come before its callouts",
                              static_cast<int>(std::min<std::size_t>(name.size(), 400)), name.data());
  recorder_.definitions.append_option(trace::kLateKey, std::string_view(text, static_cast<std::size_t>(length)));
}

void MethodTracer::write_counts(JNIEnv* jni, const CallbackGuard& guard) {
  if (counts_calls()) write_method_counts(recorder_, results_, area_->counts(), numbers_.counted_methods(), jni, guard);
}

int MethodTracer::coverage(JNIEnv* jni, std::size_t counted, char* text, std::size_t size) {
  return count_coverage(recorder_, results_, jni, counted, text, size);
}

int MethodTracer::figures(char* text, std::size_t size) const { return results_.figures(traces_calls(), text, size); }

}  // namespace jtrace::agent
