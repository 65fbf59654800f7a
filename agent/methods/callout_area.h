// CalloutArea: the memory whose addresses are constants in the callouts' Java code, and which therefore keeps its place
// as long as the library is loaded: the table from threads to their chunks, the page with the coarse clock, the switch,
// the counters of calls, the open calls.
//
// The Java code (callout_class.h) reads it with plain loads. It is cleared but never unmapped: a callout that is in its
// last instructions when tracing ends writes into valid memory.
#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>

#include "agent/methods/call_counts.h"
#include "agent/methods/open_calls.h"
#include "trace/record/layout.h"

namespace jtrace::agent {

namespace record = trace::record;

struct CalloutValue;

// The functions of the callout class's native methods (callouts.h). The natives stay bound to the copy of the library
// that made the class; this table forwards them to the copy that is tracing.
struct CalloutNatives {
  jlong (*slow)(JNIEnv* jni, jlong carrier, jlong current);
  void (*thrown)(JNIEnv* jni, jobject object, jint line, jint number);
  void (*unwound)(JNIEnv* jni, jobject object, jint number);
  void (*caught)(JNIEnv* jni, jobject object, jint line, jint number);
  void (*uncounted)(jlong carrier);
  jlong (*opened)(JNIEnv* jni, jlong carrier, jlong thread);
  void (*ended)(JNIEnv* jni, jint number, jint kind);
  void (*idle)(jlong thread);
  void (*value)(JNIEnv* jni, const CalloutValue& value);
  jlong (*identify)(JNIEnv* jni, jobject object, jint is_new);
  void (*received)(JNIEnv* jni, jobject object, jint number, jint is_new, jlong thread);
  void (*made)(JNIEnv* jni, jobject object, jint site, jint number);
};

class CalloutArea {
 public:
  // nullptr if there is no memory for it. Made at the first call.
  static CalloutArea* get();
  // The area that an earlier copy of this library (with the same layout) made in this JVM, at the address in its
  // callout class; nullptr if it is not one. From then on get() returns it.
  static CalloutArea* adopt(std::uint64_t address);

  static constexpr std::uint64_t kEntries = 1u << 16;

  // The entry of a carrier thread: the address of its chunk's header, relative to base(); 0: none.
  std::atomic<std::uint64_t>& entry(std::uint64_t carrier) { return table_[carrier & (kEntries - 1)]; }
  std::uint64_t table_address() const { return reinterpret_cast<std::uint64_t>(table_); }
  std::uint64_t base() const { return reinterpret_cast<std::uint64_t>(&nobody_); }
  std::uint64_t clock_address() const {
    return reinterpret_cast<std::uint64_t>(&static_cast<record::PoolHeader*>(page_)->coarse_clock);
  }
  std::uint64_t switch_address() const { return reinterpret_cast<std::uint64_t>(&on_); }

  // Maps the clock of a pool; false if its first page cannot be mapped. hide_clock() removes it.
  bool show_clock(int pool_descriptor);
  void hide_clock();
  std::atomic<const CalloutNatives*>& natives() { return natives_; }
  void set_on(bool on) { on_.store(on ? 1 : 0, std::memory_order_seq_cst); }
  CallCounts& counts() { return counts_; }
  const CallCounts& counts() const { return counts_; }
  OpenCalls& open_calls() { return open_calls_; }
  const OpenCalls& open_calls() const { return open_calls_; }
  // A class of the boot loader has, or had, callouts: frames of it may keep them as long as the JVM lives.
  void note_boot_callouts() { boot_callouts_.store(true, std::memory_order_relaxed); }
  bool has_boot_callouts() const { return boot_callouts_.load(std::memory_order_relaxed); }
  // The thread ends: its counters and its stack of calls become free.
  void release(std::uint64_t thread) {
    counts_.release(thread);
    open_calls_.release(thread);
  }
  // From now on each thread must ask for a chunk before it writes.
  void clear();

 private:
  CalloutArea() = default;
  bool make();

  static constexpr std::uint64_t kMagic = 0x424552414a52544aull;  // "JTRJAREB"

  std::uint64_t magic_ = kMagic;
  record::ChunkHeader nobody_{};  // an empty entry points to this chunk, which has no thread
  std::atomic<std::uint64_t> on_{0};
  std::atomic<const CalloutNatives*> natives_{nullptr};
  std::atomic<std::uint64_t>* table_ = nullptr;
  void* page_ = nullptr;
  CallCounts counts_;
  OpenCalls open_calls_;
  std::atomic<bool> boot_callouts_{false};
};

}  // namespace jtrace::agent
