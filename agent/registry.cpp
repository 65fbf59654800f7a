#include "agent/registry.h"

#include <cstring>

namespace jtrace::agent {
namespace {

constexpr jint kAccStatic = 0x0008;  // JVMS 4.5

std::uint8_t primitive_array_code(char element) {
  switch (element) {
    case 'Z': return 4;
    case 'C': return 5;
    case 'F': return 6;
    case 'D': return 7;
    case 'B': return 8;
    case 'S': return 9;
    case 'I': return 10;
    case 'J': return 11;
    default: return 0;
  }
}

// The signature of a class, "" of none.
void read_signature(jvmtiEnv* jvmti, jclass klass, JvmtiText& signature) {
  if (klass != nullptr) jvmti->GetClassSignature(klass, signature.out(), nullptr);
}

struct FieldCounts {
  std::uint32_t statics = 0;
  std::uint32_t instance = 0;
};

FieldCounts count_fields(jvmtiEnv* jvmti, jclass klass) {
  FieldCounts counts;
  jint count = 0;
  JvmtiMemory<jfieldID> fields(jvmti);
  if (jvmti->GetClassFields(klass, &count, fields.out()) != JVMTI_ERROR_NONE) return counts;
  for (jint i = 0; i < count; ++i) {
    jint modifiers = 0;
    jvmti->GetFieldModifiers(klass, fields[i], &modifiers);
    ++((modifiers & kAccStatic) != 0 ? counts.statics : counts.instance);
  }
  return counts;
}

std::uint32_t count_methods(jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  return jvmti->GetClassMethods(klass, &count, methods.out()) == JVMTI_ERROR_NONE ? static_cast<std::uint32_t>(count)
                                                                                  : 0;
}

void add_interfaces(DefinedItems& names, JNIEnv* jni, jvmtiEnv* jvmti, jclass klass) {
  jint count = 0;
  JvmtiMemory<jclass> interfaces(jvmti);
  if (jvmti->GetImplementedInterfaces(klass, &count, interfaces.out()) != JVMTI_ERROR_NONE) count = 0;
  for (jint i = 0; i < count; ++i) {
    JvmtiText signature(jvmti);
    read_signature(jvmti, interfaces[i], signature);
    names.add_text(internal_name(signature.view()));
    jni->DeleteLocalRef(interfaces[i]);
  }
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 32);
}

}  // namespace

jlong Registry::tag_of(jobject object) {
  jlong tag = 0;
  jvmti_->GetTag(object, &tag);
  return tag;
}

std::uint64_t Registry::class_id(JNIEnv* jni, jclass klass, std::uint64_t cause, bool loaded_before) {
  if (const jlong tag = tag_of(klass); (tag & kTagIsClass) != 0) return id_of_tag(tag);
  RawMonitorLock lock(jvmti_, monitor_);
  jlong tag = tag_of(klass);
  if ((tag & kTagIsClass) != 0) return id_of_tag(tag);
  const std::uint64_t id = tag != 0 ? id_of_tag(tag) : next_id();
  LocalFrame frame(jni, 16);
  if (!define_class(jni, klass, id, cause, loaded_before)) return 0;
  tag = make_tag(id, (tag & kTagIsObject) | kTagIsClass);
  return jvmti_->SetTag(klass, tag) == JVMTI_ERROR_NONE ? id : 0;
}

