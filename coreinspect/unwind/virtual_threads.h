// Virtual threads (JDK 21 and later) that the JDK itself tracks: those of Thread.startVirtualThread and builders, and
// those of executors and flocks; none with -Djdk.trackAllThreads=false.
//
// They are found through jdk.internal.vm.ThreadContainers instead of a walk over the heap, so the time depends on the
// number of threads. The frames of a parked one are in stack chunks (jdk.internal.vm.StackChunk, stackChunkOop.hpp).
// Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/oops/object_model.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

struct VirtualThread {
  Address object = 0;
  std::string name;
  bool has_name = true;  // false: it could not be read
  std::int64_t id = 0;
  std::string vm_state;  // as java.lang.VirtualThread names it: "PARKED", "RUNNING"
  Address carrier = 0;   // java.lang.Thread that runs it; 0 if none
  std::string carrier_name;
  bool mounted = false;            // its frames are those of its carrier at the stop
  Address carrier_thread = 0;      // if mounted: the JavaThread of its carrier
  std::string_view carrier_state;  // if mounted: JavaThread::state(), of static storage
  Walk walk;                       // of an unmounted thread; of others if a snapshot has it
  Address pending = 0;             // object whose monitor it waits to enter (24 and later); 0 if none

  std::string_view state() const;  // as Thread.State: of one that runs, that of its carrier
};

// `missing` gets a line for what could not be read. `of_stop`: of a JVM that runs meanwhile, those that were mounted at
// the stop, with their state there; their frames and their carriers are for the caller to find. Null: all memory is of
// one moment. The state and the frames of another thread are of one moment too: one that ran on while it was read is
// read again, and in the end has no frames, and walk.stopped.
std::vector<VirtualThread> read_virtual_threads(const ObjectModel& objects, const JavaWalker& walker,
                                                std::vector<std::string>& missing,
                                                const std::map<Address, std::int32_t>* of_stop = nullptr);

}  // namespace jtrace::coreinspect
