#include "agent/jvmpi/class_events.h"

#include <vector>

#include "agent/jvmpi/line_table.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr jint kStatic = 0x0008;  // JVMS 4.5

// JVM TI's strings that an event points to; freed together.
class Texts {
 public:
  explicit Texts(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;
  ~Texts() {
    for (char* each : texts_) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(each));
  }
  char* keep(char* text) {
    if (text != nullptr) texts_.push_back(text);
    return text;
  }

 private:
  jvmtiEnv* jvmti_;
  std::vector<char*> texts_;
};

// What a CLASS_LOAD event points to.
struct ClassText {
  explicit ClassText(jvmtiEnv* jvmti) : texts(jvmti) {}
  Texts texts;
  std::vector<JVMPI_Method> methods;
  std::vector<JVMPI_Field> statics;
  std::vector<JVMPI_Field> instances;
};

// "Ljava/lang/String;" as "java.lang.String", "[I" as "[I", "[Ljava/lang/String;" as "[Ljava.lang.String;".
char* name_of_signature(char* signature) {
  for (char* at = signature; *at != '\0'; ++at)
    if (*at == '/') *at = '.';
  if (*signature != 'L') return signature;
  const std::size_t length = std::strlen(signature);
  signature[length - 1] = '\0';
  return signature + 1;
}

void read_methods(jvmtiEnv* jvmti, jclass klass, ClassText& out) {
  jint count = 0;
  JvmtiMemory<jmethodID> methods(jvmti);
  if (jvmti->GetClassMethods(klass, &count, methods.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    JVMPI_Method made{};
    made.method_id = methods[i];
    char* name = nullptr;
    char* signature = nullptr;
    if (jvmti->GetMethodName(methods[i], &name, &signature, nullptr) != JVMTI_ERROR_NONE) continue;
    made.method_name = out.texts.keep(name);
    made.method_signature = out.texts.keep(signature);
    const LineTable lines(jvmti, methods[i]);
    made.start_lineno = lines.least();
    made.end_lineno = lines.greatest();
    out.methods.push_back(made);
  }
}

void read_fields(jvmtiEnv* jvmti, jclass klass, ClassText& out) {
  jint count = 0;
  JvmtiMemory<jfieldID> fields(jvmti);
  if (jvmti->GetClassFields(klass, &count, fields.out()) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; ++i) {
    char* name = nullptr;
    char* signature = nullptr;
    jint modifiers = 0;
    if (jvmti->GetFieldName(klass, fields[i], &name, &signature, nullptr) != JVMTI_ERROR_NONE) continue;
    JVMPI_Field made{out.texts.keep(name), out.texts.keep(signature)};
    jvmti->GetFieldModifiers(klass, fields[i], &modifiers);
    ((modifiers & kStatic) != 0 ? out.statics : out.instances).push_back(made);
  }
}

// Freed one by one: a class may implement more interfaces than a local frame holds references.
jint count_interfaces(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass) {
  jint count = 0;
  JvmtiMemory<jclass> interfaces(jvmti);
  if (jvmti->GetImplementedInterfaces(klass, &count, interfaces.out()) != JVMTI_ERROR_NONE) return 0;
  for (jint i = 0; i < count; ++i) jni->DeleteLocalRef(interfaces[i]);
  return count;
}

}  // namespace

// Uses the field Class.componentType (JDK 9 and later) or its getter.
jclass component_of(JNIEnv* jni, jclass array) {
  jclass class_class = jni->GetObjectClass(array);
  if (jfieldID field = jni->GetFieldID(class_class, "componentType", "Ljava/lang/Class;"))
    return static_cast<jclass>(jni->GetObjectField(array, field));
  jni->ExceptionClear();
  jmethodID getter = jni->GetMethodID(class_class, "getComponentType", "()Ljava/lang/Class;");
  jobject component = getter == nullptr ? nullptr : jni->CallObjectMethod(array, getter);
  jni->ExceptionClear();
  return static_cast<jclass>(component);
}

bool send_class_load(Bridge& bridge, JNIEnv* jni, jclass klass, jobjectID id, jint flags) {
  LocalFrame frame(jni, 16);
  jvmtiEnv* jvmti = bridge.jvmti;
  ClassText text(jvmti);
  char* signature = nullptr;
  if (jvmti->GetClassSignature(klass, &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  text.texts.keep(signature);
  char* source = nullptr;
  if (jvmti->GetSourceFileName(klass, &source) == JVMTI_ERROR_NONE) text.texts.keep(source);
  else source = nullptr;
  read_methods(jvmti, klass, text);
  read_fields(jvmti, klass, text);
  JVMPI_Event event = event_of(JVMPI_EVENT_CLASS_LOAD | flags, jni);
  auto& load = event.u.class_load;
  load.class_name = name_of_signature(signature);
  load.source_name = source;
  load.num_interfaces = count_interfaces(jvmti, jni, klass);
  load.num_methods = static_cast<jint>(text.methods.size());
  load.methods = text.methods.data();
  load.num_static_fields = static_cast<jint>(text.statics.size());
  load.statics = text.statics.data();
  load.num_instance_fields = static_cast<jint>(text.instances.size());
  load.instances = text.instances.data();
  load.class_id = id;
  bridge.notify(event);
  return true;
}

void report_loaded_classes(Bridge& bridge, JNIEnv* jni) {
  for_each_loaded_class(bridge.jvmti, jni, [&](jclass klass) {
    jint status = 0;
    bridge.jvmti->GetClassStatus(klass, &status);
    if ((status & (JVMTI_CLASS_STATUS_PREPARED | JVMTI_CLASS_STATUS_ARRAY)) != 0) bridge.defined_class(jni, klass);
  });
}

jint type_of_signature(char first) {
  switch (first) {
    case 'Z': return JVMPI_BOOLEAN;
    case 'C': return JVMPI_CHAR;
    case 'F': return JVMPI_FLOAT;
    case 'D': return JVMPI_DOUBLE;
    case 'B': return JVMPI_BYTE;
    case 'S': return JVMPI_SHORT;
    case 'I': return JVMPI_INT;
    case 'J': return JVMPI_LONG;
    default: return JVMPI_CLASS;
  }
}

KindOfClass kind_of_class(Bridge& bridge, JNIEnv* jni, jclass klass) {
  KindOfClass kind;
  LocalFrame frame(jni, 8);
  JvmtiText signature(bridge.jvmti);
  if (bridge.jvmti->GetClassSignature(klass, signature.out(), nullptr) != JVMTI_ERROR_NONE) return kind;
  const std::string_view text = signature.view();
  if (text.size() < 2 || text[0] != '[') {
    kind.class_id = bridge.defined_class(jni, klass);
    return kind;
  }
  kind.is_array = type_of_signature(text[1]);
  if (kind.is_array == JVMPI_CLASS) kind.class_id = bridge.defined_class(jni, component_of(jni, klass));
  return kind;
}

}  // namespace jtrace::agent::jvmpi