bool Registry::define_class(JNIEnv* jni, jclass klass, std::uint64_t id, std::uint64_t cause, bool loaded_before) {
  JvmtiText signature(jvmti_);
  if (jvmti_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return false;
  JvmtiText source(jvmti_);
  jvmti_->GetSourceFileName(klass, source.out());
  jint access = 0;
  jvmti_->GetClassModifiers(klass, &access);
  const FieldCounts fields = count_fields(jvmti_, klass);
  jobject loader = nullptr;
  jvmti_->GetClassLoader(klass, &loader);
  JvmtiText of_loader(jvmti_), superclass(jvmti_);
  read_signature(jvmti_, loader == nullptr ? nullptr : jni->GetObjectClass(loader), of_loader);
  read_signature(jvmti_, jni->GetSuperclass(klass), superclass);
  DefinedItems interfaces;
  add_interfaces(interfaces, jni, jvmti_, klass);

  Definition definition(
      id, record::ClassFields{.thread = cause,
                              .flags = static_cast<std::uint8_t>(loaded_before ? record::kClassLoadedBefore : 0),
                              .access = static_cast<std::uint32_t>(access),
                              .static_fields = fields.statics,
                              .instance_fields = fields.instance,
                              .methods = count_methods(jvmti_, klass),
                              .signature = signature.view(),
                              .source = source.view(),
                              .loader = internal_name(of_loader.view()),
                              .superclass = internal_name(superclass.view()),
                              .interfaces = interfaces.view()});
  return definitions_.append(definition);
}

std::uint64_t Registry::define_named_class(std::string_view name) {
  const std::uint64_t id = next_id();
  Definition definition(
      id, record::ClassFields{.flags = record::kClassLoadedBefore | record::kClassNamed, .signature = name});
  return definitions_.append(definition) ? id : 0;
}

Registry::MethodEntry* Registry::method_slot(jmethodID method) {
  const std::size_t mask = methods_.size() - 1;
  std::size_t i = mixed(0, reinterpret_cast<std::uint64_t>(method)) & mask;
  while (methods_[i].method != nullptr && methods_[i].method != method) i = (i + 1) & mask;
  return &methods_[i];
}

void Registry::grow_methods() {
  if (!methods_.empty() && method_count_ * 2 < methods_.size()) return;
  std::vector<MethodEntry> old(methods_.empty() ? 1024 : methods_.size() * 2);
  old.swap(methods_);
  for (const MethodEntry& entry : old)
    if (entry.method != nullptr) *method_slot(entry.method) = entry;
}

std::uint64_t Registry::method_id(JNIEnv* jni, jmethodID method) {
  RawMonitorLock lock(jvmti_, monitor_);
  grow_methods();
  MethodEntry* slot = method_slot(method);
  if (slot->method != nullptr) return slot->id;
  LocalFrame frame(jni, 16);
  std::uint64_t id = number_of_callouts(jni, method);
  if (id == 0) {
    id = next_method_ids(1);
    if (!define_method(jni, method, id)) return 0;
  }
  slot->method = method;
  slot->id = id;
  ++method_count_;
  return id;
}

std::uint32_t Registry::next_method_ids(std::uint32_t count) {
  static constinit std::atomic<std::uint32_t> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);
}

// The id of a method that has been given one for its callouts (and is defined by them); 0: it has not.
std::uint64_t Registry::number_of_callouts(JNIEnv* jni, jmethodID method) {
  if (tracer_ == nullptr) return 0;
  jclass klass = nullptr;
  JvmtiText name(jvmti_);
  JvmtiText signature(jvmti_);
  if (jvmti_->GetMethodDeclaringClass(method, &klass) != JVMTI_ERROR_NONE) return 0;
  const auto tag = tag_of(klass);
  jni->DeleteLocalRef(klass);
  if ((tag & kTagIsClass) == 0) return 0;
  if (jvmti_->GetMethodName(method, name.out(), signature.out(), nullptr) != JVMTI_ERROR_NONE) return 0;
  return callouts_->find_number(*tracer_, id_of_tag(tag), name.view(), signature.view());
}

bool Registry::define_method(JNIEnv* jni, jmethodID method, std::uint64_t id) {
  jclass klass = nullptr;
  JvmtiText name(jvmti_);
  JvmtiText signature(jvmti_);
  jint access = 0;
  if (jvmti_->GetMethodDeclaringClass(method, &klass) != JVMTI_ERROR_NONE) return false;
  if (jvmti_->GetMethodName(method, name.out(), signature.out(), nullptr) != JVMTI_ERROR_NONE) return false;
  jvmti_->GetMethodModifiers(method, &access);
  const std::uint64_t owner = class_id(jni, klass, 0, true);
  if (owner == 0) return false;

  jint first = -1;
  jint last = -1;
  jint count = 0;
  JvmtiMemory<jvmtiLineNumberEntry> lines(jvmti_);
  if (jvmti_->GetLineNumberTable(method, &count, lines.out()) == JVMTI_ERROR_NONE) {
    for (jint i = 0; i < count; ++i) {
      if (first < 0 || lines[i].line_number < first) first = lines[i].line_number;
      if (lines[i].line_number > last) last = lines[i].line_number;
    }
  }
  Definition definition(
      id, record::MethodFields{.class_id = owner,
                               .access = static_cast<std::uint32_t>(access),
                               .first_line = first,
                               .last_line = last,
                               .name = name.view(),
                               .signature = signature.view(),
                               .exceptions = {record::kNotKnown, {}}});  // JVM TI has no access to that attribute
  if (!definitions_.append(definition)) return false;
  if (tracer_ != nullptr) callouts_->keep_number(*tracer_, owner, name.view(), signature.view(), id);
  return true;
}

