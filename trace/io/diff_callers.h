// From where the methods of a difference are called: the own amount of each (time, bytes or samples) by its caller,
// before and after. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/io/trace_diff.h"

namespace jtrace::trace::io {

struct CallerShare {
  std::string caller;  // "": nothing called it, or callers are not known
  double before = 0, after = 0;
  double change() const { return after - before; }
};

class DiffCallers {
 public:
  // `after` is multiplied by `scale`. None where the units differ.
  DiffCallers(const StackProfile& before, const StackProfile& after, double scale);
  const std::string& unit() const { return unit_; }
  // The greatest change first; a call by the method itself counts for the one that called it first.
  std::vector<CallerShare> of(const std::string& frame) const;

 private:
  std::string unit_;
  std::map<std::string, std::map<std::string, CallerShare>> shares_;
};

}  // namespace jtrace::trace::io
