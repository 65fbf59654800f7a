// Whether a JVM can load a library, determined from the file before anything is sent: a failed dlopen inside a JVM
// prints warnings into its output, and a file with an executable stack makes the JVM lose its stack guards. Pure
// functions over the bytes (any input is safe), except check_agent_file(). Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/memory_reader.h"
#include "target/process.h"

namespace jtrace::attach {

// The properties of a shared object (System V gABI; <elf.h>).
struct ElfFacts {
  std::uint8_t elf_class = 0;         // ELFCLASS64 is 2
  std::uint8_t encoding = 0;          // ELFDATA2LSB is 1
  std::uint16_t machine = 0;          // EM_X86_64 is 62
  std::uint16_t type = 0;             // ET_DYN is 3
  bool executable_stack = false;      // PT_GNU_STACK with PF_X
  bool symbols_known = false;         // it has a section header for .dynsym
  std::vector<std::string> needed;    // DT_NEEDED
  std::vector<std::string> exported;  // defined dynamic functions named Agent_*
};
// `file` at address 0. Errors: kMalformed: not ELF, or truncated.
Result<ElfFacts> read_elf_facts(const target::MemoryReader& file);

// The reason why a JVM whose libjvm.so is `jvm` cannot load `agent`; "" if there is none.
std::string objection_to(const ElfFacts& agent, const ElfFacts& jvm);

// Checks the library as the target sees it: `path` in its root, on a mount that is not noexec, built for its libjvm.so
// and its libc. Errors: kAgent, with the fact; if the file exists only outside of the target, with the hint to use
// --deliver.
Result<> check_agent_file(const target::Process& process, const std::string& path);
// The same for bytes that will be delivered. `name` is used in messages.
Result<> check_agent_bytes(const target::Process& process, const target::MemoryReader& file, std::string_view name);

// A file opened for reading, as memory from address 0.
class FileBytes final : public target::MemoryReader {
 public:
  explicit FileBytes(int fd) : fd_(fd) {}  // borrows
  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

 private:
  int fd_;
};

}  // namespace jtrace::attach
