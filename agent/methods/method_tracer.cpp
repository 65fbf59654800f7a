#include "agent/methods/method_tracer.h"

#include <inttypes.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>

#include "agent/agent_session.h"
#include "agent/guarded_classes.h"
#include "agent/methods/mutex_lock.h"
#include "agent/methods/name_hash.h"
#include "agent/methods/pool_room.h"
#include "agent/registry.h"
#include "base/clock.h"
#include "trace/option_keys.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::Method;
using classfile::MethodPlan;
using classfile::Outcome;

constexpr std::size_t kMostLoading = 10'000;
// The longest time that a thread which links a class waits for its probes. Normally it takes a millisecond.
constexpr std::uint64_t kMostWait = kNanosPerSecond;
constexpr unsigned kAccNative = 0x0100;  // JVMS 4.6
// methods without probes that the trace names; further ones are only counted
constexpr std::uint32_t kMostSkipNotes = 50;

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

// What probes ask of this folder (the interface is declared in the floor below).
void MethodTracer::connect() {
  static constexpr ProbeHooks kHooks = {
      [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor) {
        return tracer.number_of(class_id, name, descriptor);
      },
      [](MethodTracer& tracer, std::uint64_t class_id, std::string_view name, std::string_view descriptor,
         std::uint64_t id) { tracer.keep_number(class_id, name, descriptor, id); },
      [](MethodTracer& tracer, JNIEnv* jni) { tracer.rewrite_urgent(jni); }};
  session_.registry->set_probe_hooks(kHooks);
  Producer::release_probed().store([](std::uint64_t thread) { ProbeArea::get()->release(thread); },
                                   std::memory_order_release);
}

const char* MethodTracer::prepare(JNIEnv* jni, int pool_descriptor) {
  area_ = ProbeArea::get();
  if (area_ == nullptr) return "no memory is left for the probes' table";
  connect();
  if (session_.writer.pool.header().chunk_size != record::kChunkSize) return "the pool's chunks have another size";
  if (const char* error = find_probe_facts(jni, facts_)) return error;
  facts_.chunk_size = record::kChunkSize - record::kGapRoom;
  if (const char* error = define_probe_class(session_.jvmti, jni, style(), facts_, area_)) return error;
  measures_pools_ = !checks_pool_room(session_.jvmti);
  if (!area_->show_clock(pool_descriptor)) return "the pool's clock cannot be mapped";
  advance_clock(session_.writer.pool.header(), monotonic_ns());
  area_->clear();
  area_->open_calls().start(session_.config.slower_than);
  first_number_ = Registry::next_method_ids(0);
  if ((session_.granted_events & (record::kThrowEvent | record::kCatchEvent)) != 0) throwable_.find(jni);
  if (traces_calls())
    if (const char* error = callees_.start(jni)) return error;
  if (counts_calls() && !area_->counts().start(session_.own_thread_id)) return "no memory is left for the counters";
  return nullptr;
}

ProbeStyle MethodTracer::style() const {
  return {session_.config.has_flag(record::kPreciseTime) ? ProbeTime::kPrecise : ProbeTime::kCoarse,
          session_.config.slower_than != 0 ? ProbeCalls::kSlow : ProbeCalls::kEach,
          session_.config.has_flag(record::kCpuTime)};
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
    if ((session_.granted_events & each.events) != 0 || session_.config.has_flag(each.flag)) wanted |= each.options;
  return wanted;
}

bool MethodTracer::counts_calls() const { return (session_.granted_events & record::kMethodCountEvent) != 0; }

bool MethodTracer::traces_calls() const { return (session_.granted_events & record::kCallEvent) != 0; }

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

void MethodTracer::start(JNIEnv* jni) {
  server_ = pthread_self();
  active_ = true;
  set_on(true);
  refilter(jni, session_.started_with_vm);
}

bool MethodTracer::is_modifiable(jclass klass) const {
  jboolean modifiable = JNI_FALSE;
  return session_.jvmti->IsModifiableClass(klass, &modifiable) == JVMTI_ERROR_NONE && modifiable != JNI_FALSE;
}

// True if a loaded and linked class has probes or is to get them.
bool MethodTracer::is_concerned(jclass klass) {
  if (has_probes(klass)) return true;
  JvmtiText signature(session_.jvmti);
  session_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  const std::string_view name = internal_name(signature.view());
  return !name.empty() && name.front() != '[' && !is_guarded_class(name) && session_.registry->includes_class(name);
}