// The elements' class of an array class: the field Class.componentType (java/lang/Class.java, JDK 9 and later), so that
// no Java code runs inside a callback; JDK 8 has the native method alone.
jclass Registry::component_type(JNIEnv* jni, jclass array_class) {
  jclass class_class = jni->GetObjectClass(array_class);
  if (jfieldID field = jni->GetFieldID(class_class, "componentType", "Ljava/lang/Class;"))
    return static_cast<jclass>(jni->GetObjectField(array_class, field));
  jni->ExceptionClear();
  jmethodID getter = jni->GetMethodID(class_class, "getComponentType", "()Ljava/lang/Class;");
  jobject component = getter == nullptr ? nullptr : jni->CallObjectMethod(array_class, getter);
  if (!jni->ExceptionCheck()) return static_cast<jclass>(component);
  jni->ExceptionClear();
  return nullptr;
}

TypeOfObject Registry::type_of(JNIEnv* jni, jclass klass) {
  TypeOfObject type;
  JvmtiText text(jvmti_);
  if (jvmti_->GetClassSignature(klass, text.out(), nullptr) != JVMTI_ERROR_NONE) return type;
  const std::string_view signature = text.view();
  if (signature.size() > 1 && signature.front() == '[') {
    type.is_array = primitive_array_code(signature[1]);
    if (type.is_array != 0) {
      type.known = true;
      return type;
    }
    type.is_array = 2;
    klass = component_type(jni, klass);
    if (klass == nullptr) return type;
  }
  type.class_id = class_id(jni, klass, 0, true);
  type.known = type.class_id != 0;
  return type;
}

std::uint64_t Registry::object_id(JNIEnv* jni, jobject object) {
  if (const jlong tag = tag_of(object); (tag & kTagIsObject) != 0) return id_of_tag(tag);
  RawMonitorLock lock(jvmti_, monitor_);
  const jlong tag = tag_of(object);
  if ((tag & kTagIsObject) != 0) return id_of_tag(tag);
  LocalFrame frame(jni, 16);
  const TypeOfObject type = type_of(jni, jni->GetObjectClass(object));
  if (!type.known) return 0;
  const std::uint64_t id = tag != 0 ? id_of_tag(tag) : next_id();
  jlong size = 0;
  jvmti_->GetObjectSize(object, &size);
  Definition definition(
      id, record::ObjectFields{
              .class_id = type.class_id, .size = static_cast<std::uint64_t>(size), .is_array = type.is_array});
  if (!definitions_.append(definition)) return 0;
  // Defining the class may have tagged this very object (the mirror of java.lang.Class): keep its flag.
  const jlong flags = (tag_of(object) & kTagIsClass) | kTagIsObject;
  jvmti_->SetTag(object, make_tag(id, flags));
  return id;
}

void Registry::note_thrown(jobject thrown) {
  const jlong tag = tag_of(thrown);
  if ((tag & kTagIsObject) == 0 || (tag & kTagWasThrown) != 0) return;
  jvmti_->SetTag(thrown, tag | kTagWasThrown);
}

std::uint64_t Registry::new_object_id(jobject object) {
  if (tag_of(object) != 0) return 0;
  const std::uint64_t id = next_id();
  return jvmti_->SetTag(object, make_tag(id, kTagIsObject)) == JVMTI_ERROR_NONE ? id : 0;
}

