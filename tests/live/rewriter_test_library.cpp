// The native half of tests/apps/RewriteAll.java: a JVM TI environment whose ClassFileLoadHook puts callouts into the
// classes that are retransformed, or removes their StackMapTables and has them computed. The JVM verifies the result;
// the callouts call the empty methods of a helper class.
#include <jni.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_assembly.h"
#include "agent/classfile/class_builder.h"
#include "agent/classfile/class_frames.h"
#include "agent/classfile/class_rewriter.h"
#include "agent/classfile/method_code.h"
#include "agent/jvmpi/loader_hierarchy.h"

namespace {

using namespace jtrace::agent::classfile;

constexpr char kHelper[] = "java/lang/JTraceRewriterTest";
constexpr std::uint32_t kFramesInstead = 1u << 30;  // in place of callouts: tables are dropped and computed
jvmtiEnv* g_jvmti = nullptr;
jtrace::agent::jvmpi::LoaderMethods g_loader_methods;
long g_completed = 0;
long g_left = 0;
long g_guesses = 0;
bool g_on = false;
std::uint32_t g_callouts = 0;
// Spreads the numbers over all instructions that push one.
std::uint32_t g_number = 0;
long g_outcomes[8];
long g_open_starts = 0;
long g_classes = 0;
long g_pool_full = 0;
long g_unread = 0;
long g_bytes_before = 0;
long g_bytes_after = 0;
long long g_ns = 0;

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

Bytes helper_class() {
  ClassBuilder made(kHelper, "java/lang/Object");
  CodeBuilder code(made.pool());
  code.op(kReturn);
  // None of the methods takes more than four words.
  for (const CalloutMethodText& each : kCalloutMethods) made.add_method(0x0009, each.name, each.descriptor, 1, 4, code);
  return made.finish();
}

// The class as a writer that does not know StackMapTables would write it.
Bytes without_tables(const ClassFile& klass) {
  ClassAssembly assembly(klass);
  for (const Method& method : klass.methods()) {
    MethodCode code;
    if (!method.has_code() || !code.read(klass, method)) {
      assembly.add(method);
      continue;
    }
    Bytes made;
    const std::uint8_t* bytes = klass.bytes().data();
    const std::size_t attributes_at =
        code.attributes().empty() ? method.code.data + method.code.size - 2 : code.attributes()[0].start - 2;
    put_bytes(made, bytes + method.code.start, attributes_at - method.code.start);
    put2(made, 0);
    unsigned count = 0;
    for (const Attribute& each : code.attributes()) {
      if (each.name == "StackMapTable") continue;
      put_bytes(made, bytes + each.start, each.data + each.size - each.start);
      ++count;
    }
    set2(made, attributes_at - method.code.start, count);
    set4(made, 2, static_cast<std::uint32_t>(made.size() - 6));
    assembly.add(method, made);
  }
  Bytes out;
  assembly.finish(ConstantPool(klass.constant_count()), out);
  return out;
}

bool compute_frames(JNIEnv* jni, jobject loader, const ClassFile& klass, Bytes& out) {
  const Bytes stripped = without_tables(klass);
  ClassFile bare;
  if (!bare.parse(stripped)) return false;
  FrameReport report;
  jtrace::agent::jvmpi::LoaderHierarchy hierarchy(g_jvmti, jni, g_loader_methods, loader);
  const long long start = now_ns();
  const bool completed = complete_frames(bare, hierarchy, report, out);
  g_ns += now_ns() - start;
  g_completed += report.completed;
  g_left += report.left;
  g_guesses += report.guesses;
  if (report.left + report.guesses > 0)
    fprintf(stderr, "%.*s: %u methods left, %u types guessed\n", static_cast<int>(klass.name().size()),
            klass.name().data(), report.left, report.guesses);
  return completed;
}

std::uint32_t number_of(void*, const ClassFile::Reference&, bool) { return g_number += 3; }

void give(jvmtiEnv* jvmti, const Bytes& out, jint* new_size, unsigned char** new_data) {
  if (jvmti->Allocate(static_cast<jlong>(out.size()), new_data) != JVMTI_ERROR_NONE) return;
  memcpy(*new_data, out.data(), out.size());
  *new_size = static_cast<jint>(out.size());
}

void JNICALL load_hook(jvmtiEnv* jvmti, JNIEnv* jni, jclass redefined, jobject loader, const char* name, jobject,
                       jint size, const unsigned char* data, jint* new_size, unsigned char** new_data) {
  if (!g_on || redefined == nullptr) return;
  const long long start = now_ns();
  ClassFile klass;
  if (!klass.parse({data, static_cast<std::size_t>(size)})) {
    ++g_unread;
    fprintf(stderr, "not read: %s\n", name == nullptr ? "?" : name);
    return;
  }
  if (g_callouts == kFramesInstead) {
    Bytes out;
    ++g_classes;
    if (compute_frames(jni, loader, klass, out)) give(jvmti, out, new_size, new_data);
    return;
  }
  std::vector<MethodPlan> plans(klass.methods().size());
  for (MethodPlan& plan : plans) plan = {.number = g_number += 3, .callouts = g_callouts};
  if (g_number > 70'000) g_number = 0;
  Bytes out;
  const ClassOutcome outcome = rewrite_class(klass, kHelper, plans, out, {number_of, nullptr});
  g_ns += now_ns() - start;
  if (outcome == ClassOutcome::kPoolFull) ++g_pool_full;
  if (outcome == ClassOutcome::kMalformed) ++g_unread;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    ++g_outcomes[static_cast<int>(plans[i].outcome)];
    g_open_starts += plans[i].open_start;
    if (plans[i].outcome >= Outcome::kTooLarge || plans[i].outcome == Outcome::kReduced)
      fprintf(stderr, "%s: %.*s.%.*s\n", to_text(plans[i].outcome).data(), static_cast<int>(klass.name().size()),
              klass.name().data(), static_cast<int>(klass.methods()[i].name.size()), klass.methods()[i].name.data());
  }
  ++g_classes;
  // C2 crashes when it compiles its constructor with a handler in it (seen with JDK 17 and 25): it is never rewritten.
  if (klass.name() == "java/lang/Object") return;
  if (outcome != ClassOutcome::kRewritten) return;
  g_bytes_before += size;
  g_bytes_after += static_cast<long>(out.size());
  give(jvmti, out, new_size, new_data);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  g_jvmti = static_cast<jvmtiEnv*>(env);
  jvmtiCapabilities wanted{};
  wanted.can_retransform_classes = 1;
  if (g_jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) return JNI_ERR;
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = load_hook;
  g_jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  g_jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
  void* jni = nullptr;
  if (vm->GetEnv(&jni, JNI_VERSION_1_6) != JNI_OK) return JNI_ERR;
  if (!g_loader_methods.learn(static_cast<JNIEnv*>(jni))) return JNI_ERR;
  const Bytes helper = helper_class();
  if (static_cast<JNIEnv*>(jni)->DefineClass(kHelper, nullptr, reinterpret_cast<const jbyte*>(helper.data()),
                                             static_cast<jsize>(helper.size())) == nullptr)
    return JNI_ERR;
  return JNI_VERSION_1_6;
}

extern "C" JNIEXPORT jint JNICALL Java_RewriteAll_rewrite(JNIEnv* jni, jclass, jobjectArray classes, jint callouts) {
  g_callouts = static_cast<std::uint32_t>(callouts);
  const jint count = jni->GetArrayLength(classes);
  jni->PushLocalFrame(count + 16);
  std::vector<jclass> batch;
  for (jint i = 0; i < count; ++i) {
    auto* klass = static_cast<jclass>(jni->GetObjectArrayElement(classes, i));
    jboolean modifiable = JNI_FALSE;
    g_jvmti->IsModifiableClass(klass, &modifiable);
    if (modifiable != JNI_FALSE) batch.push_back(klass);
  }
  g_on = true;
  jint failed = 0;
  if (!batch.empty() &&
      g_jvmti->RetransformClasses(static_cast<jint>(batch.size()), batch.data()) != JVMTI_ERROR_NONE) {
    for (jclass klass : batch) {
      // Whether the callouts are the cause: a class that does not link (because its superclass is missing) fails
      // without them too.
      const jvmtiError error = g_jvmti->RetransformClasses(1, &klass);
      if (error == JVMTI_ERROR_NONE) continue;
      g_on = false;
      const jvmtiError plain = g_jvmti->RetransformClasses(1, &klass);
      g_on = true;
      if (plain == error) continue;
      ++failed;
      char* signature = nullptr;
      g_jvmti->GetClassSignature(klass, &signature, nullptr);
      fprintf(stderr, "refused: %s (error %d, without callouts %d)\n", signature, error, plain);
      g_jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
    }
  }
  g_on = false;
  jni->PopLocalFrame(nullptr);
  return failed;
}

extern "C" JNIEXPORT jstring JNICALL Java_RewriteAll_figures(JNIEnv* jni, jclass) {
  char text[512];
  snprintf(text, sizeof text,
           "rewritten=%ld reduced=%ld noCode=%ld tooLarge=%ld jumpTooFar=%ld malformed=%ld openStarts=%ld poolFull=%ld "
           "unread=%ld nsPerClass=%lld bytes=%ld/%ld completed=%ld left=%ld guesses=%ld",
           g_outcomes[1], g_outcomes[2], g_outcomes[3], g_outcomes[4], g_outcomes[5], g_outcomes[6], g_open_starts,
           g_pool_full, g_unread, g_classes == 0 ? 0 : g_ns / g_classes, g_bytes_after, g_bytes_before, g_completed,
           g_left, g_guesses);
  return jni->NewStringUTF(text);
}
