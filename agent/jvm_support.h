// Helpers for JVM TI and JNI: destructors release what the interface returned, and names that the build's jvmti.h may
// not have are defined here with their numbers.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace jtrace::agent {

// Bits of jvmtiCapabilities that came after JDK 8 (jvmti.xml: "since" 11 and 21), by their position in the bit field.
inline constexpr unsigned kCanGenerateSampledObjectAllocEvents = 43;  // JDK 11
inline constexpr unsigned kCanSupportVirtualThreads = 44;             // JDK 21
// Events that came with JDK 21 (jvmti.xml).
inline constexpr int kEventVirtualThreadStart = 87;
inline constexpr int kEventVirtualThreadEnd = 88;
inline constexpr int kFirstEvent = JVMTI_MIN_EVENT_TYPE_VAL;

inline bool has_capability(const jvmtiCapabilities& capabilities, unsigned bit) {
  unsigned char bytes[sizeof capabilities];
  std::memcpy(bytes, &capabilities, sizeof bytes);
  return (bytes[bit / 8] >> (bit % 8)) & 1;
}
inline void set_capability(jvmtiCapabilities& capabilities, unsigned bit) {
  unsigned char bytes[sizeof capabilities];
  std::memcpy(bytes, &capabilities, sizeof bytes);
  bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] | (1u << (bit % 8)));
  std::memcpy(&capabilities, bytes, sizeof bytes);
}

// jvmtiEventCallbacks with room for the events of later JDKs: a table of function pointers from kFirstEvent on.
struct EventCallbacks {
  void (*entries[96])() = {};
  int set_twice = 0;  // an event whose first callback is lost, 0: none. The unit tests look

  template <class Function>
  void set(int event, Function* function) {
    auto& entry = entries[event - kFirstEvent];
    if (entry != nullptr) set_twice = event;
    entry = reinterpret_cast<void (*)()>(function);
  }
  bool has(int event) const { return entries[event - kFirstEvent] != nullptr; }
  void give_to(jvmtiEnv* jvmti) const {
    jvmti->SetEventCallbacks(reinterpret_cast<const jvmtiEventCallbacks*>(entries), sizeof entries);
  }
};

// Memory of JVM TI (Allocate), given back with Deallocate.
template <class T>
class JvmtiMemory {
 public:
  explicit JvmtiMemory(jvmtiEnv* jvmti) : jvmti_(jvmti) {}
  JvmtiMemory(const JvmtiMemory&) = delete;
  JvmtiMemory& operator=(const JvmtiMemory&) = delete;
  ~JvmtiMemory() {
    if (memory_ != nullptr) jvmti_->Deallocate(reinterpret_cast<unsigned char*>(memory_));
  }
  T** out() { return &memory_; }
  T* get() const { return memory_; }
  T& operator[](jint i) const { return memory_[i]; }

 private:
  jvmtiEnv* jvmti_;
  T* memory_ = nullptr;
};

// A string of JVM TI: modified UTF-8, empty if there is none.
class JvmtiText : public JvmtiMemory<char> {
 public:
  using JvmtiMemory::JvmtiMemory;
  std::string_view view() const { return get() == nullptr ? std::string_view() : std::string_view(get()); }
};

// "Ljava/lang/String;" as "java/lang/String"; arrays keep their signature, which is their internal name.
inline std::string_view internal_name(std::string_view signature) {
  return signature.size() > 2 && signature.front() == 'L' ? signature.substr(1, signature.size() - 2) : signature;
}

// Room for local references, freed together at the end of the scope: callbacks may run in threads that never return to
// Java.
class LocalFrame {
 public:
  LocalFrame(JNIEnv* jni, jint capacity) : jni_(jni), pushed_(jni->PushLocalFrame(capacity) == 0) {
    if (!pushed_) jni_->ExceptionClear();
  }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;
  ~LocalFrame() {
    if (pushed_) jni_->PopLocalFrame(nullptr);
  }