jint Registry::line_of(jmethodID method, jlocation location) {
  if (location < 0) return -2;  // native
  jint count = 0;
  JvmtiMemory<jvmtiLineNumberEntry> lines(jvmti_);
  if (jvmti_->GetLineNumberTable(method, &count, lines.out()) != JVMTI_ERROR_NONE) return -1;
  jint line = -1;
  jlocation best = -1;
  for (jint i = 0; i < count; ++i) {
    if (lines[i].start_location > location || lines[i].start_location <= best) continue;
    best = lines[i].start_location;
    line = lines[i].line_number;
  }
  return line;
}

std::uint64_t Registry::stack_id(JNIEnv* jni, jthread thread, jint skip, jint depth) {
  constexpr jint kMaxDepth = 512;
  jvmtiFrameInfo frames[kMaxDepth];
  const jint count = looks_.frames_of(jvmti_, thread, skip, depth < kMaxDepth ? depth : kMaxDepth, frames);
  return count > 0 ? define_stack(jni, frames, count) : 0;
}

bool Registry::is_constructor(jmethodID method) {
  JvmtiText name(jvmti_);
  return jvmti_->GetMethodName(method, name.out(), nullptr, nullptr) == JVMTI_ERROR_NONE && name.view() == "<init>";
}

std::uint64_t Registry::constructors_id(JNIEnv* jni, jthread thread, jint skip) {
  constexpr jint kMaxDepth = 64;
  jvmtiFrameInfo frames[kMaxDepth];
  const jint count = looks_.frames_of(jvmti_, thread, skip, kMaxDepth, frames);
  if (count <= 0) return 0;
  jint kept = 0;
  while (kept < count && is_constructor(frames[kept].method)) ++kept;
  return define_stack(jni, frames, kept < count ? kept + 1 : count);
}

std::uint64_t Registry::define_stack(JNIEnv* jni, const jvmtiFrameInfo* frames, jint count) {
  std::uint64_t id = 0;
  for (jint i = 0; i < count; ++i)
    id = mixed(mixed(id, reinterpret_cast<std::uint64_t>(frames[i].method)),
               static_cast<std::uint64_t>(frames[i].location));
  if (id == 0) id = 1;
  std::atomic<std::uint64_t>& known = known_stacks_[id % kKnownStacks];
  if (known.load(std::memory_order_acquire) == id) return id;

  DefinedItems items;
  for (jint i = 0; i < count; ++i) {
    const std::uint64_t method = method_id(jni, frames[i].method);
    if (method == 0) return 0;
    items.add_frame(method, line_of(frames[i].method, frames[i].location));
  }
  Definition definition(id, record::StackFields{.frames = items.view()});
  if (!definitions_.append(definition)) return 0;
  known.store(id, std::memory_order_release);
  return id;
}

bool Registry::class_is_included(JNIEnv* jni, jclass klass) {
  (void)jni;
  RawMonitorLock lock(jvmti_, monitor_);
  if (filters_.empty()) return true;
  JvmtiText signature(jvmti_);
  if (jvmti_->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return true;
  return filters_.includes_class(internal_name(signature.view()));
}

bool Registry::includes_class(std::string_view name) {
  RawMonitorLock lock(jvmti_, monitor_);
  return filters_.includes_class(name);
}

bool Registry::includes_method(std::string_view class_name, std::string_view method_name) {
  RawMonitorLock lock(jvmti_, monitor_);
  return filters_.includes_method(class_name, method_name);
}

void Registry::set_filters(FilterBlock filters) {
  RawMonitorLock lock(jvmti_, monitor_);
  filters_ = static_cast<FilterBlock&&>(filters);
}

void Registry::define_loaded_classes(JNIEnv* jni) {
  for_each_loaded_class(jvmti_, jni, [&](jclass klass) {
    jint status = 0;
    jvmti_->GetClassStatus(klass, &status);
    // A class that is not prepared yet comes with its ClassPrepare event.
    const bool ready = (status & (JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY)) != 0;
    // No room now: the drainer is on its way. This thread may wait, it is ours.
    for (int attempt = 0; ready && class_is_included(jni, klass) && attempt < 100; ++attempt) {
      if (tracer_ != nullptr) callouts_->rewrite_urgent(*tracer_, jni);
      if (class_id(jni, klass, 0, true) != 0) break;
      writer_.wait_for_pass(100'000'000);
    }
  });
}

}  // namespace jtrace::agent
