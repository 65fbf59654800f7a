// The frames of a continuation, which is what a virtual thread runs in (JDK 21 and later), that are not on a stack but
// in its stack chunks (jdk.internal.vm.StackChunk, stackChunkOop.hpp): all of one that is not mounted; of one that has
// been parked and runs again, those to which it has not yet returned.
//
// Ownership: nothing is kept. Threads: any number that may read the memory.
#pragma once

#include <optional>
#include <set>

#include "coreinspect/oops/object_model.h"
#include "coreinspect/unwind/java_walker.h"

namespace jtrace::coreinspect {

// Where the frames of a chunk are. Addresses in bytes.
struct StackChunk {
  Address object = 0;
  Address begin = 0, end = 0;  // the area of frames
  Address sp = 0, bottom = 0;  // those in use; equal: none
  Address pc = 0;              // of the innermost
  Address parent = 0;          // the chunk of the frames further out; 0 if there is none
  FrameOops oops = FrameOops::kPlain;
};
Result<StackChunk> read_stack_chunk(const ObjectModel& objects, Address chunk);
// The innermost one; 0 if there is none.
Result<Address> first_chunk(const ObjectModel& objects, Address continuation);

// The continuation of a ContinuationEntry at this address; nothing if there is no such entry.
std::optional<Address> continuation_of_entry(const ObjectModel& objects, Address entry);

// Adds the frames of all chunks. What cannot be read is recorded in walk.stopped.
void walk_chunks(const ObjectModel& objects, const JavaWalker& walker, Address continuation, Walk& walk);

// Puts the frames of the chunks where the walk has the place of them (kFramesInChunks). `vm_state`:
// JavaThread::_thread_state; a thread in the VM or in Continuation.doYield may be copying the frames. `copied`: the
// continuations whose memory is that of the walk's moment; null: all of them. If the frames cannot be had, the place
// remains and walk.stopped says why.
void join_chunks(const ObjectModel& objects, const JavaWalker& walker, int vm_state, const std::set<Address>* copied,
                 Walk& walk);

}  // namespace jtrace::coreinspect
