// ProcessCopy: the registers and the memory of a live process at one moment, for a core.
//
// All threads are stopped (StoppedThreads), what is resident is copied into this process's memory, and they continue;
// what lies in files is read after that. Pages that the target never touched are not read, so that none appears in it.
// Ownership: owns the copy; ranges() refer to it. Threads: one, that of the stop. Errors: those of StoppedThreads;
// kRefused where the memory of this machine is too small for the copy; kTimeout where copying takes longer than the
// stop may (the target continues, the error says how much is there and how far it came).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/core_writer.h"
#include "target/page_set.h"
#include "target/process.h"

namespace jtrace::target {

struct CopyOptions {
  std::chrono::milliseconds max_stop{200};
  // Whole libraries and class data archives, so that the core needs no files. false: of each library its first page,
  // which says which one it was (build id), and what the process has changed.
  bool libraries = true;
  // Of other memory than libraries' these pages alone, and the stacks from the stack pointer on. nullopt: all memory.
  std::optional<PageSet> pages;
};

class ProcessCopy {
 public:
  static Result<ProcessCopy> take(const Process& process, const CopyOptions& options);
  ProcessCopy(ProcessCopy&&) noexcept;
  ProcessCopy& operator=(ProcessCopy&&) noexcept;
  ~ProcessCopy();

  const CoreProcess& process() const { return process_; }
  CoreProcess& process() { return process_; }
  void add_note(OwnCoreNote note) { process_.own_notes.push_back(std::move(note)); }
  const std::vector<CoreRange>& ranges() const { return ranges_; }
  // All that was copied out of the process, in the order of the copying, to be changed; ranges() refer to it.
  std::span<std::byte> memory();
  // Whether these bytes, of a range, are there.
  bool is_of_memory(std::span<const std::byte> bytes) const;
  // From now on the core does not have the bytes of this range: it has zeros there, or says that the process had
  // memory.
  void drop(std::size_t range, bool zeros) {
    ranges_[range].bytes.clear();
    ranges_[range].zeros = zeros;
  }
  std::chrono::nanoseconds stopped_for() const { return stopped_for_; }
  std::uint64_t bytes() const;  // that the ranges hold
  // What could not be copied; one line each.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  friend class ProcessCopier;
  class Room;
  ProcessCopy();

  CoreProcess process_;
  std::vector<CoreRange> ranges_;
  std::vector<std::unique_ptr<Room>> rooms_;
  std::chrono::nanoseconds stopped_for_{};
  std::vector<std::string> missing_;
};

}  // namespace jtrace::target
