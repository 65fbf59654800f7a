// The parts of a JVM that a snapshot (snapshot_events.h) contains.
#pragma once

#include <string>
#include <vector>

namespace jtrace::coreinspect {

struct SnapshotParts {
  bool options = false;  // flags and properties
  bool arguments = false;
  bool threads = false;
  bool frames = false;  // of the threads
  bool waits = false;   // of the threads
  bool owned = false;   // the java.util.concurrent locks that they own; needs a walk over the heap
  bool counters = false;
  bool heap = false;                     // gcFinish with its figures
  bool classes = false;                  // all classes
  bool class_totals = false;             // instances and bytes of each class in the heap
  std::vector<std::string> objects;      // objDef of the objects at these addresses
  std::vector<std::string> class_names;  // these classes, with their methods
};

}  // namespace jtrace::coreinspect
