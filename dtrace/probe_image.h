// The probe sites of one ELF file (a libjvm.so), with what uprobes need: offsets in the file. Reads by libelf. Threads:
// any. The file is another's: whatever does not fit is an error or is skipped and counted, never believed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtrace/stap_note.h"

namespace jtrace::dtrace {

// One place in the code where a probe fires. A probe may have several, each with other operands.
struct ProbeSite {
  std::string provider;
  std::string name;
  std::uint64_t address = 0;           // virtual address in the file
  std::uint64_t offset = 0;            // in the file: what a uprobe is set at
  std::uint64_t semaphore_offset = 0;  // in the file, of the 16-bit counter that enables it; 0: none
  std::string arguments;
  std::vector<Operand> operands;
};

struct ProbeImage {
  std::vector<ProbeSite> sites;     // in the order of the notes
  std::size_t skipped = 0;          // notes that are none, or whose site lies in no segment
  bool has_notes = false;           // there is a .note.stapsdt at all
  std::uint64_t first_address = 0;  // lowest virtual address of a segment, rounded down to its page
  std::string build_id;             // hexadecimal; "" where there is none
};

// `fd`: an ELF file, readable (its offset is not used). Errors: kMalformed, not an ELF64 file for x86-64; they name
// `path`.
Result<ProbeImage> read_probe_image(int fd, const std::string& path);

}  // namespace jtrace::dtrace
