// Command line options of the heap views.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jtrace::trace {
class ByteSink;
}

namespace jtrace::coreinspect {

class LeakGrowth;

struct HeapOptions {
  bool no_stop = false;         // a live JVM is read while it runs
  bool max_stop_given = false;  // a limit given by the user: what would break it is refused
  std::string sort = "bytes";   // "bytes", "instances", "name"
  std::string filter = {};      // part of a class name, or a pattern with * and ?; "" all
  std::size_t top = 0;          // rows; 0: as many as the view has unasked
  bool by_loader = false;
  std::string by = {};                 // retained: "class" (also ""), "package", "loader", "thread"; diff: also "path"
  bool by_class = false;               // dominators: the objects of a class merged
  bool reachable = false;              // histogram: without what a collection would free
  std::vector<std::string> keep = {};  // with redact: fields that keep their contents (redaction.h)
  bool redact = false;                 // heapdump: without contents
  bool subclasses = false;             // instances, refs: of the subclasses too
  int depth = 0;                       // object: how far references are followed
  bool in_events = false;              // events: class totals too
  std::vector<std::string> objects = {};  // events: these, by address
  unsigned threads = 0;                   // 0: chosen by the size of the work
  // Called from time to time with the progress; false ends the work.
  std::function<bool(std::uint64_t done, std::uint64_t all)> progress = {};
  std::chrono::nanoseconds duration{0};  // leaks: the time for several looks; 0: one
  // leaks: what those looks found, the heap that is given among them.
  const LeakGrowth* growth = nullptr;
  // The sink of a heap dump: made when it is needed, finished by the caller.
  trace::ByteSink* dump = nullptr;
};

}  // namespace jtrace::coreinspect
