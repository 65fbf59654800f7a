#include "target/core_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "target/elf_image.h"
#include "target/page_set.h"
#include "target/read_log.h"
#include "target/root_directory.h"

namespace jtrace::target {
namespace {

bool is_libjvm(std::string_view path) { return path.ends_with("/libjvm.so"); }
constexpr const char* kGiveFiles = "give the files of its machine with --sysroot";
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The kernel's mark is no part of the path.
bool is_path_of(const CoreMappedFile& range, std::string_view path) {
  return range.path == path || (range.path.starts_with(path) && range.path.substr(path.size()) == " (deleted)");
}

}  // namespace

CoreMemory::CoreMemory(const CoreFile& core, const CoreFileOptions& options) : core_(core), options_(options) {
  add_segments();
  add_files();
}

CoreMemory::~CoreMemory() {
  for (auto& [path, file] : mapped_)
    if (file.bytes) ::munmap(const_cast<std::byte*>(file.bytes), file.size);
}

std::string CoreMemory::local_path(const std::string& path) const {
  if (!options_.libjvm.empty() && is_libjvm(path)) return options_.libjvm;
  return options_.sysroot.empty() ? path : options_.sysroot + path;
}

void CoreMemory::add_segments() {
  for (const CoreSegment& segment : core_.segments())
    if (segment.present > 0)
      pieces_.push_back({segment.start, segment.start + segment.present, core_.bytes().data() + segment.file_offset});
  sort_and_merge(pieces_);
}

// Pieces that are adjacent in memory and in the file become one. If a piece overlaps the one before it, the overlap is
// cut off.
void CoreMemory::sort_and_merge(std::vector<Piece>& pieces) const {
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.start < b.start; });
  std::vector<Piece> merged;
  for (Piece piece : pieces) {
    if (!merged.empty() && piece.start < merged.back().end) {
      if (piece.end <= merged.back().end) continue;
      piece.bytes += merged.back().end - piece.start;
      piece.start = merged.back().end;
    }
    if (!merged.empty() && merged.back().end == piece.start &&
        merged.back().bytes + (merged.back().end - merged.back().start) == piece.bytes)
      merged.back().end = piece.end;
    else merged.push_back(piece);
  }
  pieces = std::move(merged);
}

void CoreMemory::add_files() {
  std::vector<Piece> added;
  for (const CoreMappedFile& range : core_.files()) {
    Address at = range.start;
    while (at < range.end) {
      const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                         [](Address address, const Piece& piece) { return address < piece.end; });
      if (next != pieces_.end() && next->start <= at) {
        at = next->end;
        continue;
      }
      const Address end = next == pieces_.end() ? range.end : std::min(range.end, next->start);
      const MappedFile& file = file_of(range.path);
      const std::uint64_t offset = range.offset + (at - range.start);
      if (file.usable && offset < file.size) {
        const std::uint64_t size = std::min<std::uint64_t>(end - at, file.size - offset);
        added.push_back({at, at + size, file.bytes + offset});
        bytes_from_files_ += size;
      } else if (!file.usable) {
        holes_.push_back({at, end, file.problem});
      }
      at = end;
    }
  }
  pieces_.insert(pieces_.end(), added.begin(), added.end());
  sort_and_merge(pieces_);
  std::sort(holes_.begin(), holes_.end(), [](const Hole& a, const Hole& b) { return a.start < b.start; });
}

std::vector<std::string> CoreMemory::problems() const {
  std::vector<std::string> lines;
  for (const Problem& problem : problems_)
    if (problem.wanted) lines.push_back(problem.text);
  const std::lock_guard lock(unnamed_mutex_);
  for (const bool libjvm : {true, false})
    for (const auto& [path, why] : unnamed_)
      if (is_libjvm(path) == libjvm && !why.empty() && !is_told(path))
        lines.push_back("symbols of " + name_of(path) + ": " + why);
  return lines;
}

bool CoreMemory::is_told(const std::string& path) const {
  const auto known = mapped_.find(path);
  return known != mapped_.end() && known->second.problem && known->second.problem->wanted;
}

void CoreMemory::note_unnamed(const std::string& path) const {
  if (!options_.tell_unnamed) return;
  const std::lock_guard lock(unnamed_mutex_);
  if (!unnamed_.contains(path)) unnamed_.emplace(path, why_unusable(path));
}

