// The libjvm.so of a process, or such a file: its probes and, for a process, the flags that they need. Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "dtrace/probe_catalogue.h"
#include "target/process.h"

namespace jtrace::dtrace {

// A flag of the JVM that switches probes on.
struct ProbeFlag {
  bool on = false;
  target::Address address = 0;  // of its byte
};

struct Libjvm {
  UniqueFd file;                // the mapped file itself, also if it was deleted or replaced
  std::string path;             // as the process sees it, for messages
  std::uint64_t load_base = 0;  // added to the file's virtual addresses; 0 for a file
  std::string build_id;
  std::vector<Probe> probes;
  std::size_t skipped = 0;  // notes that could not be used
  bool has_notes = false;
  // Empty for a file; empty with flag_error if they could not be read.
  std::map<std::string, ProbeFlag> flags;
  std::optional<Error> flag_error;
  int feature = 0;  // 8, 11, 17, ...; 0 if unknown
  // From JDK 24 on its interpreter has probes from the start, or never: a flag that is switched on does not reach it.
  bool interpreter_decides_once() const { return feature >= 24; }
  bool compiles = true;  // false: everything is interpreted (-Xint)

  // Whether `probe` can fire now: its flag is on, or it needs none. Nothing if unknown.
  std::optional<bool> enabled(const Probe& probe) const;
  std::size_t site_count() const;
};

// Errors: not a JVM, no permission, not an ELF file. A libjvm.so without probes is not an error here.
Result<Libjvm> libjvm_of_process(const target::Process& process);
Result<Libjvm> libjvm_of_file(const std::string& path);

// The error if there is nothing to trace.
Error no_probes(const Libjvm& libjvm);

}  // namespace jtrace::dtrace
