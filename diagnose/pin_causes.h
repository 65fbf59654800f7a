// Why a virtual thread that waits keeps its carrier, as its frames show it (VirtualThread.java,
// continuationFreezeThaw.cpp).
//
// Before JDK 24 also a monitor that it has, or wants. Values; threads: any.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/tools/lock_facts.h"

namespace jtrace::diagnose {

// What else is known of the JVM and of the thread.
struct PinnedIn {
  int feature = 0;                                                  // of the JDK
  const coreinspect::Wait* wait = nullptr;                          // null: none is known
  const std::map<target::Address, std::string>* classes = nullptr;  // of objects (ThreadSnapshot::lock_classes)
};
// "the class initializer of shop.RateTable", "native method shop.Codec.encode", "a monitor it holds (a shop.Cart)";
// innermost first, each once; empty: the frames do not show it.
std::vector<std::string> pin_causes(const coreinspect::Walk& walk, const PinnedIn& in);

}  // namespace jtrace::diagnose
