// recover: makes the document of a trace whose jtrace died, from the file that it had written (a document or a spill)
// and the rest in its pool. Events and definitions that the file already has are not taken from the pool again (events
// are in the order of time). Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace jtrace::session {

struct Recovered {
  std::uint64_t from_file = 0;  // bytes taken over from the file
  std::uint64_t events = 0;     // elements added from the pool
  std::uint64_t elements = 0;   // of the whole document, if its file is a spill: those of the pool are not told apart
  std::uint64_t malformed = 0;
  std::uint64_t dropped = 0;
  bool whole = false;  // the file exists: nothing that had reached the pool is missing
};
// `pool`: path of the pool. `output`: the document to write ("-": stdout), not the trace's own file. The pool stays.
// Errors: kMalformed (not a pool), kRefused (in use; nothing was recorded in it), those of the output.
Result<Recovered> recover(const std::string& pool, const std::string& output);

}  // namespace jtrace::session
