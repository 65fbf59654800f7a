#include "agent/methods/left_constructors.h"

#include <algorithm>
#include <vector>

#include "agent/classfile/callout_methods.h"
#include "agent/jvm_support.h"
#include "agent/methods/callout_thread.h"
#include "base/clock.h"

namespace jtrace::agent {
namespace {

constexpr std::uint64_t kMuchRoom = 1024;  // frames of a stack of open calls

// The earliest time of the next look at a thread's stack, after a look that began at the given time. A look at a deep
// stack takes milliseconds; all looks together must take less than a fiftieth of the thread's time.
std::uint64_t next_look_after(std::uint64_t begin) {
  constexpr std::uint64_t kBetweenLooks = 10'000'000;  // ns, at least
  const std::uint64_t end = monotonic_ns();
  return end + std::max(kBetweenLooks, 50 * (end - begin));
}

jclass class_of(jvmtiEnv* jvmti, jmethodID method) {
  jclass klass = nullptr;
  return jvmti->GetMethodDeclaringClass(method, &klass) == JVMTI_ERROR_NONE ? klass : nullptr;
}

// While a virtual thread is being mounted (by classes of the JDK), the stack is not the thread's own.
bool may_look(const CalloutGuard& guard) {
  return !guard.recorder().threads.may_be_virtual() || !guard.area().has_boot_callouts();
}

// How many of the innermost frames are the agent's own. On entry to a method, its frame is counted too.
std::size_t frames_not_open(jvmtiEnv* jvmti, JNIEnv* jni, const std::vector<jvmtiFrameInfo>& frames) {
  LocalFrame local(jni, 8);
  const jclass callouts = class_of(jvmti, frames[0].method);
  bool enters = false;
  std::size_t at = 0;
  for (; at < frames.size(); ++at) {
    const jclass klass = class_of(jvmti, frames[at].method);
    const bool is_callout = jni->IsSameObject(klass, callouts) != JNI_FALSE;
    jni->DeleteLocalRef(klass);
    if (!is_callout) break;
    JvmtiText name(jvmti);
    jvmti->GetMethodName(frames[at].method, name.out(), nullptr, nullptr);
    enters = enters || classfile::begins_frame(name.view());
  }
  return enters ? at + 1 : at;
}

std::uint32_t number_of_constructor(const CalloutGuard& guard, JNIEnv* jni, jmethodID method) {
  jvmtiEnv* jvmti = guard.recorder().jvmti;
  JvmtiText name(jvmti), descriptor(jvmti);
  if (jvmti->GetMethodName(method, name.out(), descriptor.out(), nullptr) != JVMTI_ERROR_NONE ||
      name.view() != "<init>")
    return 0;
  const jclass klass = class_of(jvmti, method);
  jlong tag = 0;
  jvmti->GetTag(klass, &tag);
  jni->DeleteLocalRef(klass);
  if ((tag & kTagIsClass) == 0) return 0;
  return guard.tracer().numbers().number_of(id_of_tag(tag), name.view(), descriptor.view());
}

// The constructors with callouts that the calling thread is in, innermost first. False if they are not known.
bool constructors_on_stack(const CalloutGuard& guard, JNIEnv* jni, std::vector<std::uint32_t>& numbers) {
  if (!may_look(guard)) return false;
  Recorder& recorder = guard.recorder();
  const CurrentThread thread(recorder.jvmti, jni);
  jint count = 0;
  if (thread.get() == nullptr || recorder.jvmti->GetFrameCount(thread.get(), &count) != JVMTI_ERROR_NONE ||
      count <= 0 || count > recorder.looks.most_frames())
    return false;
  std::vector<jvmtiFrameInfo> frames(static_cast<std::size_t>(count));
  count = recorder.looks.frames_of(recorder.jvmti, thread.get(), 0, count, frames.data());
  if (count <= 0) return false;
  frames.resize(static_cast<std::size_t>(count));
  LocalFrame local(jni, 8);
  for (std::size_t i = frames_not_open(recorder.jvmti, jni, frames); i < frames.size(); ++i) {
    const std::uint32_t number = number_of_constructor(guard, jni, frames[i].method);
    if (number != 0 && guard.area().open_calls().is_constructor(number)) numbers.push_back(number);
  }
  return true;
}

}  // namespace

void drop_left_constructors(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack) {
  OpenCalls& calls = guard.area().open_calls();
  std::vector<std::uint32_t> inside;
  if (!calls.has_open_constructor(stack) || !constructors_on_stack(guard, jni, inside)) return;
  calls.drop_left(stack, inside, [&](const OpenCalls::Frame& frame, std::uint64_t end) {
    if (!frame.is_written() || chunk_for(guard, jni, 0, thread) == nullptr) return;
    record::LateUnwindRecord made{};
    made.header.number = frame.number();
    made.end = end != 0 ? end : call_time(guard.recorder());
    guard.write(made, record::RecordKind::kLateUnwind);
  });
}

bool make_room(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread, OpenCalls::Stack& stack) {
  const std::uint64_t begin = monotonic_ns();
  if (begin < stack.next_look || current_thread(guard.recorder(), jni) != thread) return false;
  drop_left_constructors(guard, jni, thread, stack);
  // Much room justifies a look: the exceptions that fill it take longer than the look.
  const bool pays = stack.depth + kMuchRoom <= OpenCalls::kFrames;
  stack.next_look = pays ? 0 : next_look_after(begin);
  return stack.depth < OpenCalls::kFrames;
}

bool write_constructor(const CalloutGuard& guard, JNIEnv* jni, std::uint64_t thread) {
  if (guard.recorder().config.slower_than != 0 || !guard.area().open_calls().has_constructors()) return false;
  const std::uint64_t begin = monotonic_ns();
  // While a virtual thread is being mounted, JVM TI shows the stack of another thread.
  if (begin < guard.producer().next_look || current_thread(guard.recorder(), jni) != thread) return false;
  std::vector<std::uint32_t> inside;
  const bool known = constructors_on_stack(guard, jni, inside);
  guard.producer().next_look = next_look_after(begin);
  if (!known) return false;
  record::CalloutRecord made{};
  made.header.number = inside.empty() ? 0 : inside.front();
  guard.write(made, record::RecordKind::kConstructor);
  // Within one method, frames of that method that were left stay on the stack. If a loop's records cross a chunk
  // boundary, the next look must not come at the same place again.
  for (std::uint64_t i = inside.empty() ? 0 : begin >> 10 & 3; i > 0; --i)
    guard.write(made, record::RecordKind::kPadding);
  return true;
}

}  // namespace jtrace::agent