 private:
  JNIEnv* jni_;
  bool pushed_;
};

// The calling thread: the virtual one, or during its mount or unmount the carrier. Null if JVM TI does not return it.
class CurrentThread {
 public:
  CurrentThread(jvmtiEnv* jvmti, JNIEnv* jni) : jni_(jni) {
    if (jvmti->GetCurrentThread(&thread_) != JVMTI_ERROR_NONE) thread_ = nullptr;
  }
  CurrentThread(const CurrentThread&) = delete;
  CurrentThread& operator=(const CurrentThread&) = delete;
  ~CurrentThread() {
    if (thread_ != nullptr) jni_->DeleteLocalRef(thread_);
  }
  jthread get() const { return thread_; }

 private:
  JNIEnv* jni_;
  jthread thread_ = nullptr;
};

// Call it when JVM TI has returned `count` local references: otherwise -Xcheck:jni prints a warning that no capacity
// was reserved for them. (JDK 17 adds the argument to the earlier capacity, later ones to the current number.)
inline void accept_references(JNIEnv* jni, jint count) {
  constexpr jint kMost = 65536;  // MaxJNILocalCapacity (globals.hpp, JDK 8 to 27)
  const jint wanted = count < kMost - 16 ? count + 16 : kMost;
  if (jni->EnsureLocalCapacity(wanted) != 0) jni->ExceptionClear();
}

// Calls use(jclass) for each loaded class; the reference is freed afterwards. false: JVM TI failed.
template <class Use>
bool for_each_loaded_class(jvmtiEnv* jvmti, JNIEnv* jni, Use&& use) {
  jint count = 0;
  JvmtiMemory<jclass> classes(jvmti);
  if (jvmti->GetLoadedClasses(&count, classes.out()) != JVMTI_ERROR_NONE) return false;
  accept_references(jni, count);
  for (jint i = 0; i < count; ++i) {
    use(classes[i]);
    jni->DeleteLocalRef(classes[i]);
  }
  return true;
}

// The class as a local reference, null if it was unloaded. Deletes the weak one.
inline jclass take_reference(JNIEnv* jni, jweak reference) {
  if (reference == nullptr) return nullptr;
  auto klass = static_cast<jclass>(jni->NewLocalRef(reference));
  jni->DeleteWeakGlobalRef(reference);
  return klass;
}

// The number of classes that are retransformed at once: limits each pause of the JVM.
inline constexpr jint kBatch = 200;

// Calls use(classes, count) with the loaded classes for which wanted(jclass) is true, at most kBatch at a time. Until
// then they are held weakly, so that a program that drops classes does not run out of metaspace meanwhile.
template <class Wanted, class Use>
void for_each_batch(jvmtiEnv* jvmti, JNIEnv* jni, Wanted&& wanted, Use&& use) {
  std::vector<jweak> left;
  for_each_loaded_class(jvmti, jni, [&](jclass klass) {
    if (wanted(klass)) left.push_back(jni->NewWeakGlobalRef(klass));
  });
  for (std::size_t next = 0; next < left.size();) {
    LocalFrame frame(jni, kBatch + 16);
    jclass batch[kBatch];
    jint filled = 0;
    for (; next < left.size() && filled < kBatch; ++next)
      if (jclass klass = take_reference(jni, left[next])) batch[filled++] = klass;
    if (filled > 0) use(&batch[0], filled);
  }
}

class RawMonitorLock {
 public:
  RawMonitorLock(jvmtiEnv* jvmti, jrawMonitorID monitor) : jvmti_(jvmti), monitor_(monitor) {
    jvmti_->RawMonitorEnter(monitor_);
  }
  RawMonitorLock(const RawMonitorLock&) = delete;
  RawMonitorLock& operator=(const RawMonitorLock&) = delete;
  ~RawMonitorLock() { jvmti_->RawMonitorExit(monitor_); }

 private:
  jvmtiEnv* jvmti_;
  jrawMonitorID monitor_;
};

}  // namespace jtrace::agent
