#include "target/copy_plan.h"

#include <unistd.h>

#include <algorithm>

#include "base/unique_fd.h"
#include "target/smaps.h"

namespace jtrace::target {
namespace {

constexpr std::uint64_t kRedZone = 128;  // bytes below the stack pointer that a leaf function may use (x86-64 ABI)
constexpr std::uint64_t kMaxStack = 8u << 20;  // of one thread, with CopyOptions::pages

// Shared memory with a file that cannot be read later.
bool is_memory_file(const Mapping& mapping) {
  for (const char* name : {"/memfd:", "/dev/zero", "/SYSV"})
    if (mapping.path.starts_with(name)) return true;
  if (mapping.path.find("/hsperfdata_") != mapping.path.npos) return true;
  if (mapping.path.starts_with("/dev/shm/")) return !mapping.path.starts_with("/dev/shm/jtrace-");
  return mapping.deleted && !mapping.path.starts_with("/dev/");
}

// [vdso] can be read; [vvar], its clocks, cannot.
bool is_special(const Mapping& mapping) {
  return mapping.path.starts_with("[vv") || mapping.path == "[vsyscall]" || mapping.path.starts_with("anon_inode:");
}

bool has_file(const Mapping& mapping) { return mapping.path.starts_with('/'); }

}  // namespace

std::span<const std::byte> CopyPlan::zeros() {
  static constexpr std::array<std::byte, kSmallGap> kZeros{};
  return kZeros;
}

CopyPlan::CopyPlan(const Process& process, const CopyOptions& options)
    : process_(process), options_(options), pagemap_(process) {}

Result<> CopyPlan::look() {
  JTRACE_ASSIGN_OR_RETURN(const std::string smaps, process_.read_proc("smaps"));
  for (const MappedPages& each : parse_smaps(smaps))
    if (has_file(each.mapping) && !each.mapping.shared && each.anonymous == 0 && each.swap == 0)
      unchanged_.insert(each.mapping.start);
  return {};
}

void CopyPlan::make(const std::vector<Mapping>& mappings, const std::vector<Address>& stack_pointers) {
  shared_.clear();
  memory_runs_.clear();
  file_runs_.clear();
  shared_runs_.clear();
  ranges_.clear();
  memory_bytes_ = file_bytes_ = 0;
  for (const Mapping& mapping : mappings)
    if (mapping.executable && mapping.inode != 0) libraries_.insert({mapping.device, mapping.inode});
  for (const Mapping& mapping : mappings)
    if (!is_special(mapping)) add_mapping(mapping, stack_pointers);
}

bool CopyPlan::is_library(const Mapping& mapping) const { return libraries_.contains({mapping.device, mapping.inode}); }

bool CopyPlan::is_changed(const Mapping& mapping) const {
  return mapping.writable || !unchanged_.contains(mapping.start);
}

CopyPlan::Source CopyPlan::source_of(const Mapping& mapping) const {
  if (!mapping.readable) return Source::kNothing;
  if (!has_file(mapping)) return Source::kMemory;
  if (mapping.shared) return is_memory_file(mapping) && !is_library(mapping) ? Source::kShared : Source::kNothing;
  if (mapping.path.starts_with("/dev/zero") || mapping.path.starts_with("/anon_hugepage")) return Source::kMemory;
  if (is_changed(mapping)) return Source::kChangedFile;
  const bool archive = mapping.path.ends_with(".jsa");
  if (!is_library(mapping) && !archive) return Source::kNothing;
  if (options_.libraries || options_.pages) return Source::kFile;
  return mapping.offset == 0 ? Source::kFirstPage : Source::kNothing;
}

std::vector<PageRun> CopyPlan::wanted(const Mapping& mapping, Source source,
                                      const std::vector<Address>& stack_pointers) const {
  const std::uint64_t page = Pagemap::page_size();
  if (source == Source::kNothing) return {};
  if (source == Source::kFirstPage) return {{mapping.start, mapping.start + page}};
  if (!options_.pages) return {{mapping.start, mapping.end}};
  PageSet set;
  for (const PageRun& run : options_.pages->within(mapping.start, mapping.end)) set.add(run.start, run.end);
  if (is_library(mapping) && mapping.offset == 0) set.add(mapping.start, mapping.start + page);
  for (const Address pointer : stack_pointers)
    if (mapping.contains(pointer))
      set.add(std::max(mapping.start, pointer - std::min(pointer, kRedZone)),
              std::min(mapping.end, pointer + kMaxStack));
  return set.within(mapping.start, mapping.end);
}

void CopyPlan::add_mapping(const Mapping& mapping, const std::vector<Address>& stack_pointers) {
  const Source source = source_of(mapping);
  if (source == Source::kShared && !options_.pages && add_alias(mapping)) return;
  if (source == Source::kShared) shared_.emplace_back(mapping, ranges_.size());
  Address at = mapping.start;
  for (const PageRun& run : wanted(mapping, source, stack_pointers)) {
    add_nothing(mapping, at, run.start);
    if (source == Source::kMemory || source == Source::kShared) add_memory(mapping, run, source == Source::kShared);
    else if (source == Source::kChangedFile) add_changed_file(mapping, run);
    else add_file(mapping, run);
    at = run.end;
  }
  add_nothing(mapping, at, mapping.end);
}

// The same part of the same file as an earlier mapping: ZGC maps its heap three times (JDK 11 to 17).
bool CopyPlan::add_alias(const Mapping& mapping) {
  for (const auto& [other, first] : shared_) {
    if (other.device != mapping.device || other.inode != mapping.inode || other.offset != mapping.offset ||
        other.size() != mapping.size())
      continue;
    for (std::size_t i = first;
         i < ranges_.size() && ranges_[i].range.start < other.end && ranges_[i].range.start >= other.start; ++i) {
      CoreRange range = ranges_[i].range;
      range.start = range.start - other.start + mapping.start;
      range.end = range.end - other.start + mapping.start;
      if (!range.zeros && !ranges_[i].parts.empty()) range.same_as = i;
      ranges_.push_back({.range = std::move(range), .parts = {}});
    }
    return true;
  }
  return false;
}

PlannedRange& CopyPlan::new_range(const Mapping& mapping, Address start, Address end) {
  PlannedRange planned;
  planned.range.start = start;
  planned.range.end = end;
  planned.range.readable = mapping.readable;
  planned.range.writable = mapping.writable;
  planned.range.executable = mapping.executable;
  ranges_.push_back(std::move(planned));
  return ranges_.back();
}

void CopyPlan::add_nothing(const Mapping& mapping, Address start, Address end) {
  if (start < end) new_range(mapping, start, end);
}

void CopyPlan::add_zeros(const Mapping& mapping, Address start, Address end) {
  if (start < end) new_range(mapping, start, end).range.zeros = true;
}

void CopyPlan::append_memory(PlannedRange& to, Address start, Address end) {
  if (start >= end) return;
  memory_runs_.push_back({start, end, memory_bytes_});
  to.parts.push_back({PlannedBytes::kMemory, memory_bytes_, end - start});
  memory_bytes_ += end - start;
  to.range.end = end;
}

void CopyPlan::append_shared(PlannedRange& to, const Mapping& mapping, Address start, Address end) {
  if (start >= end) return;
  shared_runs_.push_back({mapping, start, end, memory_bytes_});
  to.parts.push_back({PlannedBytes::kMemory, memory_bytes_, end - start});
  memory_bytes_ += end - start;
  to.range.end = end;
}

void CopyPlan::append_file(PlannedRange& to, const Mapping& mapping, Address start, Address end) {
  if (start >= end) return;
  file_runs_.push_back({mapping, start, end, file_bytes_});
  to.parts.push_back({PlannedBytes::kFile, file_bytes_, end - start});
  file_bytes_ += end - start;
  to.range.end = end;
}

std::vector<PageRun> CopyPlan::resident(const Mapping& mapping, const PageRun& run) const {
  std::vector<PageRun> found;
  const auto add = [&](const PageRun& pages, PageKind kind) {
    if (kind == PageKind::kZero || kind == PageKind::kGuard) return;
    const PageRun part{std::max(pages.start, run.start), std::min(pages.end, run.end)};
    if (!found.empty() && found.back().end == part.start) found.back().end = part.end;
    else if (part.start < part.end) found.push_back(part);
  };
  if (mapping.path == "[vdso]" || !pagemap_.visit(run.start, run.end, add)) return {run};
  return found;
}

// What the file of shared memory holds, whether or not this mapping has touched it (lseek(2), SEEK_DATA).
std::vector<PageRun> CopyPlan::data_of_file(const Mapping& mapping, const PageRun& run) const {
  const auto fd = process_.open_mapped(mapping);
  if (!fd) return {run};
  const auto to_address = [&](off_t offset) { return static_cast<Address>(offset) - mapping.offset + mapping.start; };
  const auto to_offset = [&](Address at) { return static_cast<off_t>(at - mapping.start + mapping.offset); };
  std::vector<PageRun> found;
  for (Address at = run.start; at < run.end;) {
    const off_t data = ::lseek(fd->get(), to_offset(at), SEEK_DATA);
    if (data < 0 && errno != ENXIO) return {run};  // a file system that cannot say
    if (data < 0 || to_address(data) >= run.end) break;
    const off_t hole = ::lseek(fd->get(), data, SEEK_HOLE);
    if (hole <= data) return {run};
    const std::uint64_t page = Pagemap::page_size();
    const PageRun part{to_address(data) & ~(page - 1), std::min((to_address(hole) + page - 1) & ~(page - 1), run.end)};
    found.push_back(part);
    at = part.end;
  }
  return found;
}

void CopyPlan::add_memory(const Mapping& mapping, const PageRun& run, bool shared) {
  const auto pages = shared ? data_of_file(mapping, run) : resident(mapping, run);
  Address at = run.start;
  PlannedRange* current = nullptr;
  for (const PageRun& part : pages) {
    const std::uint64_t gap = part.start - at;
    if (current && gap > 0 && gap <= kSmallGap) {
      current->parts.push_back({PlannedBytes::kZeros, 0, gap});
      current->range.end = part.start;
    } else if (gap > 0 || !current) {
      add_zeros(mapping, at, part.start);
      current = &new_range(mapping, part.start, part.start);
    }
    if (shared) append_shared(*current, mapping, part.start, part.end);
    else append_memory(*current, part.start, part.end);
    at = part.end;
  }
  add_zeros(mapping, at, run.end);
}

// One range, so that no reader takes a part of a library for another library.
void CopyPlan::add_changed_file(const Mapping& mapping, const PageRun& run) {
  PlannedRange& range = new_range(mapping, run.start, run.start);
  Address at = run.start;
  for (const PageRun& part : resident(mapping, run)) {
    append_file(range, mapping, at, part.start);
    append_memory(range, part.start, part.end);
    at = part.end;
  }
  append_file(range, mapping, at, run.end);
}

void CopyPlan::add_file(const Mapping& mapping, const PageRun& run) {
  append_file(new_range(mapping, run.start, run.start), mapping, run.start, run.end);
}

}  // namespace jtrace::target
