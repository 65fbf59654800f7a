// The facts of `hsperf list` about the JVMs of this machine, and the words of the JDK's jps.
//
// Threads: any. The facts are those of the moment of the call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/counter_source.h"
#include "target/jvm_discovery.h"

namespace jtrace::perfdata {

// jps's words from sun.rt.javaCommand (jdk.internal.jvmstat, MonitoredVmUtil); "Unknown" if there is none.
std::string main_class_of(std::string_view java_command, bool full_path);
std::string main_arguments_of(std::string_view java_command);

struct ListedJvm {
  target::Jvm jvm;
  std::optional<CounterSource> source;  // nothing: `reason` has the reason
  std::string reason;
};

struct Listing {
  std::vector<ListedJvm> jvms;  // by pid
  std::vector<StaleFile> stale;
  int hidden = 0;  // processes that may not be examined
};
// `wait` of the options is for JVMs that are starting.
Listing list_jvms(const SourceOptions& options);

}  // namespace jtrace::perfdata
