// The probe sites of one ELF file (a libjvm.so), with the data that uprobes need: offsets in the file. Reads by libelf.
// Threads: any. The file is not trusted: invalid parts are errors, or are skipped and counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dtrace/stap_note.h"

namespace jtrace::dtrace {

// One place in the code where a probe fires. A probe may have several, with different operands.
struct ProbeSite {
  std::string provider;
  std::string name;
  std::uint64_t address = 0;           // virtual address in the file
  std::uint64_t offset = 0;            // in the file: the place of the uprobe
  std::uint64_t semaphore_offset = 0;  // in the file, of the 16-bit counter that enables it; 0: none
  std::string arguments;
  std::vector<Operand> operands;
};

struct ProbeImage {
  target::Isa isa = target::kNativeIsa;
  std::vector<ProbeSite> sites;     // in the order of the notes
  std::size_t skipped = 0;          // invalid notes, or notes whose site is in no segment
  bool has_notes = false;           // there is a .note.stapsdt
  std::uint64_t first_address = 0;  // lowest virtual address of a segment, rounded down to its page
  std::string build_id;             // hexadecimal; "" if it has none
};

// `fd`: an ELF file, readable (its offset is not used). Errors: kMalformed: not an ELF64 file for a machine that
// is known (target/isa.h); they name `path`.
Result<ProbeImage> read_probe_image(int fd, const std::string& path);

}  // namespace jtrace::dtrace
