// What methodCount says at the end: the number of calls of each method with a counter, and what has none.
//
// Threads: any with a JNI environment; write_method_counts() may wait for the drainer.
#pragma once

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jtrace::agent {

class CallbackGuard;
class CallCounts;
class RewriteResults;
struct Recorder;

// For the methods that the filters include: "counted=N,...", how many have a counter and how many can have none.
// Returns the length, as snprintf() does.
int count_coverage(const Recorder& recorder, const RewriteResults& results, JNIEnv* jni, std::size_t counted,
                   char* text, std::size_t size);
// Writes the methodCount of each of `counted` (method numbers), and the coverage. Waits at most five seconds in all for
// a drainer that does not come: it must not delay the end of the JVM.
void write_method_counts(Recorder& recorder, const RewriteResults& results, const CallCounts& counts,
                         const std::vector<std::uint32_t>& counted, JNIEnv* jni, const CallbackGuard& guard);

}  // namespace jtrace::agent
