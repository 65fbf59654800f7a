// What a thread does that waits for something outside of the JVM, by its Java frames: for Java it is RUNNABLE then.
// Pure functions, any thread.
#pragma once

#include <string>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

// "waits for data from a socket (peer 10.0.0.7:5432)"; "" if it is in no such call. If the kernel did not say that the
// thread slept: "reads from a socket".
std::string outside_wait(const ThreadFact& thread);
// Whether it is in such a call of a socket that is connected, or is to be.
bool waits_for_socket(const ThreadFact& thread);

}  // namespace jtrace::diagnose
