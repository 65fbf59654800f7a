#include "agent/jvmpi/heap_dump.h"

#include "agent/jvmpi/call_traces.h"
#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/class_layout.h"
#include "agent/jvmpi/dump_buffer.h"

namespace jtrace::agent::jvmpi {
namespace {

// Writes what JVM TI reports of objects. HotSpot visits one object at a time, so all callbacks of one object come in a
// row: the first begins its record, the others fill it in.
//
// During the walk JVM TI and JNI must not be called, so everything else is found out before.
class DumpWriter {
 public:
  DumpWriter(Bridge& bridge, JNIEnv* jni, jint level)
      : bridge_(bridge), level_(level), layouts_(bridge, jni, level == JVMPI_DUMP_LEVEL_1) {}

  ClassLayouts& layouts() { return layouts_; }
  void add_threads();
  bool walk(jobject only);
  // Sends OBJECT_ALLOC for the objects that the walk met and that were not reported before.
  void report_objects(JNIEnv* jni) const;
  void finish();
  DumpBuffer& out() { return out_; }

 private:
  struct ThreadId {
    jlong tag;
    JNIEnv* env;
  };
  struct Unreported {
    jlong tag;
    jlong size;
    const ClassLayout* klass;
  };
  static jint JNICALL on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong class_tag,
                                   jlong referrer_class_tag, jlong size, jlong* tag, jlong* referrer_tag, jint length,
                                   void* self);
  static jint JNICALL on_primitive_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info,
                                         jlong class_tag, jlong* tag, jvalue value, jvmtiPrimitiveType type,
                                         void* self);
  static jint JNICALL on_primitive_array(jlong class_tag, jlong size, jlong* tag, jint count, jvmtiPrimitiveType type,
                                         const void* elements, void* self);
  void meet(jlong class_tag, jlong size, jlong* tag, jint length);
  void root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong tag);
  void reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong tag);
  void begin(jlong tag, jlong class_tag);
  void begin_class(ClassLayout& layout);
  void end_class();
  JNIEnv* env_of_thread(jlong tag) const;
  bool is_class_class(jlong tag) const { return (tag & ~kTagFlags) == class_class_; }
  bool concerns(const jlong* tag) const { return only_ == 0 || (tag != nullptr && (*tag & ~kTagFlags) == only_); }

  Bridge& bridge_;
  jint level_;
  ClassLayouts layouts_;
  std::vector<ThreadId> threads_;
  IdMap lengths_;  // of arrays of objects, plus 1: known when they are met, needed when they are visited
  DumpBuffer out_;
  jlong class_class_ = 0;  // id of java.lang.Class
  bool reports_objects_ = false;
  std::vector<Unreported> unreported_;
  jlong only_ = 0;  // the id of the only object to dump

  // The record that is being written:
  jlong current_ = 0;
  ClassLayout* layout_ = nullptr;  // its class; in the record of a class, the class itself
  std::size_t values_ = 0;         // where its values start; 0 if it has none
  std::size_t count_ = 0;          // elements of an array of objects
  bool is_class_ = false;
  jobjectID loader_ = nullptr, signers_ = nullptr, domain_ = nullptr;
  DumpBuffer constants_;
  std::size_t constant_count_ = 0;
  DumpBuffer static_values_;
};

// Maps thread ids to JNIEnvs, which the records of roots contain.
void DumpWriter::add_threads() {
  bridge_.threads.for_each([&](ThreadRecord& record) {
    JNIEnv* env = record.env;
    const ThreadUse use(bridge_.threads, env);
    if (use.thread() != nullptr) threads_.push_back({bridge_.ids.tag(use.thread(), 0) & ~kTagFlags, env});
  });
}

JNIEnv* DumpWriter::env_of_thread(jlong tag) const {
  for (const ThreadId& each : threads_)
    if (each.tag == (tag & ~kTagFlags)) return each.env;
  return nullptr;
}

bool DumpWriter::walk(jobject only) {
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_reference_callback = on_reference;
  callbacks.primitive_field_callback = on_primitive_field;
  callbacks.array_primitive_value_callback = on_primitive_array;
  if (only != nullptr) only_ = bridge_.ids.tag(only, 0) & ~kTagFlags;
  class_class_ = bridge_.ids.tag(bridge_.class_class, kIsClass) & ~kTagFlags;
  reports_objects_ = bridge_.wants(JVMPI_EVENT_OBJECT_ALLOC);
  const ObjectIds::Frozen frozen(bridge_.ids);
  return bridge_.jvmti->FollowReferences(0, nullptr, only, &callbacks, this) == JVMTI_ERROR_NONE;
}

