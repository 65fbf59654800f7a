// Target: a live process or a core, with its memory, mappings, threads and libjvm.so.
//
// One class for all sources of bytes; everything above reads through memory(). Ownership: owns the process or the core
// and everything mapped of it. Threads: const functions from any thread. The mappings of a live process are those of
// the moment of opening. Errors: those of Process::open and CoreFile::open; kNotAttachable if there is no libjvm.so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "target/core_file.h"
#include "target/core_memory.h"
#include "target/loaded_image.h"
#include "target/memory_map.h"
#include "target/process.h"
#include "target/process_memory.h"

namespace jtrace::target {

class Target {
 public:
  // `record`: ProcessMemory's; it must outlive the target.
  static Result<std::unique_ptr<Target>> open_process(Process process, PageSet* record = nullptr);
  static Result<std::unique_ptr<Target>> open_core(const std::string& path, const CoreFileOptions& options = {});
  static Result<std::unique_ptr<Target>> of_core(CoreFile core, const CoreFileOptions& options = {});

  const MemoryReader& memory() const { return *memory_; }
  const Process* process() const { return process_ ? &*process_ : nullptr; }  // null for a core
  const CoreFile* core() const { return core_ ? &*core_ : nullptr; }          // null for a live process
  const CoreMemory* core_memory() const { return core_memory_; }
  const ProcessMemory* process_memory() const { return process_memory_; }  // null for a core
  Isa isa() const { return core_ ? core_->isa() : kNativeIsa; }
  // A return address without its signature (pointer authentication).
  Address code_address(Address pc) const { return pc & ~signature_bits_; }
  pid_t nspid() const;                                                // in its innermost pid namespace
  const std::vector<Mapping>& mappings() const { return mappings_; }  // by address
  // For a live process, which loads and unloads libraries. Pointers into mappings() become invalid.
  Result<> read_mappings_again();
  const Mapping& libjvm_mapping() const { return libjvm_mapping_; }
  const LoadedImage& libjvm() const { return *libjvm_; }
  // Opens the file of a mapping, for its symbols.
  Result<UniqueFd> open_mapped(const Mapping& mapping) const;
  // That file is the one that was mapped. Errors, of a core: as CoreMemory::check_mapped.
  Result<> check_mapped(const Mapping& mapping) const;
  // The root directory to which the paths of mappings refer; empty if it is this process's own.
  UniqueFd open_root() const;
  // The symbols of a mapped image were asked for, and open_symbol_files() has none: of a core, missing() says so if its
  // file does not fit. Of files other than libjvm.so only if there is a sysroot: many a machine lacks them.
  void note_unnamed(const Mapping& mapping) const;
  // "--sysroot /x is not used ...": it, or --libjvm, was given for a core and does not fit, and no answer lacks
  // anything for that; otherwise "".
  std::string unused_option() const;
  // Parts that were needed and are missing; one line each.
  std::vector<std::string> missing() const;

 private:
  Target() = default;
  Result<> find_libjvm();

  std::optional<Process> process_;
  std::optional<CoreFile> core_;
  std::unique_ptr<MemoryReader> memory_;
  const CoreMemory* core_memory_ = nullptr;
  const ProcessMemory* process_memory_ = nullptr;
  std::vector<Mapping> mappings_;
  std::uint64_t signature_bits_ = 0;
  Mapping libjvm_mapping_;
  std::optional<LoadedImage> libjvm_;
};

}  // namespace jtrace::target
