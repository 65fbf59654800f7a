// Threads for made-up facts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/diagnose/found_by.h"

namespace jtrace::diagnose {

inline ThreadFact thread(ThreadKey key) {
  return {.key = key,
          .name = "t" + std::to_string(key),
          .tid = static_cast<pid_t>(1000 + key),
          .state = "RUNNABLE",
          .frames = {{"App.turn", "App.java:3", 7}, {"App.run", "App.java:9", 1}},
          .whole = true};
}
inline ThreadFact waiter(ThreadKey key, ThreadKey owner) {
  ThreadFact fact = thread(key);
  fact.wait =
      WaitFact{.kind = "monitor", .text = "waiting to lock", .object = 0x10, .class_name = "Lock", .owner = owner};
  return fact;
}
inline Facts facts_of(std::vector<ThreadsLook> looks) {
  Facts facts{.target = "4711"};
  for (std::size_t i = 0; i < looks.size(); ++i) looks[i].ns = (i + 1) * kSecond;
  facts.looks = std::move(looks);
  return facts;
}

}  // namespace jtrace::diagnose
