#include "perfdata/counter_source.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/utc_text.h"
#include "perfdata/mapped_file.h"
#include "target/jvm_discovery.h"
#include "target/process_memory.h"

namespace jtrace::perfdata {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kStep{5};  // a JVM is accessible some 100 ms after its start

// Waits for the next look at a JVM that is starting; returns at once when it ends.
void wait_step(const target::Process* process) {
  pollfd end{.fd = process ? process->pidfd() : -1, .events = POLLIN, .revents = 0};
  ::poll(&end, 1, static_cast<int>(kStep.count()));
}

// A process that may not be read belongs to another user.
Result<std::vector<target::Mapping>> maps_of(const target::Process& process) {
  auto mappings = process.maps();
  if (mappings || exit_status(mappings.error()) != ExitStatus::kPermission) return mappings;
  const Error error = mappings.error().with_context("process " + std::to_string(process.pid()) + " (" + process.comm() +
                                                    ") is of user " + std::to_string(process.uid()));
  return fail(error.with_help(::geteuid() == 0 ? "run with CAP_SYS_PTRACE, which root lacks here"
                                               : "run as that user, as root or with CAP_SYS_PTRACE"));
}

bool keeps_them_private(const target::Process& process) {
  const auto& words = process.cmdline();
  return std::find(words.begin(), words.end(), "-XX:+PerfDisableSharedMem") != words.end();
}

}  // namespace