// Uses only what the walk found: an object may have been freed in the meantime.
void DumpWriter::report_objects(JNIEnv* jni) const {
  for (const Unreported& each : unreported_) {
    const bool is_array = each.klass->element != 0;
    JVMPI_Event event = event_of(JVMPI_EVENT_OBJECT_ALLOC, jni);
    event.u.obj_alloc.arena_id = 1;
    event.u.obj_alloc.class_id = is_array ? each.klass->element_class : each.klass->id;
    event.u.obj_alloc.is_array = is_array ? type_of_signature(each.klass->element) : JVMPI_NORMAL_OBJECT;
    event.u.obj_alloc.size = static_cast<jint>(each.size);
    event.u.obj_alloc.obj_id = id_of_tag(each.tag);
    bridge_.notify(event);
  }
}

jint DumpWriter::on_reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong class_tag,
                              jlong referrer_class_tag, jlong size, jlong* tag, jlong* referrer_tag, jint length,
                              void* self) {
  auto& writer = *static_cast<DumpWriter*>(self);
  writer.meet(class_tag, size, tag, length);
  if (referrer_tag == nullptr) {
    writer.root(kind, info, *tag);
  } else if (writer.concerns(referrer_tag)) {
    writer.begin(*referrer_tag, referrer_class_tag);
    writer.reference(kind, info, *tag);
  }
  return writer.only_ == 0 ? JVMTI_VISIT_OBJECTS : 0;
}

// An object that is referred to gets its id.
void DumpWriter::meet(jlong class_tag, jlong size, jlong* tag, jint length) {
  if (*tag == 0) *tag = bridge_.ids.next_tag();
  if (ClassLayout* own = (*tag & kIsClass) != 0 ? layouts_.find(*tag) : nullptr) own->is_reached = true;
  ClassLayout* klass = layouts_.find(class_tag);
  if (klass == nullptr) return;
  // A class is reported by CLASS_LOAD when it is linked. Some classes have mirrors before they are loaded (CDS).
  if (is_class_class(class_tag)) *tag |= kIsClass;
  if (reports_objects_ && (*tag & (kReported | kIsClass)) == 0) {
    *tag |= kReported;
    unreported_.push_back({*tag, size, klass});
  }
  if (klass->element == 0) klass->object_size = static_cast<std::uint32_t>(size);
  if (type_of_signature(klass->element) == JVMPI_CLASS && klass->element != 0)
    lengths_.put(static_cast<std::uint64_t>(*tag & ~kTagFlags), static_cast<std::uint32_t>(length) + 1);
}

void DumpWriter::root(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong tag) {
  if (level_ == JVMPI_DUMP_LEVEL_0 || only_ != 0) return;
  end_class();
  current_ = 0;
  const jobjectID object = id_of_tag(tag);
  const auto with_frame = [&](jint record, jlong thread_tag, jint depth) {
    out_.u1(record);
    out_.id(object);
    out_.id(env_of_thread(thread_tag));
    out_.u4(static_cast<std::uint32_t>(depth));
  };
  switch (kind) {
    case JVMTI_HEAP_REFERENCE_JNI_GLOBAL:
      out_.u1(JVMPI_GC_ROOT_JNI_GLOBAL);
      out_.id(object);
      out_.id(nullptr);  // JVM TI does not give the reference
      return;
    case JVMTI_HEAP_REFERENCE_JNI_LOCAL:
      return with_frame(JVMPI_GC_ROOT_JNI_LOCAL, info->jni_local.thread_tag, info->jni_local.depth);
    case JVMTI_HEAP_REFERENCE_STACK_LOCAL:
      return with_frame(JVMPI_GC_ROOT_JAVA_FRAME, info->stack_local.thread_tag, info->stack_local.depth);
    case JVMTI_HEAP_REFERENCE_THREAD:
      out_.u1(JVMPI_GC_ROOT_THREAD_BLOCK);
      out_.id(object);
      out_.id(env_of_thread(tag));
      return;
    case JVMTI_HEAP_REFERENCE_SYSTEM_CLASS: out_.u1(JVMPI_GC_ROOT_STICKY_CLASS); break;
    case JVMTI_HEAP_REFERENCE_MONITOR: out_.u1(JVMPI_GC_ROOT_MONITOR_USED); break;
    default: out_.u1(JVMPI_GC_ROOT_UNKNOWN);
  }
  out_.id(object);
}

