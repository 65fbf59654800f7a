#include "agent/methods/method_tracer.h"

#include <inttypes.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>

#include "agent/callback_guard.h"
#include "agent/guarded_classes.h"
#include "agent/methods/pool_room.h"
#include "agent/wakeup.h"
#include "base/clock.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::Method;
using classfile::MethodPlan;

// The longest time that a thread which links a class waits for its probes. Normally it takes a millisecond.
constexpr std::uint64_t kMostWait = kNanosPerSecond;

// Gives the rewriter the numbers of the methods that a class calls.
struct CalleesOf {
  Callees& callees;
  JNIEnv* jni;
  jobject loader;

  static std::uint32_t number(void* context, const ClassFile::Reference& callee, bool is_static) {
    const auto& of = *static_cast<const CalleesOf*>(context);
    return of.callees.number(of.jni, of.loader, callee, is_static);
  }
};

Definition definition_of(const ClassFile& klass, const Method& method, std::uint32_t number, std::uint64_t class_id) {
  const classfile::LineRange lines = classfile::line_range(klass, method);
  DefinedItems exceptions;
  classfile::for_each_exception(klass, method, [&](std::string_view name) { exceptions.add_text(name); });
  return Definition(number, record::MethodFields{.class_id = class_id,
                                                 .access = method.access,
                                                 .first_line = lines.first,
                                                 .last_line = lines.last,
                                                 .name = method.name,
                                                 .signature = method.descriptor,
                                                 .exceptions = exceptions.view()});
}

}  // namespace

namespace {

// What the registry asks of this folder (the interface is declared in the floor below).
constexpr ProbeHooks kHooks = {
    [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor) {
      return tracer.numbers().number_of(class_id, name, descriptor);
    },
    [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor,
       std::uint64_t id) { tracer.numbers().keep_number(class_id, name, descriptor, id); },
    [](MethodTracer& tracer, JNIEnv* jni) { tracer.rewrite_urgent(jni); }};

}  // namespace

MethodTracer::MethodTracer(Recorder& recorder, Wakeup& wakeup)
    : recorder_(recorder),
      wakeup_(wakeup),
      callees_(recorder.jvmti, *recorder.registry, recorder.definitions),
      results_(recorder.definitions) {}

void MethodTracer::disconnect() { recorder_.registry->set_probe_hooks(kHooks, nullptr); }

void MethodTracer::connect() {
  recorder_.registry->set_probe_hooks(kHooks, this);
  Producer::release_probed().store([](std::uint64_t thread) { ProbeArea::get()->release(thread); },
                                   std::memory_order_release);
}

const char* MethodTracer::prepare(JNIEnv* jni, int pool_descriptor) {
  area_ = ProbeArea::get();
  if (area_ == nullptr) return "no memory is left for the probes' table";
  connect();
  if (recorder_.writer.pool.header().chunk_size != record::kChunkSize) return "the pool's chunks have another size";
  if (const char* error = find_probe_facts(jni, facts_)) return error;
  facts_.chunk_size = record::kChunkSize - record::kGapRoom;
  if (const char* error = define_probe_class(recorder_.jvmti, jni, style(), facts_, area_)) return error;
  measures_pools_ = !checks_pool_room(recorder_.jvmti);
  if (!area_->show_clock(pool_descriptor)) return "the pool's clock cannot be mapped";
  advance_clock(recorder_.writer.pool.header(), monotonic_ns());
  area_->clear();
  area_->open_calls().start(recorder_.config.slower_than);
  first_number_ = Registry::next_method_ids(0);
  if (traces_calls())
    if (const char* error = callees_.start(jni)) return error;
  if (counts_calls() && !area_->counts().start(recorder_.threads.own_id())) return "no memory is left for the counters";
  if (jclass string = jni->FindClass("java/lang/String"))
    string_class_ = static_cast<jclass>(jni->NewGlobalRef(string));
  if (recorder_.traces(record::kThrowEvent | record::kCatchEvent)) throwable_.find(jni);
  return nullptr;
}

