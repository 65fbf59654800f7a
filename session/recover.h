// recover: the document of a trace whose jtrace died, out of what it
// had written (a document or a spill) and what its pool still holds.
// Events and definitions that the file already has are not taken
// from the pool again (events are in order of time). Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace jtrace::session {

struct Recovered {
  std::uint64_t from_file = 0;  // bytes taken over from the file
  std::uint64_t events = 0;     // elements added out of the pool; of a spill: all
  std::uint64_t malformed = 0;
  std::uint64_t dropped = 0;
  bool whole = false;  // the file was there: nothing is missing that had reached the pool
};
// `pool`: path of the pool. `output`: the document to write ("-": stdout), another one than the trace's own file. The
// pool stays. Errors: kMalformed (no pool of ours), kRefused (in use; nothing was recorded in it), those of the output.
Result<Recovered> recover(const std::string& pool, const std::string& output);

}  // namespace jtrace::session