void MethodTracer::refilter(JNIEnv* jni) {
  filters_.fetch_add(1);
  refilter(jni, false);
}

// `notes_late`: name the classes that have already run.
void MethodTracer::refilter(JNIEnv* jni, bool notes_late) {
  // All affected classes are rewritten again, and counted again.
  for (std::atomic<std::uint32_t>* figure : {&classes_, &methods_, &reduced_, &skipped_, &refused_, &unreadable_,
                                             &native_, &abstract_, &unseen_news_, &unseen_calls_})
    *figure = 0;
  const bool listed = for_each_loaded_class(session_.jvmti, jni, [&](jclass klass) {
    jint status = 0;
    session_.jvmti->GetClassStatus(klass, &status);
    // A class that is not linked yet gets its probes at its ClassPrepare event.
    const bool linked = (status & JVMTI_CLASS_STATUS_PREPARED) != 0 && (status & JVMTI_CLASS_STATUS_ERROR) == 0;
    if (!linked || !is_concerned(klass) || !is_modifiable(klass)) return;
    queue_.add(jni, klass);
    if (notes_late && (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0) note_late(klass);
  });
  late_.finish([this](std::string_view text) { write_option(trace::kLateKey, text); });
  if (!listed) return;
  filter_is_noted_ = false;
}

bool MethodTracer::has_probes(jclass klass) {
  jlong tag = 0;
  session_.jvmti->GetTag(klass, &tag);
  if ((tag & kTagIsClass) == 0) return false;
  Lock lock(lock_);
  const std::uint32_t at = index_.find(id_of_tag(tag));
  return at != 0 && numbered_[at - 1].has_probes;
}

void MethodTracer::note_late(jclass klass) {
  JvmtiText signature(session_.jvmti);
  session_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  late_.add(internal_name(signature.view()), [this](std::string_view text) { write_option(trace::kLateKey, text); });
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
      session_.looks.close();
      session_.note_work(record::AgentWork::kRewriting);
      retransform(batch, with_room(batch, count));
    }
  }
  if (count > 0) return true;
  session_.looks.settle(session_.jvmti, jni);
  session_.note_work(record::AgentWork::kNone);
  if (!filter_is_noted_) {
    filter_is_noted_ = true;
    char text[256];
    const int length = figures(text, sizeof text);
    write_option(trace::kRewrittenKey, std::string_view(text, static_cast<std::size_t>(length)));
  }
  return false;
}

// Moves the classes that the JVM can retransform once more to the front. Returns how many.
jint MethodTracer::with_room(jclass* classes, jint count) {
  if (!measures_pools_) return count;
  jint kept = 0;
  for (jint i = 0; i < count; ++i) {
    const bool has = removing_ || has_probes(classes[i]) ? has_room_to_restore(session_.jvmti, classes[i])
                                                         : has_pool_room(session_.jvmti, classes[i]);
    if (has) {
      classes[kept++] = classes[i];
      continue;
    }
    refused_.fetch_add(1);
    JvmtiText signature(session_.jvmti);
    session_.jvmti->GetClassSignature(classes[i], signature.out(), nullptr);
    report_unrewritten(internal_name(signature.view()), "",
                       "it was rewritten so often that its constant pool has no room left (JDK-8311076)");
  }
  return kept;
}

// If the JVM refuses one class, the whole batch fails. Then they are tried one by one.
void MethodTracer::retransform(const jclass* classes, jint count) {
  if (count == 0) return;
  if (session_.jvmti->RetransformClasses(count, classes) == JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jvmtiError error = session_.jvmti->RetransformClasses(1, &classes[i]);
    if (error == JVMTI_ERROR_NONE) continue;
    refused_.fetch_add(1);
    if (removing_) continue;
    JvmtiText signature(session_.jvmti);
    session_.jvmti->GetClassSignature(classes[i], signature.out(), nullptr);
    char why[64];
    snprintf(why, sizeof why, "the JVM refused it (JVM TI error %d)", static_cast<int>(error));
    report_unrewritten(signature.view(), "", why);
  }
}

