// What a core of a live process is made of: all of its memory, or for a small core the pages alone that the views of
// threads, locks, classes, flags and generated code read. Either has a note with the addresses of the VM's variables
// (VmSymbols), so that the answers need no libjvm.so.
//
// For a small core the views are run over the process to learn which pages those are, then all threads are stopped, the
// pages and the stacks are copied, and the views are run over the copy as a core without any file: what they miss is
// added, and it is done again. There is no list of what the views read, so none can be incomplete. Threads: one.
// Errors: those of Inspection::open and ProcessCopy::take.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/free_memory.h"
#include "base/unique_fd.h"
#include "coreinspect/model/inspection.h"
#include "target/process_copy.h"

namespace jtrace::coreinspect {

struct CoreCopy {
  target::ProcessCopy copy;
  int stops = 0;                       // that were made; copy.stopped_for() is the last one
  std::chrono::nanoseconds longest{};  // of them
  std::vector<std::string> missing;    // what a view of the core lacks; one line each
};

// The views that a small core has answers for.
const std::vector<std::string>& small_core_views();
// kRefused if the target is a small core, which has no objects, and `what` needs them: walking over what is left of
// the heap would give counts that look like an answer.
Result<> check_not_small(const target::Target& target, std::string_view what);
// Runs these views, and that of the stacks. Their output is not used: the point is what they read, which is recorded.
// Returns what they miss.
std::vector<std::string> run_views(Inspection& inspection, const std::vector<std::string>& names);

Result<CoreCopy> copy_whole(pid_t pid, const target::CopyOptions& options);
// The core in memory of this process: a file without a name (memfd_create(2)), to be opened by path_of_core(). It does
// not need the copy. kRefused where `free` bytes are too few for both.
Result<UniqueFd> core_in_memory(const target::ProcessCopy& copy, std::uint64_t free = free_memory());
std::string path_of_core(const UniqueFd& file);
Result<CoreCopy> copy_for_views(pid_t pid, std::chrono::milliseconds max_stop);

}  // namespace jtrace::coreinspect