ProbeStyle MethodTracer::style() const {
  return {recorder_.config.has_flag(record::kPreciseTime) ? ProbeTime::kPrecise : ProbeTime::kCoarse,
          recorder_.config.slower_than != 0 ? ProbeCalls::kSlow : ProbeCalls::kEach,
          recorder_.config.has_flag(record::kCpuTime)};
}

namespace {

// What rewrite_class() is asked for if any of the events was granted, or if the trace has the flag.
struct ProbesOf {
  std::uint64_t events;
  std::uint32_t flag;
  std::uint32_t options;
};
constexpr ProbesOf kProbesOf[] = {
    {record::kMethodEvent, 0, classfile::kProbeEntry | classfile::kProbeExit},
    {record::kMethodCountEvent, 0, classfile::kProbeCount},
    {0, record::kArguments, classfile::kProbeArguments},
    {0, record::kReturnValues, classfile::kProbeResult},
    {0, record::kReceivers, classfile::kProbeReceiver | classfile::kProbeConstructed},
    {record::kAllocationEvent, 0, classfile::kProbeArrays | classfile::kProbeNew | classfile::kProbeSites},
    {record::kThrowEvent, 0, classfile::kProbeThrow},
    {record::kCatchEvent, 0, classfile::kProbeCatch},
    {record::kLineEvent, 0, classfile::kProbeLine},
    {record::kCallEvent, 0, classfile::kProbeCalls | classfile::kProbeFrames},
};
// Options for which the class that probes call has no methods. With sites, arrays and new instances call made().
constexpr std::uint32_t kWithSites = classfile::kProbeArrays | classfile::kProbeNew;
static_assert(
    [] {
      for (const ProbesOf& each : kProbesOf)
        if ((each.options & ~(probe_options(ProbeCalls::kEach) | kWithSites)) != 0) return false;
      return true;
    }(),
    "rewritten code would call a method that the class of probes does not have");
static_assert(
    [] {
      std::uint64_t events = 0;
      for (const ProbesOf& each : kProbesOf) events |= each.events;
      return events == record::kProbeEvents;
    }(),
    "an event of probes (events.def) for which no probe is inserted");

}  // namespace

