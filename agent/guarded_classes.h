// Classes whose methods must not be changed: those that the callouts themselves call, and those that HotSpot treats
// specially.
#pragma once

#include <string_view>

#include "trace/record/agent_classes.h"

namespace jtrace::agent {

// `name`: internal form.
//   java/lang/Object: C2 crashes when it compiles its constructor with a handler in it (seen with 17 and 25)
//   java/lang/ref/Reference: C1 crashes when it compiles get(), an intrinsic, with a handler in it (seen with 8)
//   Unsafe: the callouts call it. VirtualThread, jdk/internal/vm: the current thread changes in the middle of a method
//   $$Lambda$: VM-anonymous classes (JDK 8 to 14) come through the load hook, but never to ClassPrepare under that name
inline bool is_guarded_class(std::string_view name) {
  constexpr std::string_view kGuarded[] = {"java/lang/Object", "java/lang/ref/Reference", "jdk/internal/misc/Unsafe",
                                           "sun/misc/Unsafe"};
  constexpr std::string_view kGuardedPrefixes[] = {trace::record::kAgentClassPrefix, "java/lang/VirtualThread",
                                                   "jdk/internal/vm/", "java/lang/invoke/LambdaForm"};
  if (name.find("$$Lambda$") != std::string_view::npos) return true;
  for (const std::string_view each : kGuarded)
    if (name == each) return true;
  for (const std::string_view each : kGuardedPrefixes)
    if (name.starts_with(each)) return true;
  return false;
}

}  // namespace jtrace::agent
