// The threads of a heap dump: their objects, their frames, and the objects to which their frames (FrameReferences) and
// JNI handles may refer. What only the VM's own C++ code has in hand (HandleArea) is not among them.
//
// Borrows the access. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/hprof/frame_references.h"

namespace jtrace::coreinspect {

struct DumpThread {
  Address object = 0;  // java.lang.Thread
  std::string name;
  bool is_virtual = false;
  bool hidden = false;        // a thread of the VM itself, hidden from users (is_hidden_from_external_view)
  std::vector<Frame> frames;  // those with a method, innermost first
  std::vector<FrameReference> candidates;
  std::vector<Address> jni_locals;
  std::vector<Address> monitors;  // objects that it has locked, or waits for
};

// `missing` gets a line for each part that could not be read.
std::vector<DumpThread> read_dump_threads(const HeapAccess& access, std::vector<std::string>& missing);

}  // namespace jtrace::coreinspect
