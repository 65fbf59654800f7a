#include "target/target.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/size_text.h"
#include "target/elf_image.h"
#include "target/jvm_discovery.h"

namespace jtrace::target {
namespace {

// The mappings of a core: its file ranges with the rights of the segments, and the segments without a file.
std::vector<Mapping> mappings_of(const CoreFile& core) {
  std::vector<Mapping> mappings;
  const auto rights = [&](Mapping& mapping) {
    for (const CoreSegment& segment : core.segments()) {
      if (mapping.start < segment.start || mapping.start - segment.start >= segment.memory_size) continue;
      mapping.readable = segment.readable;
      mapping.writable = segment.writable;
      mapping.executable = segment.executable;
      return;
    }
  };
  for (const CoreMappedFile& file : core.files()) {
    Mapping mapping;
    mapping.start = file.start;
    mapping.end = file.end;
    mapping.offset = file.offset;
    mapping.path = file.path;
    if (mapping.path.ends_with(" (deleted)")) {
      mapping.path.resize(mapping.path.size() - 10);
      mapping.deleted = true;
    }
    rights(mapping);
    mappings.push_back(std::move(mapping));
  }
  const std::size_t files = mappings.size();
  for (const CoreSegment& segment : core.segments()) {
    const auto covered = std::any_of(mappings.begin(), mappings.begin() + static_cast<std::ptrdiff_t>(files),
                                     [&](const Mapping& m) { return m.contains(segment.start); });
    if (covered) continue;
    Mapping mapping;
    mapping.start = segment.start;
    mapping.end = segment.start + segment.memory_size;
    rights(mapping);
    if (core.auxiliary(AT_SYSINFO_EHDR) == mapping.start) mapping.path = kVdso;
    mappings.push_back(std::move(mapping));
  }
  std::stable_sort(mappings.begin(), mappings.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return mappings;
}

bool is_cut_off(const CoreFile& core) { return core.missing_bytes() > 0 || core.missing_note_bytes() > 0; }

std::string what_is_cut_off(const CoreFile& core) {
  std::string text = "the core is cut off: expected " + std::to_string(core.expected_size()) + " bytes, have " +
                     std::to_string(core.bytes().size());
  if (core.missing_bytes() > 0) text += "; " + size_text(core.missing_bytes()) + " of memory are missing";
  if (core.missing_note_bytes() > 0)
    text += "; " + std::to_string(core.missing_note_bytes()) + " bytes of notes are missing: threads, mapped files";
  return text;
}

std::string some_files(const std::vector<Mapping>& mappings) {
  std::set<std::string> names;
  for (const Mapping& mapping : mappings)
    if (!mapping.path.empty() && mapping.path.front() == '/') names.insert(std::string(mapping.file_name()));
  std::string text;
  int count = 0;
  for (const std::string& name : names) {
    if (++count > 8) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

// Checks them at once: if the core itself has all bytes that are read, a mistyped name would not be noticed.
Result<> check_given(const CoreFileOptions& options) {
  if (!options.sysroot.empty())
    if (const auto folder = open_file(options.sysroot, O_PATH | O_DIRECTORY); !folder)
      return fail(folder.error().with_context("--sysroot"));
  if (!options.libjvm.empty())
    if (const auto image = ElfImage::open(options.libjvm); !image) return fail(image.error().with_context("--libjvm"));
  return {};
}

}  // namespace

Result<std::unique_ptr<Target>> Target::open_process(Process process, PageSet* record) {
  std::unique_ptr<Target> target(new Target);
  target->process_.emplace(std::move(process));
  JTRACE_ASSIGN_OR_RETURN(target->mappings_, target->process_->maps());
  auto memory = std::make_unique<ProcessMemory>(*target->process_, record);
  target->process_memory_ = memory.get();
  target->memory_ = std::move(memory);
  JTRACE_RETURN_IF_ERROR(target->find_libjvm());
  return target;
}

Result<std::unique_ptr<Target>> Target::open_core(const std::string& path, const CoreFileOptions& options) {
  JTRACE_RETURN_IF_ERROR(check_given(options));
  JTRACE_ASSIGN_OR_RETURN(auto core, CoreFile::open(path));
  return of_core(std::move(core), options);
}

Result<std::unique_ptr<Target>> Target::of_core(CoreFile core, const CoreFileOptions& options) {
  std::unique_ptr<Target> target(new Target);
  target->core_.emplace(std::move(core));
  target->signature_bits_ = target->core_->signature_bits();
  target->mappings_ = mappings_of(*target->core_);
  auto memory = std::make_unique<CoreMemory>(*target->core_, options);
  target->core_memory_ = memory.get();
  target->memory_ = std::move(memory);
  JTRACE_RETURN_IF_ERROR(target->find_libjvm());
  return target;
}

Result<> Target::read_mappings_again() {
  if (!process_) return {};
  JTRACE_ASSIGN_OR_RETURN(mappings_, process_->maps());
  return {};
}

Result<> Target::find_libjvm() {
  if (process_) {
    JTRACE_ASSIGN_OR_RETURN(libjvm_mapping_, target::libjvm_mapping(*process_));
  } else {
    const auto found = std::find_if(mappings_.begin(), mappings_.end(), [](const Mapping& mapping) {
      return mapping.file_name() == "libjvm.so" && mapping.offset == 0;
    });
    if (found == mappings_.end())
      return fail(Error{.category = ErrorCategory::kNotAttachable,
                        .text = core_->file_ranges_known() ? "no HotSpot in this core; files: " + some_files(mappings_)
                                                           : "this core does not say which files were mapped (NT_FILE)",
                        .path = core_->path(),
                        .help = is_cut_off(*core_) ? what_is_cut_off(*core_) : ""});
    libjvm_mapping_ = *found;
  }
  auto image = LoadedImage::read(*memory_, libjvm_mapping_.start);
  if (!image) {
    Error error = image.error().with_context("cannot read libjvm.so of the target (" + libjvm_mapping_.path + ")");
    if (core_memory_)
      for (const std::string& problem : core_memory_->problems())
        if (problem.find("/libjvm.so") != problem.npos) error.help = problem;
    if (core_memory_ && error.help.empty() && is_cut_off(*core_)) error.help = missing().front();
    if (core_memory_ && error.help.empty()) error.help = "give the file with --libjvm or --sysroot";
    return fail(std::move(error));
  }
  if (image->machine() != traits_of(isa()).machine)
    return fail(Error{.category = ErrorCategory::kNotAttachable,
                      .text = "its libjvm.so is for " + machine_name(image->machine()) + ", " +
                              (core_ ? "the core is of a process of " : "this program reads live JVMs of ") +
                              std::string(traits_of(isa()).name),
                      .path = libjvm_mapping_.path,
                      .help = core_ ? "" : "an emulated JVM is read from a core of its machine"});
  libjvm_.emplace(std::move(*image));
  return {};
}

pid_t Target::nspid() const { return process_ ? process_->nspid() : core_->pid(); }

Result<UniqueFd> Target::open_mapped(const Mapping& mapping) const {
  if (process_) return process_->open_mapped(mapping);
  return core_memory_->open_mapped(mapping.path);
}

Result<> Target::check_mapped(const Mapping& mapping) const {
  return core_memory_ ? core_memory_->check_mapped(mapping.path) : Result<>();
}

// A file that was deleted while it was mapped is often replaced by a later one: another build id is no fault then.
void Target::note_unnamed(const Mapping& mapping) const {
  if (!core_memory_) return;
  const bool libjvm = mapping.path == libjvm_mapping_.path;
  if (libjvm && core_memory_->has_own_libjvm()) return core_memory_->note_unnamed(mapping.path);
  if (!mapping.deleted && (libjvm || !core_memory_->sysroot().empty())) core_memory_->note_unnamed(mapping.path);
}

std::string Target::unused_option() const {
  if (!core_memory_ || (libjvm_mapping_.deleted && !core_memory_->has_own_libjvm())) return {};
  return core_memory_->unused_option(libjvm_mapping_.path);
}

UniqueFd Target::open_root() const {
  if (process_) return UniqueFd(::fcntl(process_->root_fd(), F_DUPFD_CLOEXEC, 0));
  const std::string& sysroot = core_memory_->sysroot();
  if (sysroot.empty()) return {};
  return UniqueFd(::open(sysroot.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::vector<std::string> Target::missing() const {
  std::vector<std::string> lines;
  if (!core_) return lines;
  if (is_cut_off(*core_)) lines.push_back(what_is_cut_off(*core_));
  for (const std::string& problem : core_memory_->problems()) lines.push_back(problem);
  return lines;
}

}  // namespace jtrace::target
