// The encoder of ELF cores: notes and memory of a process, as the kernel's cores have them, so that gdb, jhsdb and this
// program open them.
//
// Layouts: elf.h, sys/procfs.h (glibc); NT_FILE as in fs/binfmt_elf.c (Linux). Pure: the bytes go to a function, in
// order. Nothing is repeated in the file: ranges of zeros refer to one block of zeros, and memory that is mapped
// several times is written once. Ownership: spans are borrowed. Threads: any.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/memory_map.h"
#include "target/registers.h"

namespace jtrace::target {

struct CoreThread {
  ThreadRegisters registers;       // tid: as the process itself sees it
  std::vector<std::byte> floats;   // NT_FPREGSET; empty: no note
  std::vector<std::byte> vectors;  // kVectorsNote (target/native_registers.h); empty: no note
  std::uint64_t user_ns = 0, system_ns = 0;
};

// A note of ours, which other programs pass over.
struct OwnCoreNote {
  static constexpr const char* kName = "JTRACE";
  std::uint32_t type = 0;
  std::string text;
};

// What the notes say. Process ids are those that the process itself sees.
struct CoreProcess {
  pid_t pid = 0, parent = 0, group = 0, session = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  char state = 'R';       // proc_pid_stat(5)
  std::string program;    // pr_fname, cut to 15 bytes
  std::string arguments;  // pr_psargs, cut to 79 bytes
  std::string auxiliary;  // /proc/PID/auxv
  std::vector<CoreThread> threads;
  std::vector<Mapping> mappings;  // those of files come into NT_FILE
  std::vector<OwnCoreNote> own_notes;
};

// One PT_LOAD: bytes, zeros, or memory that the process had and the core has not.
struct CoreRange {
  Address start = 0, end = 0;
  bool readable = false, writable = false, executable = false;
  std::vector<std::span<const std::byte>> bytes;  // one after the other: all of the range, or nothing
  bool zeros = false;                             // bytes is empty
  std::optional<std::size_t> same_as;             // bytes is empty: those of an earlier range, of the same size

  std::uint64_t size() const { return end - start; }
};

using WriteBytes = std::function<Result<>(std::string_view)>;

// Returns the size of the core. The addresses of all ranges are multiples of the page size (4096).
Result<std::uint64_t> write_core(const CoreProcess& process, std::span<const CoreRange> ranges,
                                 const WriteBytes& write);

}  // namespace jtrace::target
