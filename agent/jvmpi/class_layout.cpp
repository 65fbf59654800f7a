#include "agent/jvmpi/class_layout.h"

#include "agent/jvmpi/class_events.h"
#include "agent/jvmpi/dump_buffer.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr jint kStatic = 0x0008;  // JVMS 4.5

bool is_reference(char type) { return type == 'L' || type == '['; }

}  // namespace

void ClassLayouts::add_all_loaded() {
  for_each_loaded_class(bridge_.jvmti, jni_, [&](jclass klass) {
    jint status = 0;
    bridge_.jvmti->GetClassStatus(klass, &status);
    // A class that is not linked has no values yet, and has not been reported.
    if ((status & (JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY)) == 0) return;
    bridge_.defined_class(jni_, klass);
    add(klass);
  });
}

void ClassLayouts::add(jclass klass) {
  const jobjectID id = id_of(klass);
  if (id == nullptr || index_.find(reinterpret_cast<std::uint64_t>(id)) != 0) return;
  LocalFrame frame(jni_, 16);
  JvmtiText signature(bridge_.jvmti);
  if (bridge_.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return;
  const std::string_view text = signature.view();
  ClassLayout made;
  made.id = id;
  if (text.size() > 1 && text[0] == '[') add_array(klass, made, text[1]);
  else add_instance_class(klass, made);
  layouts_.push_back(static_cast<ClassLayout&&>(made));
  index_.put(reinterpret_cast<std::uint64_t>(id), static_cast<std::uint32_t>(layouts_.size()));
}

void ClassLayouts::add_array(jclass klass, ClassLayout& made, char element) {
  made.element = element;
  if (is_reference(element)) made.element_class = id_of(component_of(jni_, klass));
}

std::vector<ClassLayouts::Field> ClassLayouts::fields_of(jclass klass) const {
  std::vector<Field> found;
  jint count = 0;
  JvmtiMemory<jfieldID> fields(bridge_.jvmti);
  if (bridge_.jvmti->GetClassFields(klass, &count, fields.out()) != JVMTI_ERROR_NONE) return found;
  for (jint i = 0; i < count; ++i) {
    JvmtiText signature(bridge_.jvmti);
    jint modifiers = 0;
    bridge_.jvmti->GetFieldName(klass, fields[i], nullptr, signature.out(), nullptr);
    bridge_.jvmti->GetFieldModifiers(klass, fields[i], &modifiers);
    found.push_back({signature.view().empty() ? 'L' : signature.view()[0], (modifiers & kStatic) != 0});
  }
  return found;
}

// All inherited interfaces, each once, and the number of their fields.
void ClassLayouts::collect_interfaces(jclass klass, std::vector<jobjectID>& found, std::uint32_t& fields) const {
  jint count = 0;
  JvmtiMemory<jclass> interfaces(bridge_.jvmti);
  if (bridge_.jvmti->GetImplementedInterfaces(klass, &count, interfaces.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    const jobjectID id = id_of(interfaces[i]);
    bool known = false;
    for (jobjectID each : found) known = known || each == id;
    if (!known) {
      found.push_back(id);
      jint own = 0;
      JvmtiMemory<jfieldID> ids(bridge_.jvmti);
      if (bridge_.jvmti->GetClassFields(interfaces[i], &own, ids.out()) == JVMTI_ERROR_NONE)
        fields += static_cast<std::uint32_t>(own);
      collect_interfaces(interfaces[i], found, fields);
    }
    jni_->DeleteLocalRef(interfaces[i]);
  }
}

// `own`: the fields of the class itself; the statics of a superclass are in the superclass's record.
void ClassLayouts::place(const std::vector<Field>& fields, std::uint32_t first, bool own, ClassLayout& made) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Field& field = fields[i];
    if (field.is_static && !own) continue;
    std::vector<ClassLayout::Place>& places = field.is_static ? made.statics : made.instance;
    std::uint32_t& bytes = field.is_static ? made.static_bytes : made.instance_bytes;
    if (places.size() <= first + i) places.resize(first + i + 1);
    if (references_only_ && !is_reference(field.type)) continue;
    places[first + i] = {static_cast<std::int32_t>(bytes), field.type};
    bytes += size_of_value(field.type);
  }
}

// An index counts the fields of all inherited interfaces, then those of the superclasses from java.lang.Object down,
// then those of the class (JVM TI, jvmtiHeapReferenceInfoField). A dump record starts with the class's own values.
void ClassLayouts::add_instance_class(jclass klass, ClassLayout& made) {
  jint direct = 0;
  JvmtiMemory<jclass> interfaces(bridge_.jvmti);
  if (bridge_.jvmti->GetImplementedInterfaces(klass, &direct, interfaces.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < direct; ++i) {
    made.interfaces.push_back(id_of(interfaces[i]));
    jni_->DeleteLocalRef(interfaces[i]);
  }
  std::vector<std::vector<Field>> chain;  // the class, its superclass, ...
  std::vector<jobjectID> inherited;
  std::uint32_t index = 0;
  auto each = static_cast<jclass>(jni_->NewLocalRef(klass));
  while (each != nullptr) {
    chain.push_back(fields_of(each));
    collect_interfaces(each, inherited, index);
    jclass super = jni_->GetSuperclass(each);
    if (chain.size() == 1) made.super = id_of(super);
    jni_->DeleteLocalRef(each);
    each = super;
  }
  std::vector<std::uint32_t> first(chain.size());
  for (std::size_t i = chain.size(); i-- > 0;) {
    first[i] = index;
    index += static_cast<std::uint32_t>(chain[i].size());
  }
  for (std::size_t i = 0; i < chain.size(); ++i) place(chain[i], first[i], i == 0, made);
}

}  // namespace jtrace::agent::jvmpi