bool MethodTracer::keep_free(std::uint64_t object) {
  if (session_.config.slower_than == 0 || removing_) return false;
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
    write_option(trace::kUnwatchedKey,
                 std::string_view(text, static_cast<std::size_t>(snprintf(text, sizeof text, "%" PRIu64, unwatched))));
  }
  removing_ = true;
  queue_.close(jni);
  for_each_batch(
      session_.jvmti, jni, [&](jclass klass) { return has_probes(klass) || is_loading(jni, klass); },
      [&](jclass* classes, jint count) { retransform(classes, with_room(classes, count)); });
  if (CallbackGuard guard(CallbackGuard::kLifecycle); guard) write_last_frees(guard);
  if (const std::uint64_t skipped = session_.looks.skipped(); skipped != 0) {
    char text[32];
    write_option(trace::kUnseenStacksKey,
                 std::string_view(text, static_cast<std::size_t>(snprintf(text, sizeof text, "%" PRIu64, skipped))));
  }
  active_ = false;
  callees_.stop(jni);
  Lock lock(lock_);
  for (const Loading& each : loading_)
    if (each.loader != nullptr) jni->DeleteWeakGlobalRef(each.loader);
  loading_.clear();
}

// Numbers the methods of a class that is being loaded. Returns nullptr, or the reason why the class gets no probes.
const char* MethodTracer::number_loading(JNIEnv* jni, const ClassFile& klass, jobject loader, Numbered& numbers) {
  Lock lock(lock_);
  if (loading_.size() >= kMostLoading) forget_unloaded(jni);
  if (loading_.size() >= kMostLoading) return "too many classes are loaded and not linked";
  const Loading* before = find_loading(jni, klass.name(), loader);
  numbers = number_class(klass, before == nullptr ? nullptr : &before->numbers, 0);
  const bool differs = before != nullptr && before->numbers.first != numbers.first;
  return differs ? "two classes of its name are being loaded at a time" : nullptr;
}

// Drops the classes whose loader was unloaded before they were linked.
void MethodTracer::forget_unloaded(JNIEnv* jni) {
  std::size_t kept = 0;
  for (Loading& each : loading_) {
    if (each.loader != nullptr && jni->IsSameObject(each.loader, nullptr)) jni->DeleteWeakGlobalRef(each.loader);
    else if (&each == &loading_[kept]) ++kept;
    else loading_[kept++] = static_cast<Loading&&>(each);
  }
  while (loading_.size() > kept) loading_.pop_back();
}

void MethodTracer::skip_class(const ClassFile& klass, const char* why) {
  skipped_.fetch_add(static_cast<std::uint32_t>(klass.methods().size()));
  report_unrewritten(klass.name(), "", why);
}

// Writes a note for a method with no probes, or with fewer than asked for; only for the first kMostSkipNotes. `method`
// "": the whole class.
void MethodTracer::report_unrewritten(std::string_view klass, std::string_view method, std::string_view why) {
  if (skips_noted_.fetch_add(1) >= kMostSkipNotes) return;
  char text[512];
  const int length =
      snprintf(text, sizeof text, "%.*s%s%.*s: %.*s", static_cast<int>(std::min<std::size_t>(klass.size(), 400)),
               klass.data(), method.empty() ? "" : ".", static_cast<int>(method.size()), method.data(),
               static_cast<int>(why.size()), why.data());
  write_option(trace::kUnrewrittenKey,
               std::string_view(text, std::min<std::size_t>(static_cast<std::size_t>(length), sizeof text - 1)));
}

// True if the class was rewritten while it was loaded and has not been prepared since.
bool MethodTracer::is_loading(JNIEnv* jni, jclass klass) {
  {
    Lock lock(lock_);
    if (loading_.empty()) return false;
  }
  JvmtiText signature(session_.jvmti);
  session_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  jobject loader = nullptr;
  session_.jvmti->GetClassLoader(klass, &loader);
  Lock lock(lock_);
  const bool found = find_loading(jni, internal_name(signature.view()), loader) != nullptr;
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  return found;
}

MethodTracer::Loading* MethodTracer::find_loading(JNIEnv* jni, std::string_view name, jobject loader) {
  for (Loading& each : loading_) {
    if (std::string_view(each.name.data(), each.name.size()) != name) continue;
    if (loader == nullptr ? each.loader == nullptr : each.loader != nullptr && jni->IsSameObject(each.loader, loader))
      return &each;
  }
  return nullptr;
}

