// Pools that a jtrace has left in /dev/shm: it was killed by SIGKILL, whatever became of the JVM. They are memory until
// somebody removes them. None is removed here but on request.
//
// A pool that a running jtrace uses is locked by it. The JVM is known by the name of the file: its pid and start ticks.
// Files that we may not open are not told of. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/process.h"

namespace jtrace::session {

struct LeftPool {
  enum class State {
    kNone,          // no pool: not there, not to be opened, of another name or content
    kInUse,         // its jtrace runs
    kBlank,         // its jtrace was killed before it knew whose trace it was: nothing was recorded in it
    kHolds,         // may hold events that are in no file
    kOtherVersion,  // as kHolds; the jtrace that made it reads it
  };
  State state = State::kNone;
  std::string path;
  std::uint64_t size = 0;  // bytes
  int pid = 0;             // of the JVM, as its jtrace saw it
  std::uint64_t start_ticks = 0;
  std::string process_name;  // kHolds
  std::string output;        // kHolds: the file of the trace
};

// What is there of that name. Blank is only what has the name of a pool. The file is read, not mapped.
LeftPool look_at_pool(const std::string& path);
// Those in /dev/shm, in use or not, by their names.
std::vector<LeftPool> list_left_pools();

// For who traces `jvm` now: one line on what was left of it, or of JVMs that are gone, and the command that reads or
// removes it; "" where nothing was.
std::string note_of_left_pools(const target::Process& jvm);

// Removes a pool in which nothing was recorded. kRefused: it is in use, or may hold events. kMalformed: no pool.
Result<> remove_blank_pool(const std::string& path);

}  // namespace jtrace::session
