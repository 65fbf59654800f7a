// Pools in /dev/shm of a jtrace that was killed by SIGKILL, whether or not the JVM lives. They use memory until
// they are removed. jtrace removes one only on request.
//
// A running jtrace locks the pool that it uses. The name of the file has the JVM's pid and start ticks. Files that
// cannot be opened are left out. Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/process.h"

namespace jtrace::session {

struct LeftPool {
  enum class State {
    kNone,          // not a pool: missing, not readable, or with another name or content
    kInUse,         // its jtrace runs
    kBlank,         // its jtrace was killed before it wrote whose trace it was: nothing was recorded in it
    kHolds,         // may have events that are in no file
    kOtherVersion,  // as kHolds; only the jtrace that made it can read it
  };
  State state = State::kNone;
  std::string path;
  std::uint64_t size = 0;  // bytes
  int pid = 0;             // of the JVM, as its jtrace saw it
  std::uint64_t start_ticks = 0;
  std::string process_name;  // kHolds
  std::string output;        // kHolds: the file of the trace
  bool is_told = false;      // note_of_left_pools() has named it
};

// The kind of this file. Only a file with the name of a pool can be blank. The file is read, not mapped.
LeftPool look_at_pool(const std::string& path);
// Those in /dev/shm, in use or not, by their names.
std::vector<LeftPool> list_left_pools();

// One line for a new trace of `jvm`: a left pool of it, or of a JVM that has ended, and the command that reads or
// removes it; "" if there is none, or all were reported before. The sticky bit of the file records that it was reported
// (it means nothing on Linux, chmod(2)), where the file is the user's.
std::string note_of_left_pools(const target::Process& jvm);

// Removes a pool in which nothing was recorded. kRefused: it is in use, or may have events. kMalformed: not a pool.
Result<> remove_blank_pool(const std::string& path);

}  // namespace jtrace::session