MethodTracer::Numbered MethodTracer::number_class(const ClassFile& klass, const Numbered* before,
                                                  std::uint64_t class_id) {
  Numbered made;
  for (const Method& method : klass.methods()) made.methods.push_back(hash_of(method.name, method.descriptor));
  if (before != nullptr && before->methods.size() == made.methods.size() &&
      std::memcmp(before->methods.data(), made.methods.data(), made.methods.size() * sizeof(std::uint64_t)) == 0) {
    made.first = before->first;
    made.class_id = before->class_id;
    made.counted = before->counted;
    made.kept = before->kept;
    return made;
  }
  made.first = Registry::next_method_ids(static_cast<std::uint32_t>(made.methods.size()));
  if (class_id == 0) return made;
  for (std::size_t i = 0; i < made.methods.size(); ++i) {
    const std::uint32_t kept = kept_.find(hash_in(class_id, made.methods[i]));
    if (kept == 0) continue;
    made.kept.resize(made.methods.size());
    made.kept[i] = kept;
  }
  return made;
}

std::vector<MethodPlan> MethodTracer::plan(const ClassFile& klass, const Numbered& numbers) {
  std::vector<MethodPlan> plans(klass.methods().size());
  const std::uint32_t wanted = probes();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Method& method = klass.methods()[i];
    plans[i].number = numbers.number(i);
    if (session_.registry->includes_method(klass.name(), method.name)) plans[i].probes = wanted;
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
    unreadable_.fetch_add(1);
    return;
  }
  const bool included = !is_guarded_class(klass.name()) && session_.registry->includes_class(klass.name());
  if (!included && redefined == nullptr) return;
  std::uint64_t id = 0;
  Numbered numbers;
  if (redefined != nullptr) {
    if (!included) return set_probes(redefined, false);
    const bool defined = patiently([&] { return (id = session_.registry->class_id(jni, redefined, 0, true)) != 0; });
    if (!defined) return skip_class(klass, "there was no room for its definition");
    Lock lock(lock_);
    const std::uint32_t at = index_.find(id);
    // A class that is being linked at this moment has its numbers already.
    const Loading* loading = at != 0 ? nullptr : find_loading(jni, klass.name(), loader);
    const Numbered* before = at != 0 ? &numbered_[at - 1] : loading != nullptr ? &loading->numbers : nullptr;
    numbers = number_class(klass, before, id);
  } else {
    const char* const refusal = number_loading(jni, klass, loader, numbers);
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
    if (outcome == classfile::ClassOutcome::kPoolFull) skipped_.fetch_add(static_cast<std::uint32_t>(plans.size()));
    return count(klass, plans);
  }
  unsigned char* memory = nullptr;
  if (session_.jvmti->Allocate(static_cast<jlong>(out.size()), &memory) != JVMTI_ERROR_NONE) return;
  numbers.has_probes = true;
  if (loader == nullptr) area_->note_boot_probes();
  note_counted(numbers, plans);
  if (redefined != nullptr ? !define(klass, numbers, id) : !remember(jni, klass, numbers, loader, filters)) {
    session_.jvmti->Deallocate(memory);
    return;
  }
  count(klass, plans);
  std::memcpy(memory, out.data(), out.size());
  *new_bytes = memory;
  *new_size = static_cast<jint>(out.size());
}

void MethodTracer::set_probes(jclass klass, bool has) {
  jlong tag = 0;
  session_.jvmti->GetTag(klass, &tag);
  Lock lock(lock_);
  const std::uint32_t at = index_.find(id_of_tag(tag));
  if (at != 0) numbered_[at - 1].has_probes = has;
}

// A definition that finds no room is tried again, because the drainer frees room. This thread (the one that
// retransforms) may wait, but only once for a drainer that does not come.
template <class Try>
bool MethodTracer::patiently(Try&& attempt) {
  if (attempt()) return true;
  const record::PoolHeader& header = session_.writer.pool.header();
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t pass = std::uint64_t{header.drained_pass.load(std::memory_order_relaxed)} + 1;
    if (stalled_at_pass_.load(std::memory_order_relaxed) == pass) return false;
    session_.writer.wait_for_pass(100'000'000);
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
      if (!patiently([&] { return session_.definitions.append(made); })) return false;
    }
    numbers.class_id = id;
  }
  Lock lock(lock_);
  store(numbers);
  return true;
}

void MethodTracer::store(const Numbered& numbers) {
  if (const std::uint32_t at = index_.find(numbers.class_id); at != 0) {
    numbered_[at - 1] = numbers;
    return;
  }
  numbered_.push_back(numbers);
  index_.put(numbers.class_id, static_cast<std::uint32_t>(numbered_.size()));
}