std::string_view source_name(SourceKind kind) {
  static constexpr std::string_view kNames[] = {"file", "memory", "saved", "core"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<CounterSource> CounterSource::of_process(pid_t pid, const SourceOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(target::Process process, target::Process::open(pid));
  return of_process(std::move(process), options);
}

Result<CounterSource> CounterSource::of_process(target::Process process, const SourceOptions& options) {
  CounterSource source;
  source.layouts_ = options.layouts;
  source.process_ = std::make_unique<target::Process>(std::move(process));
  source.name_ = "process " + std::to_string(source.process_->pid());
  JTRACE_RETURN_IF_ERROR(source.find_region(options));
  JTRACE_RETURN_IF_ERROR(source.settle(options));
  return source;
}

void CounterSource::read_from(const target::MemoryReader& memory, target::Address base, const ParseOptions& options,
                              std::size_t capacity) {
  reader_.emplace(memory, base, options, capacity);
  reader_->share_layouts(layouts_);
}

// The mapped file, waited for while the JVM is young; otherwise the private region.
Result<> CounterSource::find_region(const SourceOptions& options) {
  const target::Process& process = *process_;
  if (options.address) {
    kind_ = SourceKind::kMemory;
    memory_ = std::make_unique<target::ProcessMemory>(process);
    address_ = *options.address;
    read_from(*memory_, address_);
    return {};
  }
  JTRACE_ASSIGN_OR_RETURN(auto mappings, maps_of(process));
  const auto* mapping = find_region_mapping(mappings);
  if (!mapping) {
    JTRACE_RETURN_IF_ERROR(target::libjvm_mapping(process));
    if (keeps_no_counters(process)) return fail(no_counters(process));
  }
  const auto deadline = Clock::now() + options.wait;
  while (!mapping && !keeps_them_private(process)) {
    auto address = scan_private_region(process, mappings);
    if (address || exit_status(address.error()) == ExitStatus::kPermission) break;
    if (process.has_exited() || Clock::now() >= deadline) return fail(std::move(address).error());
    wait_step(&process);
    JTRACE_ASSIGN_OR_RETURN(mappings, process.maps());
    mapping = find_region_mapping(mappings);
  }
  if (!mapping) {
    JTRACE_ASSIGN_OR_RETURN(address_, scan_private_region(process, mappings));
    kind_ = SourceKind::kMemory;
    memory_ = std::make_unique<target::ProcessMemory>(process);
    read_from(*memory_, address_);
    return {};
  }
  JTRACE_ASSIGN_OR_RETURN(RegionFile file, open_mapped_region(process, *mapping));
  kind_ = SourceKind::kFile;
  file_ = std::make_unique<RegionFile>(std::move(file));
  name_ = file_->path();
  read_from(*file_, 0, ParseOptions{}, file_->facts().size);
  if (options.mapped && file_->facts().size != 0) {
    if (auto mapping_of_file = MappedFile::map(*file_)) {
      memory_ = std::make_unique<MappedFile>(std::move(*mapping_of_file));
      read_from(*memory_, 0, ParseOptions{}, file_->facts().size);
    }
  }
  if (process.nspid() != process.pid())
    if (const auto other = other_mapper(file_->facts(), process.pid()))
      warnings_.push_back("process " + std::to_string(*other) + " maps " + name_ +
                          " too: both JVMs write into it, so a number may be of either");
  return {};
}

Result<CounterSource> CounterSource::of_file(const std::string& path, const SourceOptions& options) {
  CounterSource source;
  source.layouts_ = options.layouts;
  source.kind_ = SourceKind::kSaved;
  source.name_ = path;
  JTRACE_ASSIGN_OR_RETURN(RegionFile file, open_region_file(path, options.trust));
  source.file_ = std::make_unique<RegionFile>(std::move(file));
  if (is_live_location(path) && !options.stale) JTRACE_RETURN_IF_ERROR(source.refuse_stale(path));
  source.read_from(*source.file_, 0, ParseOptions{.partial = options.partial}, source.file_->facts().size);
  auto settled = source.settle(options);
  if (!settled) {
    Error error = std::move(settled).error();
    if (error.path.empty()) error.path = path;
    return fail(std::move(error));
  }
  return source;
}

Result<> CounterSource::refuse_stale(const std::string& path) const {
  if (holder_of(file_->facts())) return {};
  Error error{
      .category = ErrorCategory::kNotFound,
      .text = "stale file of a JVM that has ended, last changed " + utc_text(file_->facts().modified_ns, kIsoSeconds)};
  error.path = path;
  error.help = "--stale reads it";
  return fail(std::move(error));
}

Result<CounterSource> CounterSource::of_core(CoreRegion region, const SourceOptions& options) {
  CounterSource source;
  source.kind_ = SourceKind::kCore;
  source.name_ = region.name;
  source.address_ = region.base;
  source.core_ = std::make_unique<CoreRegion>(std::move(region));
  source.read_from(*source.core_->memory, source.core_->base, ParseOptions{.partial = options.partial},
                   source.core_->capacity);
  SourceOptions no_wait = options;
  no_wait.any_state = true;  // a core does not progress
  JTRACE_RETURN_IF_ERROR(source.settle(no_wait));
  return source;
}

// The first snapshot, when the JVM has marked its counters as readable. The file of a live JVM is empty or without
// magic for some milliseconds, so errors count only at the end of the wait.
Result<> CounterSource::settle(const SourceOptions& options) {
  const auto deadline = Clock::now() + (process_ ? options.wait : milliseconds(0));
  for (;;) {
    auto taken = read(first_);
    if (taken && (first_.prologue().accessible || options.any_state)) return {};
    const bool late = Clock::now() >= deadline || (process_ && process_->has_exited());
    if (!taken && (late || exit_status(taken.error()) != ExitStatus::kMalformed)) return taken;
    if (late) {
      Error error{.category = ErrorCategory::kTimeout,
                  .text = "the JVM is starting: its counters were not accessible after " +
                          std::to_string(process_ ? options.wait.count() : 0) + " ms"};
      error.path = name_;
      error.help =
          process_ ? "--wait SECONDS waits longer, --any-state reads them all the same" : "--any-state reads it";
      return fail(std::move(error));
    }
    wait_step(process_.get());
  }
}

// Mapping fails if the file was truncated. Then the file itself shows what is wrong, or is complete again.
Result<> CounterSource::read_by(Result<> (RegionReader::*how)(Snapshot&), Snapshot& into) {
  auto done = ((*reader_).*how)(into);
  if (done || !file_ || !memory_) return done;
  memory_.reset();
  read_from(*file_, 0, ParseOptions{}, file_->facts().size);
  return ((*reader_).*how)(into);
}

Result<> CounterSource::read(Snapshot& into) { return read_by(&RegionReader::read_stable, into); }

Result<> CounterSource::read_once(Snapshot& into) { return read_by(&RegionReader::read_once, into); }

std::vector<std::string> CounterSource::warnings() const {
  std::vector<std::string> all = warnings_;
  const Layout& layout = first_.layout();
  if (const auto overflow = first_.prologue().overflow; overflow != 0)
    all.push_back(std::to_string(overflow) +
                  " bytes of counters did not fit and are missing: start the JVM with -XX:PerfDataMemorySize=64k");
  all.insert(all.end(), layout.warnings().begin(), layout.warnings().end());
  if (!layout.complete() && (kind_ == SourceKind::kSaved || kind_ == SourceKind::kCore))
    all.push_back(layout.incomplete_reason());
  if (kind_ == SourceKind::kSaved)
    for (std::string_view name : duplicate_names(layout))
      all.push_back("counter " + std::string(name) + " occurs twice");
  return all;
}

}  // namespace jtrace::perfdata
