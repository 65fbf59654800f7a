#include "agent/methods/class_hook.h"

#include <cstring>

#include "agent/guarded_classes.h"
#include "agent/methods/callees.h"
#include "agent/methods/callout_area.h"
#include "agent/methods/retransformer.h"
#include "agent/methods/rewrite_results.h"
#include "agent/methods/wanted_callouts.h"
#include "agent/recorder.h"
#include "agent/registry.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::Method;
using classfile::MethodPlan;

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

ClassHook::ClassHook(Recorder& recorder, ClassNumbers& numbers, RewriteResults& results, Callees& callees,
                     Retransformer& retransformer)
    : recorder_(recorder),
      numbers_(numbers),
      results_(results),
      callees_(callees),
      retransformer_(retransformer),
      patience_(recorder.writer) {}

void ClassHook::prepare(CalloutArea& area) {
  area_ = &area;
  style_ = callout_style(recorder_);
  wanted_ = wanted_callouts(recorder_);
  first_number_ = Registry::next_method_ids(0);
}

void ClassHook::class_file(JNIEnv* jni, jclass redefined, jobject loader, classfile::ByteView bytes, jint* new_size,
                           unsigned char** new_bytes) {
  const std::uint32_t filters = filters_.load();
  ClassFile klass;
  if (!klass.parse(bytes)) return results_.add_unreadable();
  const bool included = !is_guarded_class(klass.name()) && recorder_.registry->includes_class(klass.name());
  if (!included) {
    if (redefined != nullptr) retransformer_.set_callouts(redefined, false);
    return;
  }
  std::uint64_t id = 0;
  Numbered numbers;
  if (!number(jni, redefined, loader, klass, numbers, id)) return;
  std::vector<MethodPlan> plans = plan(klass, numbers);
  classfile::Bytes out;
  CalleesOf callees{callees_, jni, loader};
  const classfile::ClassOutcome outcome =
      classfile::rewrite_class(klass, callout_class_name(style_), plans, out, {CalleesOf::number, &callees});
  if (outcome != classfile::ClassOutcome::kRewritten) {
    if (redefined != nullptr) retransformer_.set_callouts(redefined, false);
    if (outcome == classfile::ClassOutcome::kPoolFull) results_.add_skipped(plans.size());
    return add_results(klass, plans);
  }
  unsigned char* memory = nullptr;
  if (recorder_.jvmti->Allocate(static_cast<jlong>(out.size()), &memory) != JVMTI_ERROR_NONE) return;
  numbers.has_callouts = true;
  if (loader == nullptr) area_->note_boot_callouts();
  note_counted(numbers, plans);
  if (redefined == nullptr) {
    keep_definitions(jni, klass, numbers, loader, filters);
  } else if (!define(klass, numbers, id)) {
    recorder_.jvmti->Deallocate(memory);
    return;
  }
  add_results(klass, plans);
  std::memcpy(memory, out.data(), out.size());
  *new_bytes = memory;
  *new_size = static_cast<jint>(out.size());
}

// The numbers of its methods, and the id of a class that has one. False: the class gets no callouts.
bool ClassHook::number(JNIEnv* jni, jclass redefined, jobject loader, const ClassFile& klass, Numbered& numbers,
                       std::uint64_t& id) {
  if (redefined == nullptr) {
    const char* const refusal = numbers_.of_loading(jni, klass, loader, numbers);
    if (refusal != nullptr) skip(klass, refusal);
    return refusal == nullptr;
  }
  if (!patience_.until([&] { return (id = recorder_.registry->class_id(jni, redefined, 0, true)) != 0; })) {
    skip(klass, "there was no room for its definition");
    return false;
  }
  numbers = numbers_.of_redefined(jni, klass, loader, id);
  // The class may call its own methods; caller and callee must use the same numbers.
  return !recorder_.traces(record::kCallEvent) || define(klass, numbers, id);
}

void ClassHook::skip(const ClassFile& klass, const char* why) {
  results_.add_skipped(klass.methods().size());
  results_.note(klass.name(), "", why);
}

std::vector<MethodPlan> ClassHook::plan(const ClassFile& klass, const Numbered& numbers) const {
  std::vector<MethodPlan> plans(klass.methods().size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Method& method = klass.methods()[i];
    plans[i].number = numbers.number(i);
    if (recorder_.registry->includes_method(klass.name(), method.name)) plans[i].callouts = wanted_;
    // Two methods of one session never share a counter.
    if (plans[i].number - first_number_ >= CallCounts::kMethods)
      plans[i].callouts &= ~std::uint32_t{classfile::kCalloutCount};
  }
  return plans;
}

// Writes the definitions of a loaded class, unless they were written before.
bool ClassHook::define(const ClassFile& klass, Numbered& numbers, std::uint64_t id) {
  if (numbers.class_id != id) {
    for (std::size_t i = 0; i < klass.methods().size(); ++i) {
      Definition made = definition_of(klass, klass.methods()[i], numbers.number(i), id);
      if (!patience_.until([&] { return recorder_.definitions.append(made); })) return false;
    }
    numbers.class_id = id;
  }
  numbers_.store(numbers);
  return true;
}

// A class that is being loaded has no mirror yet to which the definitions of its methods could refer.
void ClassHook::keep_definitions(JNIEnv* jni, const ClassFile& klass, const Numbered& numbers, jobject loader,
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

ClassHook::Prepared ClassHook::class_prepared(JNIEnv* jni, jclass klass, std::string_view name, std::uint64_t thread) {
  jobject loader = nullptr;
  recorder_.jvmti->GetClassLoader(klass, &loader);
  LoadingClass found;
  const bool is_found = numbers_.take_loading(jni, name, loader, found);
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  if (!is_found) return Prepared::kUnseen;
  if (found.loader != nullptr) jni->DeleteWeakGlobalRef(found.loader);
  const std::uint64_t id = recorder_.registry->class_id(jni, klass, thread, false);
  if (id == 0) recorder_.writer.count_dropped(1);
  for (Definition& each : found.definitions) {
    each.overwrite(record::kDefinitionFieldsOffset, id);  // the first field is the id of the class
    recorder_.definitions.append(each);
  }
  found.numbers.class_id = id;
  if (id != 0) numbers_.store(found.numbers);
  return found.filters == filters_.load() ? Prepared::kDefined : Prepared::kOutdated;
}

bool ClassHook::is_loading(JNIEnv* jni, jclass klass) {
  if (!numbers_.has_loading()) return false;
  JvmtiText signature(recorder_.jvmti);
  recorder_.jvmti->GetClassSignature(klass, signature.out(), nullptr);
  jobject loader = nullptr;
  recorder_.jvmti->GetClassLoader(klass, &loader);
  const bool found = numbers_.is_loading(jni, internal_name(signature.view()), loader);
  if (loader != nullptr) jni->DeleteLocalRef(loader);
  return found;
}

void ClassHook::add_results(const ClassFile& klass, const std::vector<MethodPlan>& plans) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].open_start) area_->open_calls().note_constructor(plans[i].number);
    if (plans[i].done != 0 && (klass.methods()[i].access & classfile::kAccSynchronized) != 0)
      area_->open_calls().note_synchronized(plans[i].number);
  }
  results_.add(klass, plans);
}

void ClassHook::note_counted(Numbered& numbers, const std::vector<MethodPlan>& plans) const {
  if (!recorder_.traces(record::kMethodCountEvent)) return;
  numbers.counted.resize(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i)
    if ((plans[i].done & classfile::kCalloutCount) != 0) numbers.counted[i] = true;
}

}  // namespace jtrace::agent