std::uint32_t MethodTracer::probes() const {
  std::uint32_t wanted = 0;
  for (const ProbesOf& each : kProbesOf)
    if (recorder_.traces(each.events) || recorder_.config.has_flag(each.flag)) wanted |= each.options;
  return wanted;
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

bool MethodTracer::is_modifiable(jclass klass) const {
  jboolean modifiable = JNI_FALSE;
  return recorder_.jvmti->IsModifiableClass(klass, &modifiable) == JVMTI_ERROR_NONE && modifiable != JNI_FALSE;
}

// True if a loaded and linked class has probes or is to get them.
bool MethodTracer::is_concerned(jclass klass) {
  if (has_probes(klass)) return true;
  JvmtiText signature(recorder_.jvmti);
  recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  const std::string_view name = internal_name(signature.view());
  return !name.empty() && name.front() != '[' && !is_guarded_class(name) && recorder_.registry->includes_class(name);
}

void MethodTracer::refilter(JNIEnv* jni) {
  filters_.fetch_add(1);
  refilter(jni, false);
}

// `notes_late`: name the classes that have already run.
void MethodTracer::refilter(JNIEnv* jni, bool notes_late) {
  results_.clear();
  const bool listed = for_each_loaded_class(recorder_.jvmti, jni, [&](jclass klass) {
    jint status = 0;
    recorder_.jvmti->GetClassStatus(klass, &status);
    // A class that is not linked yet gets its probes at its ClassPrepare event.
    const bool linked = (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
    if (!linked || !is_concerned(klass) || !is_modifiable(klass)) return;
    queue_.add(jni, klass);
    if (notes_late && (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0) note_late(klass);
  });
  late_.finish([this](std::string_view text) { recorder_.definitions.append_option(trace::kLateKey, text); });
  if (!listed) return;
  filter_is_noted_ = false;
}

bool MethodTracer::has_probes(jclass klass) {
  jlong tag = 0;
  recorder_.jvmti->GetTag(klass, &tag);
  return (tag & kTagIsClass) != 0 && numbers_.has_probes(id_of_tag(tag));
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
  if (count > 0) retransform(batch, with_room(batch, count));
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
      retransform(batch, with_room(batch, count));
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

// Moves the classes that the JVM can retransform once more to the front. Returns how many.
jint MethodTracer::with_room(jclass* classes, jint count) {
  if (!measures_pools_) return count;
  jint kept = 0;
  for (jint i = 0; i < count; ++i) {
    const bool has = removing_ || has_probes(classes[i]) ? has_room_to_restore(recorder_.jvmti, classes[i])
                                                         : has_pool_room(recorder_.jvmti, classes[i]);
    if (has) {
      classes[kept++] = classes[i];
      continue;
    }
    results_.add_refused();
    JvmtiText signature(recorder_.jvmti);
    recorder_.jvmti->GetClassSignature(classes[i], signature.out(), nullptr);
    results_.note(internal_name(signature.view()), "",
                  "it was rewritten so often that its constant pool has no room left (JDK-8311076)");
  }
  return kept;
}

// If the JVM refuses one class, the whole batch fails. Then they are tried one by one.
void MethodTracer::retransform(const jclass* classes, jint count) {
  if (count == 0) return;
  if (recorder_.jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jvmtiError error = recorder_.jvmti->RetransformClasses(1, &classes[i]);
    if (error == JVMTI_ERROR_NONE) continue;
    results_.add_refused();
    if (removing_) continue;
    JvmtiText signature(recorder_.jvmti);
    recorder_.jvmti->GetClassSignature(classes[i], signature.out(), nullptr);
    char why[64];
    snprintf(why, sizeof why, "the JVM refused it (JVM TI error %d)", static_cast<int>(error));
    results_.note(signature.view(), "", why);
  }
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
      recorder_.jvmti, jni, [&](jclass klass) { return has_probes(klass) || is_loading(jni, klass); },
      [&](jclass* classes, jint count) { retransform(classes, with_room(classes, count)); });
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

void MethodTracer::skip_class(const ClassFile& klass, const char* why) {
  results_.add_skipped(klass.methods().size());
  results_.note(klass.name(), "", why);
}

// True if the class was rewritten while it was loaded and has not been prepared since.
bool MethodTracer::is_loading(JNIEnv* jni, jclass klass) {
  if (!numbers_.has_loading()) return false;
  JvmtiText signature(recorder_.jvmti);
  recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  jobject loader = nullptr;
  recorder_.jvmti->GetClassLoader(klass, &loader);
  const bool found = numbers_.is_loading(jni, internal_name(signature.view()), loader);
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  return found;
}

std::vector<MethodPlan> MethodTracer::plan(const ClassFile& klass, const Numbered& numbers) {
  std::vector<MethodPlan> plans(klass.methods().size());
  const std::uint32_t wanted = probes();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Method& method = klass.methods()[i];
    plans[i].number = numbers.number(i);
    if (recorder_.registry->includes_method(klass.name(), method.name)) plans[i].probes = wanted;
    // Two methods of one session never share a counter.
    if (plans[i].number - first_number_ >= CallCounts::kMethods)
      plans[i].probes &= ~std::uint32_t{classfile::kProbeCount};
  }
  return plans;
}

void MethodTracer::class_file(JNIEnv* jni, jclass redefined, jobject loader, classfile::ByteView bytes, jint* new_size,
                              unsigned char** new_bytes) {
  if (!active_ || removing_) return;
  const std::uint32_t filters = filters_.load();
  ClassFile klass;
  if (!klass.parse(bytes)) {
    results_.add_unreadable();
    return;
  }
  const bool included = !is_guarded_class(klass.name()) && recorder_.registry->includes_class(klass.name());
  if (!included && redefined == nullptr) return;
  std::uint64_t id = 0;
  Numbered numbers;
  if (redefined != nullptr) {
    if (!included) return set_probes(redefined, false);
    const bool defined = patiently([&] { return (id = recorder_.registry->class_id(jni, redefined, 0, true)) != 0; });
    if (!defined) return skip_class(klass, "there was no room for its definition");
    numbers = numbers_.of_redefined(jni, klass, loader, id);
  } else {
    const char* const refusal = numbers_.of_loading(jni, klass, loader, numbers);
    if (refusal != nullptr) return skip_class(klass, refusal);
  }
  // The class may call its own methods; caller and callee must use the same numbers.
  if (redefined != nullptr && traces_calls() && !define(klass, numbers, id)) return;
  std::vector<MethodPlan> plans = plan(klass, numbers);
  classfile::Bytes out;
  CalleesOf callees{callees_, jni, loader};
  const classfile::ClassOutcome outcome =
      classfile::rewrite_class(klass, probe_class_name(style()), plans, out, {CalleesOf::number, &callees});
  if (outcome != classfile::ClassOutcome::kRewritten) {
    if (redefined != nullptr) set_probes(redefined, false);
    if (outcome == classfile::ClassOutcome::kPoolFull) results_.add_skipped(plans.size());
    return count(klass, plans);
  }
  unsigned char* memory = nullptr;
  if (recorder_.jvmti->Allocate(static_cast<jlong>(out.size()), &memory) != JVMTI_ERROR_NONE) return;
  numbers.has_probes = true;
  if (loader == nullptr) area_->note_boot_probes();
  note_counted(numbers, plans);
  if (redefined == nullptr) {
    remember(jni, klass, numbers, loader, filters);
  } else if (!define(klass, numbers, id)) {
    recorder_.jvmti->Deallocate(memory);
    return;
  }
  count(klass, plans);
  std::memcpy(memory, out.data(), out.size());
  *new_bytes = memory;
  *new_size = static_cast<jint>(out.size());
}

void MethodTracer::set_probes(jclass klass, bool has) {
  jlong tag = 0;
  recorder_.jvmti->GetTag(klass, &tag);
  numbers_.set_probes(id_of_tag(tag), has);
}

// A definition that finds no room is tried again, because the drainer frees room. This thread (the one that
// retransforms) may wait, but only once for a drainer that does not come.
template <class Try>
bool MethodTracer::patiently(Try&& attempt) {
  if (attempt()) return true;
  const record::PoolHeader& header = recorder_.writer.pool.header();
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t pass = std::uint64_t{header.drained_pass.load(std::memory_order_relaxed)} + 1;
    if (stalled_at_pass_.load(std::memory_order_relaxed) == pass) return false;
    recorder_.writer.wait_for_pass(100'000'000);
    if (attempt()) return true;
    if (i == 49) stalled_at_pass_.store(pass, std::memory_order_relaxed);
  }
  return false;
}

// Writes the definitions of a loaded class, unless they were written before.
bool MethodTracer::define(const ClassFile& klass, Numbered& numbers, std::uint64_t id) {
  if (numbers.class_id != id) {
    for (std::size_t i = 0; i < klass.methods().size(); ++i) {
      Definition made = definition_of(klass, klass.methods()[i], numbers.number(i), id);
      if (!patiently([&] { return recorder_.definitions.append(made); })) return false;
    }
    numbers.class_id = id;
  }
  numbers_.store(numbers);
  return true;
}

// A class that is being loaded has no mirror yet to which the definitions of its methods could refer. They wait for
// ClassPrepare; none of its methods runs before that.
void MethodTracer::remember(JNIEnv* jni, const ClassFile& klass, const Numbered& numbers, jobject loader,
                            std::uint32_t filters) {
  LoadingClass made;
  made.filters = filters;
  made.numbers = numbers;
  made.name.assign(klass.name().begin(), klass.name().end());
  for (std::size_t i = 0; i < klass.methods().size(); ++i)
    made.definitions.push_back(definition_of(klass, klass.methods()[i], numbers.number(i), 0));
  if (loader != nullptr) made.loader = jni->NewWeakGlobalRef(loader);
  numbers_.add_loading(jni, loader, static_cast<LoadingClass&&>(made));
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
  jobject loader = nullptr;
  recorder_.jvmti->GetClassLoader(klass, &loader);
  LoadingClass found;
  const bool is_found = numbers_.take_loading(jni, name, loader, found);
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  if (!is_found) {
    // The class was loaded before the hook was on, or from a shared archive that bypasses the hook (JDK 8).
    if (!has_probes(klass) && is_concerned(klass)) rewrite_prepared(jni, klass, name);
    return;
  }
  if (found.loader != nullptr) jni->DeleteWeakGlobalRef(found.loader);
  const std::uint64_t id = recorder_.registry->class_id(jni, klass, thread, false);
  if (id == 0) recorder_.writer.count_dropped(1);
  for (Definition& each : found.definitions) {
    each.overwrite(record::kDefinitionFieldsOffset, id);  // the first field is the id of the class
    recorder_.definitions.append(each);
  }
  found.numbers.class_id = id;
  if (id != 0) numbers_.store(found.numbers);
  // The filters have changed in the meantime.
  if (found.filters != filters_.load()) rewrite_prepared(jni, klass, name);
}

// The thread that links the class waits until the control thread has retransformed it.
void MethodTracer::rewrite_prepared(JNIEnv* jni, jclass klass, std::string_view name) {
  if (!is_modifiable(klass)) return;
  const std::uint32_t ticket = queue_.add_urgent(jni, klass);
  wakeup_.wake();
  const bool may_wait = ticket != 0 && !recorder_.vm_dead && pthread_equal(server_, pthread_self()) == 0;
  if ((may_wait && queue_.wait_for(ticket, kMostWait)) || removing_) return;
  char text[512];
  const int length = snprintf(text, sizeof text, "%.*s: its first calls may have come before its probes",
                              static_cast<int>(std::min<std::size_t>(name.size(), 400)), name.data());
  recorder_.definitions.append_option(trace::kLateKey, std::string_view(text, static_cast<std::size_t>(length)));
}

void MethodTracer::count(const ClassFile& klass, const std::vector<MethodPlan>& plans) {
  for (const MethodPlan& plan : plans)
    if (plan.open_start) area_->open_calls().note_constructor(plan.number);
  results_.add(klass, plans);
}

void MethodTracer::note_counted(Numbered& numbers, const std::vector<MethodPlan>& plans) const {
  if (!counts_calls()) return;
  numbers.counted.resize(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    if ((plans[i].done & classfile::kProbeCount) != 0) numbers.counted[i] = true;
}

void MethodTracer::write_counts(JNIEnv* jni, const CallbackGuard& guard) {
  if (!counts_calls()) return;
  const std::vector<std::uint32_t> counted = numbers_.counted_methods();
  constexpr int kPatience =
      500;  // number of waits of 10 ms: a drainer that does not come must not delay the end of the JVM
  int waits = 0;
  for (const std::uint32_t number : counted) {
    for (; !recorder_.writer.has_room() && waits < kPatience; ++waits) recorder_.writer.wait_for_pass(10'000'000);
    record::CountRecord made{};
    made.header.number = number;
    made.count = area_->counts().sum(number);
    guard.write(made, record::RecordKind::kMethodCount);
  }
  char text[256];
  const int length = coverage(jni, counted.size(), text, sizeof text);
  recorder_.definitions.append_option(trace::kCountedKey, std::string_view(text, static_cast<std::size_t>(length)));
}

int MethodTracer::coverage(JNIEnv* jni, std::size_t counted, char* text, std::size_t size) {
  std::uint32_t guarded = 0;
  std::uint32_t hidden = 0;
  for_each_loaded_class(recorder_.jvmti, jni, [&](jclass klass) {
    JvmtiText signature(recorder_.jvmti);
    if (recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
    const std::string_view name = internal_name(signature.view());
    // An array or a primitive type ("I").
    if (signature.view().size() < 3 || name.front() == '[' || !recorder_.registry->includes_class(name)) return;
    jboolean modifiable = JNI_FALSE;
    recorder_.jvmti->IsModifiableClass(klass, &modifiable);
    if (modifiable == JNI_FALSE) ++hidden;
    else if (is_guarded_class(name)) ++guarded;
  });
  return snprintf(text, size, "counted=%zu,native=%u,abstract=%u,skipped=%u,guardedClasses=%u,hiddenClasses=%u",
                  counted, results_.native(), results_.abstract(), results_.skipped(), guarded, hidden);
}

int MethodTracer::figures(char* text, std::size_t size) const { return results_.figures(traces_calls(), text, size); }

}  // namespace jtrace::agent
