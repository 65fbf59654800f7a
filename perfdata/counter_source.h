// CounterSource: the counters of one JVM, live (its file or its memory), saved, or of a core; read any number of times.
//
// In file mode nothing is created, locked, deleted, signalled or attached to; in memory mode the memory is read.
// Ownership: owns the process's descriptors and the file; movable. Threads: one at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "perfdata/discovery.h"
#include "perfdata/region_file.h"
#include "perfdata/snapshot.h"
#include "target/process.h"

namespace jtrace::perfdata {

enum class SourceKind : std::uint8_t { kFile, kMemory, kSaved, kCore };
std::string_view source_name(SourceKind kind);  // "file", "memory", "saved", "core"

struct SourceOptions {
  bool trust = false;    // accept a named file that others could have put in place
  bool stale = false;    // accept a named file of a JVM that has ended
  bool partial = false;  // read the valid part of a truncated or corrupt file
  // How long to wait for a JVM that is starting.
  std::chrono::milliseconds wait{1000};
  bool any_state = false;  // do not wait: read a region that is not accessible yet
  // Map the file of a live JVM, for frequent reads (see MappedFile).
  bool mapped = false;
  // Layouts shared with other sources, for readers of many JVMs.
  std::shared_ptr<LayoutCache> layouts = {};
  // The address of the region in the process's memory, if coreinspect has found it (PerfMemory::_start); otherwise it
  // is searched.
  std::optional<target::Address> address = {};
};

// A region in the memory of a core, whose PerfMemory coreinspect has found.
struct CoreRegion {
  std::shared_ptr<const target::MemoryReader> memory;
  target::Address base = 0;     // PerfMemory::_start
  std::uint64_t capacity = 0;   // bytes from there to PerfMemory::_end; 0: unknown
  std::string name;             // the core's path
  pid_t nspid = 0;              // the JVM's own pid
  std::string libjvm_build_id;  // "" if unknown
  std::string unused_option;    // a line for the user: which --libjvm or --sysroot does not fit, and why; "": none
};

class CounterSource {
 public:
  // Errors: kNotAttachable (not a JVM), kRefused (it has no counters), kPermission, kTimeout (still starting).
  static Result<CounterSource> of_process(pid_t pid, const SourceOptions& options = {});
  static Result<CounterSource> of_process(target::Process process, const SourceOptions& options = {});
  // Errors: kNotFound (also a stale file, unless options.stale), kPermission, kMalformed, kTimeout (not accessible).
  static Result<CounterSource> of_file(const std::string& path, const SourceOptions& options = {});
  // Errors: those of Layout::parse and of the memory.
  static Result<CounterSource> of_core(CoreRegion region, const SourceOptions& options = {});

  SourceKind kind() const { return kind_; }
  const std::string& name() const { return name_; }                  // path of the file, or "process 123"
  const target::Process* process() const { return process_.get(); }  // null: saved, core
  pid_t pid() const { return process_ ? process_->pid() : 0; }
  const RegionFile* file() const { return file_.get(); }  // null: memory
  target::Address address() const { return address_; }    // of the region in the process's or core's memory; 0: a file
  const CoreRegion* core() const { return core_.get(); }  // null: not of a core
  // Warnings for the user: wrong file, overflow, missing entries.
  std::vector<std::string> warnings() const;

  // A stable snapshot; read_once is the fast one (see Snapshot).
  Result<> read(Snapshot& into);
  Result<> read_once(Snapshot& into);
  // The snapshot that was taken when the source was opened.
  const Snapshot& first() const { return first_; }
  // True if the process has ended. Never blocks; saved files never end.
  bool has_ended() const { return process_ && process_->has_exited(); }

 private:
  CounterSource() = default;
  Result<> find_region(const SourceOptions& options);
  Result<> settle(const SourceOptions& options);
  void read_from(const target::MemoryReader& memory, target::Address base, const ParseOptions& options = {},
                 std::size_t capacity = 0);
  Result<> read_by(Result<> (RegionReader::*how)(Snapshot&), Snapshot& into);
  Result<> refuse_stale(const std::string& path) const;

  SourceKind kind_ = SourceKind::kFile;
  std::string name_;
  std::unique_ptr<target::Process> process_;
  std::unique_ptr<RegionFile> file_;
  std::unique_ptr<target::MemoryReader> memory_;  // of the process, or its file mapped
  target::Address address_ = 0;
  std::unique_ptr<CoreRegion> core_;
  std::shared_ptr<LayoutCache> layouts_;
  std::optional<RegionReader> reader_;
  std::vector<std::string> warnings_;
  Snapshot first_;
};

}  // namespace jtrace::perfdata