// A class that is being loaded has no mirror yet to which the definitions of its methods could refer. They wait for
// ClassPrepare; none of its methods runs before that.
bool MethodTracer::remember(JNIEnv* jni, const ClassFile& klass, const Numbered& numbers, jobject loader,
                            std::uint32_t filters) {
  Loading made;
  made.filters = filters;
  made.numbers = numbers;
  made.name.assign(klass.name().begin(), klass.name().end());
  for (std::size_t i = 0; i < klass.methods().size(); ++i)
    made.definitions.push_back(definition_of(klass, klass.methods()[i], numbers.number(i), 0));
  if (loader != nullptr) made.loader = jni->NewWeakGlobalRef(loader);
  Lock lock(lock_);
  if (Loading* before = find_loading(jni, klass.name(), loader)) {
    if (made.loader != nullptr) jni->DeleteWeakGlobalRef(made.loader);
    before->numbers.has_probes = true;
    before->numbers.counted = numbers.counted;
    before->filters = filters;
    return true;
  }
  loading_.push_back(static_cast<Loading&&>(made));
  return true;
}

void MethodTracer::class_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread) {
  if (!active_ || removing_) return;
  take_prepared(jni, klass, thread);
  // After its methods have their numbers: a callee must get the same number.
  if (traces_calls()) callees_.class_prepared(jni, klass);
}

void MethodTracer::take_prepared(JNIEnv* jni, jclass klass, std::uint64_t thread) {
  JvmtiText signature(session_.jvmti);
  if (session_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view name = internal_name(signature.view());
  jobject loader = nullptr;
  session_.jvmti->GetClassLoader(klass, &loader);
  Loading found;
  bool is_found = false;
  {
    Lock lock(lock_);
    if (Loading* each = find_loading(jni, name, loader)) {
      found = static_cast<Loading&&>(*each);
      is_found = true;
      if (each != &loading_.back()) *each = static_cast<Loading&&>(loading_.back());
      loading_.pop_back();
    }
  }
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  if (!is_found) {
    // The class was loaded before the hook was on, or from a shared archive that bypasses the hook (JDK 8).
    if (!has_probes(klass) && is_concerned(klass)) rewrite_prepared(jni, klass, name);
    return;
  }
  if (found.loader != nullptr) jni->DeleteWeakGlobalRef(found.loader);
  const std::uint64_t id = session_.registry->class_id(jni, klass, thread, false);
  if (id == 0) session_.count_dropped(1);
  for (Definition& each : found.definitions) {
    each.overwrite(record::kDefinitionFieldsOffset, id);  // the first field is the id of the class
    session_.definitions.append(each);
  }
  found.numbers.class_id = id;
  if (id != 0) {
    Lock lock(lock_);
    store(found.numbers);
  }
  // The filters have changed in the meantime.
  if (found.filters != filters_.load()) rewrite_prepared(jni, klass, name);
}

// The thread that links the class waits until the control thread has retransformed it.
void MethodTracer::rewrite_prepared(JNIEnv* jni, jclass klass, std::string_view name) {
  if (!is_modifiable(klass)) return;
  const std::uint32_t ticket = queue_.add_urgent(jni, klass);
  session_.wake();
  const bool may_wait = ticket != 0 && !session_.vm_dead && pthread_equal(server_, pthread_self()) == 0;
  if ((may_wait && queue_.wait_for(ticket, kMostWait)) || removing_) return;
  char text[512];
  const int length = snprintf(text, sizeof text, "%.*s: its first calls may have come before its probes",
                              static_cast<int>(std::min<std::size_t>(name.size(), 400)), name.data());
  write_option(trace::kLateKey, std::string_view(text, static_cast<std::size_t>(length)));
}

std::uint32_t MethodTracer::number_of(std::uint64_t class_id, std::string_view name, std::string_view descriptor) {
  const std::uint64_t hash = hash_of(name, descriptor);
  Lock lock(lock_);
  const std::uint32_t at = index_.find(class_id);
  if (at == 0) return 0;
  const Numbered& numbers = numbered_[at - 1];
  for (std::size_t i = 0; i < numbers.methods.size(); ++i)
    if (numbers.methods[i] == hash) return numbers.number(i);
  return 0;
}

void MethodTracer::keep_number(std::uint64_t class_id, std::string_view name, std::string_view descriptor,
                               std::uint64_t id) {
  Lock lock(lock_);
  kept_.put(hash_in(class_id, hash_of(name, descriptor)), static_cast<std::uint32_t>(id));
}

void MethodTracer::count(const ClassFile& klass, const std::vector<MethodPlan>& plans) {
  bool any = false;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const MethodPlan& plan = plans[i];
    any = any || plan.done != 0;
    if (plan.done != 0) methods_.fetch_add(1, std::memory_order_relaxed);
    if (plan.open_start) area_->open_calls().note_constructor(plan.number);
    if ((plan.done & classfile::kProbeNew) != 0) unseen_news_.fetch_add(plan.unseen_news, std::memory_order_relaxed);
    if ((plan.done & classfile::kProbeCalls) != 0)
      unseen_calls_.fetch_add(plan.unseen_calls, std::memory_order_relaxed);
    if (plan.outcome == Outcome::kNoCode) {
      const bool is_native = (klass.methods()[i].access & kAccNative) != 0;
      (is_native ? native_ : abstract_).fetch_add(1, std::memory_order_relaxed);
    }
    if (plan.outcome == Outcome::kUntouched || plan.outcome == Outcome::kRewritten || plan.outcome == Outcome::kNoCode)
      continue;
    (plan.outcome == Outcome::kReduced ? reduced_ : skipped_).fetch_add(1, std::memory_order_relaxed);
    report_unrewritten(klass.name(), klass.methods()[i].name, to_text(plan.outcome));
  }
  if (any) classes_.fetch_add(1, std::memory_order_relaxed);
}