// Starts the record of an object if the previous callback was for another object.
void DumpWriter::begin(jlong tag, jlong class_tag) {
  if ((tag & ~kTagFlags) == current_) return;
  end_class();
  current_ = tag & ~kTagFlags;
  values_ = 0;
  count_ = 0;
  if (ClassLayout* own = (tag & kIsClass) != 0 ? layouts_.find(tag) : nullptr) return begin_class(*own);
  // A java.lang.Class without a loaded class gets no record: int.class, and those named in meet().
  layout_ = is_class_class(class_tag) ? nullptr : layouts_.find(class_tag);
  if (layout_ == nullptr) return;
  const jobjectID object = id_of_tag(tag);
  if (layout_->element == 0) {
    if (level_ == JVMPI_DUMP_LEVEL_0) {
      out_.u1(JVMPI_NORMAL_OBJECT);
      return out_.id(object);
    }
    out_.u1(JVMPI_GC_INSTANCE_DUMP);
    out_.id(object);
    out_.id(layout_->id);
    out_.u4(layout_->instance_bytes);
    values_ = out_.size();
    return out_.zeros(layout_->instance_bytes);
  }
  if (type_of_signature(layout_->element) != JVMPI_CLASS) return;  // its values are in its record
  if (level_ == JVMPI_DUMP_LEVEL_0) {
    out_.u1(JVMPI_CLASS);
    return out_.id(object);
  }
  const std::uint32_t length = lengths_.find(static_cast<std::uint64_t>(current_));
  count_ = length == 0 ? 0 : length - 1;
  out_.u1(JVMPI_GC_OBJ_ARRAY_DUMP);
  out_.id(object);
  out_.u4(count_);
  out_.id(layout_->element_class);
  values_ = out_.size();
  out_.zeros(count_ * sizeof(jobjectID));
}

void DumpWriter::begin_class(ClassLayout& layout) {
  layout_ = &layout;
  is_class_ = true;
  loader_ = signers_ = domain_ = nullptr;
  constants_.clear();
  constant_count_ = 0;
  static_values_.clear();
  static_values_.zeros(layout.static_bytes);
}

// In the record of a class, the interfaces and constants, which come last, are in the middle. So the record is
// written when it is complete.
void DumpWriter::end_class() {
  if (!is_class_) return;
  is_class_ = false;
  if (layout_->size_at != 0 || layout_->element != 0) return;
  if (level_ == JVMPI_DUMP_LEVEL_0) {
    out_.u1(JVMPI_NORMAL_OBJECT);
    out_.id(layout_->id);
    layout_->size_at = out_.size();  // it is written already; at this level nothing is patched later
    return;
  }
  out_.u1(JVMPI_GC_CLASS_DUMP);
  for (const jobjectID each : {layout_->id, layout_->super, loader_, signers_, domain_}) out_.id(each);
  out_.id(nullptr);
  out_.id(nullptr);
  layout_->size_at = out_.size();
  out_.u4(layout_->instance_bytes);
  for (const jobjectID each : layout_->interfaces) out_.id(each);
  out_.u2(constant_count_);
  out_.append(constants_);
  out_.append(static_values_);
}

void DumpWriter::reference(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong tag) {
  const jobjectID object = id_of_tag(tag);
  if (is_class_) {
    if (kind == JVMTI_HEAP_REFERENCE_CLASS_LOADER) loader_ = object;
    if (kind == JVMTI_HEAP_REFERENCE_SIGNERS) signers_ = object;
    if (kind == JVMTI_HEAP_REFERENCE_PROTECTION_DOMAIN) domain_ = object;
    if (kind == JVMTI_HEAP_REFERENCE_CONSTANT_POOL) {
      ++constant_count_;
      constants_.u2(static_cast<std::size_t>(info->constant_pool.index));
      constants_.u1(JVMPI_CLASS);
      constants_.id(object);
    }
    const auto index = static_cast<std::size_t>(info != nullptr ? info->field.index : 0);
    if (kind != JVMTI_HEAP_REFERENCE_STATIC_FIELD || index >= layout_->statics.size()) return;
    const std::int32_t offset = layout_->statics[index].offset;
    if (offset >= 0) static_values_.patch_id(static_cast<std::size_t>(offset), object);
    return;
  }
  if (values_ == 0) return;
  if (kind == JVMTI_HEAP_REFERENCE_ARRAY_ELEMENT && static_cast<std::size_t>(info->array.index) < count_)
    out_.patch_id(values_ + static_cast<std::size_t>(info->array.index) * sizeof(jobjectID), object);
  if (kind != JVMTI_HEAP_REFERENCE_FIELD || static_cast<std::size_t>(info->field.index) >= layout_->instance.size())
    return;
  const std::int32_t offset = layout_->instance[static_cast<std::size_t>(info->field.index)].offset;
  if (offset >= 0) out_.patch_id(values_ + static_cast<std::size_t>(offset), object);
}

