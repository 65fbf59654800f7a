// Standing: where the largest group of waiting threads stands. It is no finding, because threads that have nothing to
// do wait in the same way; but whoever reads that nothing was found can look there next. Values; threads: any.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

struct Standing {
  std::string method;       // of the program: the innermost one of each of these threads at all looks
  std::size_t threads = 0;  // of the group
  std::size_t waiting = 0;  // all that waited below a method of the program at all looks, those of other groups too
  std::string sentence;     // one sentence
  std::vector<std::string> evidence;
  std::string next;  // the next command
};

// Nothing if no group is large. Idle threads of the JDK's pools and timers are in none.
std::optional<Standing> find_standing(const Facts& facts);

}  // namespace jtrace::diagnose
