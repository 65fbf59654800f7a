// The entry points: -agentpath:libjtrace_jvmpi.so=PROFILER,OPTIONS, -Xrunjtrace_jvmpi:PROFILER,OPTIONS, and the same at
// run time. At the start of the JVM a fault prints one line on stderr and ends the start, as a JVM with JVMPI did. In a
// running JVM a fault is only a number (LoadFault).
#include <jni.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "agent/jvmpi/bridge.h"
#include "agent/jvmpi/gc_events.h"
#include "agent/jvmpi/interface.h"
#include "agent/jvmpi/method_events.h"
#include "agent/jvmpi/profiler_library.h"

namespace jtrace::agent::jvmpi {
namespace {

constexpr int kMessageSize = 4400;  // a path and some words

void complain(const char* what) {
  char line[kMessageSize + 32];
  const int length = snprintf(line, sizeof line, "jtrace_jvmpi: %s\n", what);
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

// The JavaVM that the profiler sees: a copy of the JVM's own, whose GetEnv accepts the JVMPI versions.

JavaVM* real() { return Bridge::get()->vm; }

jint JNICALL get_env(JavaVM*, void** out, jint version) {
  Bridge& bridge = *Bridge::get();
  if (version >= JVMPI_VERSION_1 && version <= JVMPI_VERSION_1_2) {
    *out = &bridge.interface;
    return JNI_OK;
  }
  if ((version & 0x7fff0000) == (JVMPI_VERSION_1 & 0x7fff0000)) {
    char text[128];
    snprintf(text, sizeof text, "the profiler asks for JVMPI version 0x%x; versions 0x%x to 0x%x are known",
             static_cast<unsigned>(version), static_cast<unsigned>(JVMPI_VERSION_1),
             static_cast<unsigned>(JVMPI_VERSION_1_2));
    if (!bridge.is_live()) complain(text);
    *out = nullptr;
    return JNI_EVERSION;
  }
  return bridge.vm->GetEnv(out, version);
}
jint JNICALL destroy_java_vm(JavaVM*) { return real()->DestroyJavaVM(); }
jint JNICALL attach_current_thread(JavaVM*, void** env, void* arguments) {
  return real()->AttachCurrentThread(env, arguments);
}
jint JNICALL detach_current_thread(JavaVM*) { return real()->DetachCurrentThread(); }
jint JNICALL attach_as_daemon(JavaVM*, void** env, void* arguments) {
  return real()->AttachCurrentThreadAsDaemon(env, arguments);
}

const JNIInvokeInterface_ kInvokeInterface = {
    nullptr, nullptr,         nullptr, destroy_java_vm, attach_current_thread, detach_current_thread,
    get_env, attach_as_daemon};
JavaVM_ g_profilers_vm = {&kInvokeInterface};

// [gc=pause,]PROFILER,OPTIONS. PROFILER and OPTIONS live as long as the JVM, because a profiler may keep pointers to
// its options.
struct Arguments {
  char* library;
  char* options;
  bool gc_in_pause;
};
Arguments split(std::string_view text) {
  constexpr std::string_view kInPause = "gc=pause,";
  const bool in_pause = text.starts_with(kInPause);
  if (in_pause) text.remove_prefix(kInPause.size());
  Arguments made{strndup(text.data(), text.size()), nullptr, in_pause};
  made.options = strchr(made.library, ',');
  if (made.options == nullptr) made.options = made.library + strlen(made.library);
  else *made.options++ = '\0';
  return made;
}

LoadFault start(JavaVM* vm, const char* text, char* why) {
  const Arguments arguments = split(text == nullptr ? "" : text);
  if (*arguments.library == '\0') {
    snprintf(why, kMessageSize, "no profiler is named: -agentpath:libjtrace_jvmpi.so=PROFILER.so,OPTIONS");
    return LoadFault::kNoPath;
  }
  const char* error = nullptr;
  Bridge* bridge = Bridge::make(vm, error);
  if (bridge == nullptr) {
    snprintf(why, kMessageSize, "%s: %s", arguments.library, error);
    return Bridge::get() != nullptr ? LoadFault::kSecond : LoadFault::kNoInterface;
  }
  if (arguments.gc_in_pause) bridge->gc->set_in_pause();
  JvmtiText folder(bridge->jvmti);
  bridge->jvmti->GetSystemProperty("sun.boot.library.path", folder.out());
  const ProfilerLibrary library = load_profiler(arguments.library, folder.get(), why, kMessageSize);
  LoadFault fault = library.fault;
  if (fault == LoadFault::kNone) {
    fill_interface(bridge->interface);
    const jint result = library.on_load(&g_profilers_vm, arguments.options, nullptr);
    if (result != JNI_OK) {
      snprintf(why, kMessageSize, "%s: its JVM_OnLoad failed (%d)", arguments.library, static_cast<int>(result));
      fault = LoadFault::kRefused;
    } else if (bridge->interface.NotifyEvent == nullptr) {
      snprintf(why, kMessageSize, "%s: its JVM_OnLoad has set no NotifyEvent", arguments.library);
      fault = LoadFault::kNoNotifyEvent;
    }
  }
  if (fault != LoadFault::kNone) bridge->abandon();
  return fault;
}

// `:reset` and `:dump`, given to a JVM that runs a profiler: the events that JVMPI's JVMs sent when a terminal key was
// pressed.
bool is_command(const char* text) { return text != nullptr && text[0] == ':'; }
LoadFault do_command(JNIEnv* jni, std::string_view command) {
  const Bridge* bridge = Bridge::get();
  if (bridge == nullptr || !bridge->is_live()) return LoadFault::kNoInterface;
  if (command != ":reset" && command != ":dump") return LoadFault::kNoPath;
  const jint type = command == ":reset" ? JVMPI_EVENT_DATA_RESET_REQUEST : JVMPI_EVENT_DATA_DUMP_REQUEST;
  if (!bridge->wants(type)) return LoadFault::kNone;
  JVMPI_Event event = event_of(type, jni);
  bridge->notify(event);
  return LoadFault::kNone;
}

LoadFault attach(JavaVM* vm, const char* options) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) return LoadFault::kNoInterface;
  auto* jni = static_cast<JNIEnv*>(env);
  if (is_command(options)) return do_command(jni, options);
  // Another copy of this library has its own memory, but what it changed in the JVM is visible.
  if (MethodEvents::helper_exists(jni)) return LoadFault::kSecond;
  char why[kMessageSize];
  const LoadFault fault = start(vm, options, why);
  if (fault != LoadFault::kNone) return fault;
  Bridge* bridge = Bridge::get();
  jthread current = nullptr;
  bridge->jvmti->GetCurrentThread(&current);
  bridge->go_live(jni, current);
  return LoadFault::kNone;
}

}  // namespace
}  // namespace jtrace::agent::jvmpi

#define JTRACE_EXPORT extern "C" __attribute__((visibility("default")))

JTRACE_EXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  char why[jtrace::agent::jvmpi::kMessageSize];
  if (jtrace::agent::jvmpi::start(vm, options, why) == jtrace::agent::jvmpi::LoadFault::kNone) return JNI_OK;
  jtrace::agent::jvmpi::complain(why);
  return JNI_ERR;
}

JTRACE_EXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  return static_cast<jint>(jtrace::agent::jvmpi::attach(vm, options));
}

// The library is pinned (-z nodelete), and so is the profiler, because its handlers may be running.
JTRACE_EXPORT void JNICALL Agent_OnUnload(JavaVM*) {}