jint DumpWriter::on_primitive_field(jvmtiHeapReferenceKind kind, const jvmtiHeapReferenceInfo* info, jlong class_tag,
                                    jlong* tag, jvalue value, jvmtiPrimitiveType type, void* self) {
  auto& writer = *static_cast<DumpWriter*>(self);
  if (writer.level_ != JVMPI_DUMP_LEVEL_2 || *tag == 0 || !writer.concerns(tag)) return 0;
  writer.begin(*tag, class_tag);
  if (writer.layout_ == nullptr) return 0;
  const bool is_static = kind == JVMTI_HEAP_REFERENCE_STATIC_FIELD;
  const std::vector<ClassLayout::Place>& places = is_static ? writer.layout_->statics : writer.layout_->instance;
  const auto index = static_cast<std::size_t>(info->field.index);
  // The declared type of the field gives its size; the two agree.
  if (index >= places.size() || places[index].offset < 0 || places[index].type != static_cast<char>(type)) return 0;
  const auto offset = static_cast<std::size_t>(places[index].offset);
  if (is_static && writer.is_class_) writer.static_values_.patch_value(offset, value, static_cast<char>(type));
  else if (!is_static && writer.values_ != 0)
    writer.out_.patch_value(writer.values_ + offset, value, static_cast<char>(type));
  return 0;
}

jint DumpWriter::on_primitive_array(jlong, jlong, jlong* tag, jint count, jvmtiPrimitiveType type, const void* elements,
                                    void* self) {
  auto& writer = *static_cast<DumpWriter*>(self);
  if (*tag == 0 || !writer.concerns(tag)) return 0;
  writer.end_class();
  writer.current_ = 0;
  DumpBuffer& out = writer.out_;
  const jint kind = type_of_signature(static_cast<char>(type));
  if (writer.level_ == JVMPI_DUMP_LEVEL_0) {
    out.u1(kind);
    out.id(id_of_tag(*tag));
    return 0;
  }
  out.u1(JVMPI_GC_PRIM_ARRAY_DUMP);
  out.id(id_of_tag(*tag));
  out.u4(static_cast<std::size_t>(count));
  out.u1(kind);
  if (writer.level_ != JVMPI_DUMP_LEVEL_2) return 0;
  const std::uint32_t size = size_of_value(static_cast<char>(type));
  const auto* from = static_cast<const unsigned char*>(elements);
  for (jint i = 0; i < count; ++i, from += size) {
    jvalue value{};
    std::memcpy(&value, from, size);  // the value is in the first bytes: the machine is little endian
    out.value(value, static_cast<char>(type));
  }
  return 0;
}

// Classes that no callback reported get records too; the sizes of instances are known now.
void DumpWriter::finish() {
  end_class();
  for (ClassLayout& each : layouts_.all()) {
    if (each.is_reached && each.size_at == 0 && only_ == 0) {
      begin_class(each);
      end_class();
    }
    if (level_ != JVMPI_DUMP_LEVEL_0 && each.size_at != 0 && each.object_size != 0)
      out_.patch_u4(each.size_at, each.object_size);
  }
}

}  // namespace

bool send_heap_dump(Bridge& bridge, JNIEnv* jni, jint level) {
  DumpWriter writer(bridge, jni, level);
  writer.layouts().add_all_loaded();
  writer.add_threads();
  CallTraces traces;
  if (level != JVMPI_DUMP_LEVEL_0) traces.take(bridge);
  if (!writer.walk(nullptr)) return false;
  writer.report_objects(jni);
  writer.finish();
  JVMPI_Event event = event_of(JVMPI_EVENT_HEAP_DUMP | JVMPI_REQUESTED_EVENT, jni);
  event.u.heap_dump.dump_level = level;
  event.u.heap_dump.begin = writer.out().begin();
  event.u.heap_dump.end = writer.out().end();
  event.u.heap_dump.num_traces = traces.count();
  event.u.heap_dump.traces = traces.data();
  bridge.notify(event);
  return true;
}

bool send_object_dump(Bridge& bridge, JNIEnv* jni, jobject object) {
  DumpWriter writer(bridge, jni, JVMPI_DUMP_LEVEL_2);
  const bool class_itself = jni->IsInstanceOf(object, bridge.class_class);
  writer.layouts().add(class_itself ? static_cast<jclass>(object) : jni->GetObjectClass(object));
  if (!writer.walk(object)) return false;
  writer.report_objects(jni);
  writer.finish();
  if (writer.out().size() == 0) return false;
  JVMPI_Event event = event_of(JVMPI_EVENT_OBJECT_DUMP | JVMPI_REQUESTED_EVENT, jni);
  event.u.object_dump.data_len = static_cast<jint>(writer.out().size());
  event.u.object_dump.data = writer.out().begin();
  bridge.notify(event);
  return true;
}

}  // namespace jtrace::agent::jvmpi