Result<> CoreMemory::check_mapped(const std::string& path) const {
  if (const auto known = mapped_.find(path); known != mapped_.end() && known->second.usable) return {};
  auto file = map_file(path);
  if (!file) {
    if (file.error().help.empty()) file.error().help = help_for_missing(path);
    return fail(std::move(file.error()));
  }
  ::munmap(const_cast<std::byte*>(file->bytes), file->size);
  return {};
}

std::string CoreMemory::why_unusable(const std::string& path) const {
  const auto fits = check_mapped(path);
  return fits ? std::string() : fits.error().message();
}

std::string CoreMemory::unused_option(const std::string& path) const {
  if (options_.libjvm.empty() && options_.sysroot.empty()) return {};
  const std::lock_guard lock(unnamed_mutex_);
  if (unnamed_.contains(path) || is_told(path)) return {};
  const std::string why = why_unusable(path);
  if (why.empty()) return {};
  return (options_.libjvm.empty() ? "--sysroot " + options_.sysroot + " is not used for libjvm.so: "
                                  : "--libjvm " + options_.libjvm + " is not used: ") +
         why;
}

void CoreMemory::note_hole(Address address) const {
  if (options_.missed) {
    const std::lock_guard lock(missed_mutex_);
    options_.missed->add(address, address + 1);
  }
  const auto next = std::upper_bound(holes_.begin(), holes_.end(), address,
                                     [](Address at, const Hole& hole) { return at < hole.start; });
  if (next != holes_.begin() && address < std::prev(next)->end) std::prev(next)->problem->wanted = true;
}

const CoreMemory::MappedFile& CoreMemory::file_of(const std::string& path) {
  const auto known = mapped_.find(path);
  if (known != mapped_.end()) return known->second;
  auto file = map_file(path);
  if (file) return mapped_.emplace(path, *file).first->second;
  if (file.error().help.empty()) file.error().help = kGiveFiles;
  problems_.emplace_back().text = file.error().message();
  return mapped_.emplace(path, MappedFile{.problem = &problems_.back()}).first->second;
}

Result<UniqueFd> CoreMemory::open_mapped(const std::string& path) const {
  const std::string local = local_path(path);
  if (options_.sysroot.empty() || local == options_.libjvm) return open_file(local, O_RDONLY | O_NONBLOCK);
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd root, open_file(options_.sysroot, O_PATH | O_DIRECTORY));
  auto opened = open_in_root(root.get(), path, O_RDONLY | O_NONBLOCK);
  if (!opened) opened.error().path = local;
  return opened;
}

// The build id of others is not read here: what is read of a copy on trial (CoreFileOptions::missed) becomes part of
// it.
Result<CoreMemory::MappedFile> CoreMemory::map_file(const std::string& path) const {
  auto file = check_and_map(path);
  if (!file && file.error().help.empty() && is_libjvm(path)) file.error().help = help_for_missing(path);
  return file;
}

Result<CoreMemory::MappedFile> CoreMemory::check_and_map(const std::string& path) const {
  const std::string local = local_path(path);
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_mapped(path));
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return fail(system_error("cannot read the size of", local));
  if (!S_ISREG(facts.st_mode) || facts.st_size == 0)
    return fail(Error{.category = ErrorCategory::kNotFound, .text = "not a regular file with content", .path = local});
  MappedFile file;
  file.size = static_cast<std::size_t>(facts.st_size);
  void* at = ::mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) return fail(system_error("cannot map", local));
  file.bytes = static_cast<const std::byte*>(at);
  file.usable = true;
  if (auto machine = check_machine(file, local); !machine) {
    ::munmap(at, file.size);
    return fail(std::move(machine.error()));
  }
  if (auto same = check_identity(std::move(fd), path); !same) {
    ::munmap(at, file.size);
    return fail(std::move(same.error()));
  }
  return file;
}

Result<> CoreMemory::check_machine(const MappedFile& file, const std::string& path) const {
  Elf64_Ehdr header{};
  if (file.size < sizeof header) return {};
  std::memcpy(&header, file.bytes, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine == traits_of(core_.isa()).machine)
    return {};
  return fail(Error{.category = ErrorCategory::kMalformed,
                    .text = "this file is for " + machine_name(header.e_machine) + ", the core is of a process of " +
                            std::string(traits_of(core_.isa()).name),
                    .path = path,
                    .help = "give the files of the machine it ran on (--sysroot, --libjvm)"});
}

