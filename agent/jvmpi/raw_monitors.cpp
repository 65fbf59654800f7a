#include "agent/jvmpi/raw_monitors.h"

#include <pthread.h>

#include <cstdlib>

#include "agent/jvmpi/bridge.h"

namespace jtrace::agent::jvmpi {
namespace {

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;  // over the list
JVMPI_RawMonitor g_all = nullptr;

void send(Bridge& bridge, jint type, JNIEnv* env, JVMPI_RawMonitor monitor) {
  if (env == nullptr || !monitor->is_reported() || !bridge.is_live() || !bridge.wants(type)) return;
  JVMPI_Event event = event_of(type, env);
  event.u.raw_monitor.name = monitor->name;
  event.u.raw_monitor.id = monitor;
  bridge.notify(event);
}

}  // namespace

JVMPI_RawMonitor raw_monitor_create(char* name) {
  auto* monitor = new _JVMPI_RawMonitor;
  monitor->name = strdup(name == nullptr ? "" : name);
  if (Bridge::get()->jvmti->CreateRawMonitor(monitor->name, &monitor->id) != JVMTI_ERROR_NONE) {
    std::free(monitor->name);
    delete monitor;
    return nullptr;
  }
  pthread_mutex_lock(&g_lock);
  monitor->next = g_all;
  g_all = monitor;
  pthread_mutex_unlock(&g_lock);
  return monitor;
}

void raw_monitor_enter(JVMPI_RawMonitor monitor) {
  Bridge& bridge = *Bridge::get();
  JNIEnv* env = bridge.current_env();
  const bool contended = monitor->entrants.fetch_add(1) > 0 && (env == nullptr || monitor->owner.load() != env);
  ThreadRecord* record = contended && env != nullptr ? bridge.threads.find(env) : nullptr;
  if (contended) send(bridge, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTER, env, monitor);
  if (record != nullptr) record->entering = monitor;
  bridge.jvmti->RawMonitorEnter(monitor->id);
  if (record != nullptr) record->entering = nullptr;
  monitor->owner = env;
  ++monitor->entries;
  if (contended) send(bridge, JVMPI_EVENT_RAW_MONITOR_CONTENDED_ENTERED, env, monitor);
}

void raw_monitor_exit(JVMPI_RawMonitor monitor) {
  Bridge& bridge = *Bridge::get();
  const bool leaves = --monitor->entries == 0;
  if (leaves) monitor->owner = nullptr;
  const bool others = monitor->entrants.fetch_sub(1) > 1;
  bridge.jvmti->RawMonitorExit(monitor->id);
  if (leaves && others) send(bridge, JVMPI_EVENT_RAW_MONITOR_CONTENDED_EXIT, bridge.current_env(), monitor);
}

void raw_monitor_wait(JVMPI_RawMonitor monitor, jlong ms) {
  Bridge& bridge = *Bridge::get();
  JNIEnv* env = bridge.current_env();
  ThreadRecord* record = env == nullptr ? nullptr : bridge.threads.find(env);
  const jint entries = monitor->entries;
  monitor->entries = 0;
  monitor->owner = nullptr;
  monitor->entrants.fetch_sub(entries);
  if (record != nullptr) record->waiting = monitor;
  bridge.jvmti->RawMonitorWait(monitor->id, ms);
  if (record != nullptr) record->waiting = nullptr;
  monitor->entrants.fetch_add(entries);
  monitor->owner = env;
  monitor->entries = entries;
}

void raw_monitor_notify_all(JVMPI_RawMonitor monitor) { Bridge::get()->jvmti->RawMonitorNotifyAll(monitor->id); }

void raw_monitor_destroy(JVMPI_RawMonitor monitor) {
  pthread_mutex_lock(&g_lock);
  JVMPI_RawMonitor* link = &g_all;
  while (*link != nullptr && *link != monitor) link = &(*link)->next;
  if (*link != nullptr) *link = monitor->next;
  pthread_mutex_unlock(&g_lock);
  Bridge::get()->jvmti->DestroyRawMonitor(monitor->id);
  std::free(monitor->name);
  delete monitor;
}

void for_each_raw_monitor(void (*visit)(JVMPI_RawMonitor, void*), void* argument) {
  pthread_mutex_lock(&g_lock);
  for (JVMPI_RawMonitor each = g_all; each != nullptr; each = each->next) visit(each, argument);
  pthread_mutex_unlock(&g_lock);
}

}  // namespace jtrace::agent::jvmpi
