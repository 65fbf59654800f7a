// What `hsperf list` knows of the JVMs of this machine, and the words of the JDK's jps.
//
// Threads: any. The facts are of the moment of the call.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "perfdata/counter_source.h"
#include "target/jvm_discovery.h"

namespace jtrace::perfdata {

// jps's words out of sun.rt.javaCommand (jdk.internal.jvmstat, MonitoredVmUtil); "Unknown" where there is none.
std::string main_class_of(std::string_view java_command, bool full_path);
std::string main_arguments_of(std::string_view java_command);

struct ListedJvm {
  target::Jvm jvm;
  std::optional<CounterSource> source;  // nothing: `reason` says why
  std::string reason;
};

struct Listing {
  std::vector<ListedJvm> jvms;  // by pid
  std::vector<StaleFile> stale;
  int hidden = 0;  // processes that we may not look at
};
// `wait` of the options is for JVMs that are starting.
Listing list_jvms(const SourceOptions& options);

}  // namespace jtrace::perfdata
