// What the views of the heap can be told on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jtrace::trace {
class ByteSink;
}

namespace jtrace::coreinspect {

struct HeapOptions {
  bool no_stop = false;         // a live JVM is read while it runs
  bool max_stop_given = false;  // the user's own bound: what would break it is refused
  std::string sort = "bytes";   // "bytes", "instances", "name"
  std::string filter = {};      // part of a class name, or a pattern with * and ?; "" all
  std::size_t top = 0;          // rows; 0 all
  bool by_loader = false;
  int depth = 0;                          // object: how far references are followed
  bool in_events = false;                 // events: class totals too
  std::vector<std::string> objects = {};  // events: these, by address
  unsigned threads = 0;                   // 0: as many as pay
  // Told now and then how far the work is; false ends it.
  std::function<bool(std::uint64_t done, std::uint64_t all)> progress = {};
  // Where a heap dump goes: made when it is needed, finished by the caller.
  trace::ByteSink* dump = nullptr;
};

}  // namespace jtrace::coreinspect