void MethodTracer::note_counted(Numbered& numbers, const std::vector<MethodPlan>& plans) const {
  if (!counts_calls()) return;
  numbers.counted.resize(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    if ((plans[i].done & classfile::kProbeCount) != 0) numbers.counted[i] = true;
}

std::vector<std::uint32_t> MethodTracer::counted_methods() {
  std::vector<std::uint32_t> counted;
  Lock lock(lock_);
  for (const Numbered& each : numbered_)
    for (std::size_t i = 0; i < each.counted.size(); ++i)
      if (each.counted[i]) counted.push_back(each.number(i));
  return counted;
}

void MethodTracer::write_counts(JNIEnv* jni, const CallbackGuard& guard) {
  if (!counts_calls()) return;
  const std::vector<std::uint32_t> counted = counted_methods();
  constexpr int kPatience =
      500;  // number of waits of 10 ms: a drainer that does not come must not delay the end of the JVM
  int waits = 0;
  for (const std::uint32_t number : counted) {
    for (; !session_.writer.has_room() && waits < kPatience; ++waits) session_.writer.wait_for_pass(10'000'000);
    record::CountRecord made{};
    made.header.number = number;
    made.count = area_->counts().sum(number);
    guard.write(made, record::RecordKind::kMethodCount);
  }
  char text[256];
  const int length = coverage(jni, counted.size(), text, sizeof text);
  write_option(trace::kCountedKey, std::string_view(text, static_cast<std::size_t>(length)));
}

int MethodTracer::coverage(JNIEnv* jni, std::size_t counted, char* text, std::size_t size) {
  std::uint32_t guarded = 0;
  std::uint32_t hidden = 0;
  for_each_loaded_class(session_.jvmti, jni, [&](jclass klass) {
    JvmtiText signature(session_.jvmti);
    if (session_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
    const std::string_view name = internal_name(signature.view());
    // An array or a primitive type ("I").
    if (signature.view().size() < 3 || name.front() == '[' || !session_.registry->includes_class(name)) return;
    jboolean modifiable = JNI_FALSE;
    session_.jvmti->IsModifiableClass(klass, &modifiable);
    if (modifiable == JNI_FALSE) ++hidden;
    else if (is_guarded_class(name)) ++guarded;
  });
  return snprintf(text, size, "counted=%zu,native=%u,abstract=%u,skipped=%u,guardedClasses=%u,hiddenClasses=%u",
                  counted, native_.load(), abstract_.load(), skipped_.load(), guarded, hidden);
}

void MethodTracer::write_option(std::string_view key, std::string_view value) { session_.write_option(key, value); }

int MethodTracer::figures(char* text, std::size_t size) const {
  int length =
      snprintf(text, size, "classes=%u,methods=%u,reduced=%u,skipped=%u,refusedClasses=%u,unreadable=%u,unseenNews=%u",
               classes_.load(), methods_.load(), reduced_.load(), skipped_.load(), refused_.load(), unreadable_.load(),
               unseen_news_.load());
  if (traces_calls())
    length += snprintf(text + length, size - static_cast<std::size_t>(length), ",unseenCalls=%u", unseen_calls_.load());
  return length;
}

}  // namespace jtrace::agent
