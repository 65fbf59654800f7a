#include "agent/jvmpi/monitor_dump.h"

#include "agent/jvmpi/call_traces.h"
#include "agent/jvmpi/dump_buffer.h"
#include "agent/jvmpi/raw_monitors.h"

namespace jtrace::agent::jvmpi {
namespace {

class MonitorDump {
 public:
  MonitorDump(Bridge& bridge, JNIEnv* jni) : bridge_(bridge), jni_(jni) {}

  // Adds the monitors that a thread holds and the one it waits for; each monitor once.
  void add_monitors_of(JNIEnv* env) {
    const ThreadUse use(bridge_.threads, env);
    if (use.thread() == nullptr) return;
    jint count = 0;
    JvmtiMemory<jobject> owned(bridge_.jvmti);
    if (bridge_.jvmti->GetOwnedMonitorInfo(use.thread(), &count, owned.out()) != JVMTI_ERROR_NONE) count = 0;
    for (jint i = 0; i < count; ++i) add(owned[i]);
    jobject contended = nullptr;
    if (bridge_.jvmti->GetCurrentContendedMonitor(use.thread(), &contended) == JVMTI_ERROR_NONE && contended != nullptr)
      add(contended);
  }
  void add_raw(JVMPI_RawMonitor monitor, const std::vector<ThreadRecord*>& records) {
    out_.u1(JVMPI_MONITOR_RAW);
    out_.id(monitor->name);
    out_.id(monitor);
    out_.id(monitor->owner.load());
    out_.u4(static_cast<std::size_t>(monitor->entries));
    add_waiting(records, [&](const ThreadRecord& record) { return record.entering.load() == monitor; });
    add_waiting(records, [&](const ThreadRecord& record) { return record.waiting.load() == monitor; });
  }
  DumpBuffer& out() { return out_; }

 private:
  void add(jobject object) {
    const jobjectID id = bridge_.defined_object(jni_, object);
    bool known = false;
    for (jobjectID each : seen_) known = known || each == id;
    if (!known && id != nullptr) {
      seen_.push_back(id);
      write(object, id);
    }
    jni_->DeleteLocalRef(object);
  }
  void write(jobject object, jobjectID id) {
    jvmtiMonitorUsage usage{};
    if (bridge_.jvmti->GetObjectMonitorUsage(object, &usage) != JVMTI_ERROR_NONE) return;
    out_.u1(JVMPI_MONITOR_JAVA);
    out_.id(id);
    out_.id(env_of(usage.owner));
    out_.u4(static_cast<std::size_t>(usage.entry_count));
    // On JDK 8 to 22, JVM TI's `waiters` includes the threads that wait to be notified.
    std::vector<JNIEnv*> notify, enter;
    for (jint i = 0; i < usage.notify_waiter_count; ++i) notify.push_back(env_of(usage.notify_waiters[i]));
    for (jint i = 0; i < usage.waiter_count; ++i) {
      JNIEnv* env = env_of(usage.waiters[i]);
      bool is_notify = false;
      for (JNIEnv* each : notify) is_notify = is_notify || each == env;
      if (!is_notify) enter.push_back(env);
    }
    for (const std::vector<JNIEnv*>* list : {&enter, &notify}) {
      out_.u4(list->size());
      for (JNIEnv* env : *list) out_.id(env);
    }
    bridge_.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.waiters));
    bridge_.jvmti->Deallocate(reinterpret_cast<unsigned char*>(usage.notify_waiters));
  }
  template <class Waits>
  void add_waiting(const std::vector<ThreadRecord*>& records, Waits&& waits) {
    std::vector<JNIEnv*> found;
    for (const ThreadRecord* record : records)
      if (waits(*record)) found.push_back(record->env);
    out_.u4(found.size());
    for (JNIEnv* env : found) out_.id(env);
  }
  JNIEnv* env_of(jthread thread) {
    if (thread == nullptr) return nullptr;
    JNIEnv* env = bridge_.threads.env_of(jni_, thread);
    jni_->DeleteLocalRef(thread);
    return env;
  }

  Bridge& bridge_;
  JNIEnv* jni_;
  DumpBuffer out_;
  std::vector<jobjectID> seen_;
};

}  // namespace

jint send_monitor_dump(Bridge& bridge, JNIEnv* jni) {
  CallTraces traces;
  traces.take(bridge);
  std::vector<jint> statuses;
  MonitorDump dump(bridge, jni);
  for (jint i = 0; i < traces.count(); ++i) {
    JNIEnv* env = traces.data()[i].env_id;
    statuses.push_back(thread_status(bridge, env));
    dump.add_monitors_of(env);
  }
  struct Raw {
    MonitorDump& dump;
    const std::vector<ThreadRecord*>& records;
  } raw{dump, traces.records()};
  for_each_raw_monitor(
      [](JVMPI_RawMonitor monitor, void* argument) {
        auto& to = *static_cast<Raw*>(argument);
        to.dump.add_raw(monitor, to.records);
      },
      &raw);
  JVMPI_Event event = event_of(JVMPI_EVENT_MONITOR_DUMP | JVMPI_REQUESTED_EVENT, jni);
  event.u.monitor_dump.begin = dump.out().begin();
  event.u.monitor_dump.end = dump.out().end();
  event.u.monitor_dump.num_traces = traces.count();
  event.u.monitor_dump.traces = traces.data();
  event.u.monitor_dump.threads_status = statuses.data();
  bridge.notify(event);
  return JVMPI_SUCCESS;
}

}  // namespace jtrace::agent::jvmpi