namespace {

// The file of that build id where the process had it, or a libjvm.so among the JDKs that packages install; "" if there
// is none.
std::string fitting_file(const std::string& path, const std::string& build_id) {
  std::vector<std::string> candidates{path};
  std::error_code ignored;
  if (is_libjvm(path))
    for (const auto& jdk : std::filesystem::directory_iterator("/usr/lib/jvm", ignored))
      for (const char* place :
           {"/lib/server/libjvm.so", "/jre/lib/amd64/server/libjvm.so", "/jre/lib/aarch64/server/libjvm.so"})
        candidates.push_back(jdk.path().string() + place);
  for (const std::string& each : candidates)
    if (const auto image = ElfImage::open(each); image && image->build_id() == build_id) return each;
  return {};
}

}  // namespace

// `fits`: of fitting_file(), "" if there is none.
std::string CoreMemory::help_for(const std::string& path, const std::string& fits) const {
  if (fits.empty())
    return is_libjvm(path) ? "give the right one (--sysroot, --libjvm)" : "give the right one (--sysroot)";
  if (fits != path) return "--libjvm " + fits + " has that build id";
  const std::string given = local_path(path) == options_.libjvm ? "--libjvm" : "--sysroot";
  return "leave " + given + " out: " + path + " of this machine has that build id";
}

// Of a file that is not used, so that pieces_ holds only the core's own memory of it.
std::string CoreMemory::dumped_build_id(const std::string& path) const {
  const auto& files = core_.files();
  const auto first = std::find_if(files.begin(), files.end(),
                                  [&](const auto& range) { return range.offset == 0 && is_path_of(range, path); });
  if (first == files.end()) return {};
  const auto dumped = LoadedImage::read(*this, first->start);
  return dumped ? dumped->build_id() : std::string();
}

std::string CoreMemory::help_for_missing(const std::string& path) const {
  const std::string build_id = dumped_build_id(path);
  if (build_id.empty() && !is_libjvm(path)) return {};
  const std::string give =
      is_libjvm(path) ? "give the file with --libjvm, or the files of its machine with --sysroot" : kGiveFiles;
  if (build_id.empty()) return give;
  const std::string fits = fitting_file(path, build_id);
  return "its build id is " + build_id + ": " + (fits.empty() ? give : help_for(path, fits));
}

// Compares the build id of the dumped first page with the file's.
Result<> CoreMemory::check_identity(UniqueFd file, const std::string& path) const {
  const std::string dumped = dumped_build_id(path);
  if (dumped.empty()) return {};
  const auto image = ElfImage::from_fd(std::move(file), local_path(path));
  if (!image) return fail(image.error());
  if (image->build_id() == dumped) return {};
  return fail(Error{.category = ErrorCategory::kMalformed,
                    .text = "this file is not the one the process had mapped: its build id is " +
                            (image->build_id().empty() ? std::string("absent") : image->build_id()) +
                            ", the core has " + dumped,
                    .path = local_path(path),
                    .help = help_for(path, fitting_file(path, dumped))});
}

const CoreMemory::Piece* CoreMemory::find(Address address) const {
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                     [](Address at, const Piece& piece) { return at < piece.end; });
  return next != pieces_.end() && next->start <= address ? &*next : nullptr;
}

std::span<const std::byte> CoreMemory::view(Address address) const {
  const Piece* piece = find(address);
  if (!piece) return {};
  return {piece->bytes + (address - piece->start), static_cast<std::size_t>(piece->end - address)};
}

Result<std::size_t> CoreMemory::read_some(Address address, std::span<std::byte> out) const {
  auto count = copy_some(address, out);
  if (count) note_read(address, *count);
  return count;
}

Result<std::size_t> CoreMemory::read_text(Address address, std::span<std::byte> out) const {
  auto count = copy_some(address, out);
  if (!count) return count;
  const void* const end = std::memchr(out.data(), 0, *count);
  note_read(address, end ? static_cast<std::size_t>(static_cast<const std::byte*>(end) - out.data()) + 1 : *count);
  return count;
}

void CoreMemory::note_read(Address address, std::size_t size) const {
  ReadLog* const log = size <= CoreFileOptions::kShortRead ? options_.read : options_.long_read;
  if (log) log->add(address, size);
}

Result<std::size_t> CoreMemory::copy_some(Address address, std::span<std::byte> out) const {
  const Piece* piece = find(address);
  if (!piece) {
    note_hole(address);
    Error error{.category = ErrorCategory::kMalformed, .text = "memory is not in the core", .path = core_.path()};
    error.address = address;
    return fail(std::move(error));
  }
  const std::size_t count = std::min<std::size_t>(out.size(), piece->end - address);
  std::memcpy(out.data(), piece->bytes + (address - piece->start), count);
  return count;
}

}  // namespace jtrace::target
