// Converts a snapshot of the threads to plain facts. One thread.
#pragma once

#include "coreinspect/tools/thread_snapshot.h"
#include "diagnose/facts.h"

namespace jtrace::diagnose {

std::vector<FrameFact> frames_of(const coreinspect::Walk& walk);
// With FrameFact::call.
std::vector<FrameFact> frames_of(const coreinspect::Inspection& inspection, const coreinspect::Walk& walk);
// Nothing if the target is no core of a JVM that crashed.
std::optional<CrashFact> crash_of(const coreinspect::Inspection& inspection,
                                  const coreinspect::ThreadSnapshot& snapshot);
// Who waits for whom is read from the target in this call: soon after the snapshot.
ThreadsLook facts_of(const coreinspect::Inspection& inspection, const coreinspect::ThreadSnapshot& snapshot);

}  // namespace jtrace::diagnose
