#include "perfdata/discovery.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "base/file.h"
#include "base/strings.h"
#include "perfdata/layout.h"
#include "perfdata/snapshot.h"
#include "target/process_memory.h"

namespace jtrace::perfdata {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMaxScannedMapping = 64u << 20;

std::string who(const target::Process& process) {
  return "process " + std::to_string(process.pid()) + " (" + process.comm() + ")";
}

bool has_flag(const target::Process& process, std::string_view flag) {
  const auto& words = process.cmdline();
  return std::find(words.begin(), words.end(), flag) != words.end();
}

// Which pages of a mapping are in memory or swapped out (pagemap, kernel's Documentation/admin-guide/mm/pagemap.rst).
// Reading the others with process_vm_readv would give the target page tables that it does not need. Empty: unknown.
std::vector<bool> present_pages(int pagemap, const target::Mapping& mapping) {
  std::vector<std::uint64_t> entries(mapping.size() / kPage);
  const std::size_t size = entries.size() * sizeof(std::uint64_t);
  const auto offset = static_cast<off_t>(mapping.start / kPage * sizeof(std::uint64_t));
  if (pagemap < 0 || ::pread(pagemap, entries.data(), size, offset) != static_cast<ssize_t>(size)) return {};
  std::vector<bool> present(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) present[i] = (entries[i] >> 62) != 0;
  return present;
}

// True for a region of HotSpot's own: it parses, and has the counters that every JVM has.
bool is_region(const target::MemoryReader& memory, target::Address address) {
  auto head = memory.read<std::uint64_t>(address);
  // ca fe c0 c0, little-endian, major version 2; the minor version and `accessible` may differ.
  if (!head || (*head & 0xffff'ffff'ffff) != 0x0201'c0c0'feca) return false;
  auto snapshot = read_snapshot(memory, address);
  if (!snapshot) return false;
  const auto& counters = snapshot->layout().counters();
  return std::any_of(counters.begin(), counters.end(), [](const Counter& c) { return c.name.starts_with("sun.rt."); });
}

// Processes that map the file; at most `limit`.
std::vector<pid_t> mappers_of(const FileFacts& file, pid_t except, std::size_t limit) {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* entry = proc && found.size() < limit ? ::readdir(proc.get()) : nullptr) {
    const auto pid = parse_decimal<pid_t>(entry->d_name);
    if (!pid || *pid == except) continue;
    const auto text = read_file("/proc/" + std::to_string(*pid) + "/maps");
    if (!text || text->find("/hsperfdata_") == std::string::npos) continue;
    const auto mappings = target::parse_memory_map(*text);
    const target::Mapping* mapping = find_region_mapping(mappings);
    if (mapping && mapping->inode == file.inode) found.push_back(*pid);
  }
  return found;
}

// Makes a stream of a directory descriptor, and takes ownership of it.
using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;
Directory open_directory(UniqueFd fd) {
  DIR* stream = fd ? ::fdopendir(fd.get()) : nullptr;
  if (stream) fd.release();
  return Directory(stream, ::closedir);
}

void add_stale_of(UniqueFd fd, const std::string& shown, const std::vector<ino_t>& in_use,
                  std::vector<StaleFile>& stale) {
  const Directory folder = open_directory(std::move(fd));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const auto name = parse_decimal<pid_t>(entry->d_name);
    struct stat stat {};
    if (!name || ::fstatat(::dirfd(folder.get()), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(stat.st_mode) || std::find(in_use.begin(), in_use.end(), stat.st_ino) != in_use.end()) continue;
    stale.push_back({.path = shown + "/" + entry->d_name, .name = *name, .facts = facts_of(stat)});
  }
}

// Reads any byte of the process, to distinguish "not allowed" from "not there".
Result<> check_readable(const target::Process& process, const target::MemoryReader& memory,
                        const std::vector<target::Mapping>& mappings) {
  const auto readable = std::find_if(mappings.begin(), mappings.end(), [](const auto& m) { return m.readable; });
  if (readable == mappings.end()) return fail(no_counters(process));
  auto first = memory.read<std::uint64_t>(readable->start);
  if (first || (first.error().errnum != EPERM && first.error().errnum != EACCES)) return {};
  Error error = first.error().with_context("the counters of " + who(process) + " are in its private memory");
  return fail(error.with_help("run as root or with CAP_SYS_PTRACE"));
}

}  // namespace

const target::Mapping* find_region_mapping(const std::vector<target::Mapping>& mappings) {
  const auto found = std::find_if(mappings.begin(), mappings.end(), [](const target::Mapping& mapping) {
    return mapping.shared && mapping.inode != 0 && is_live_location(mapping.path);
  });
  return found == mappings.end() ? nullptr : &*found;
}

Result<RegionFile> open_mapped_region(const target::Process& process, const target::Mapping& mapping) {
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, process.open_mapped(mapping));
  JTRACE_ASSIGN_OR_RETURN(RegionFile file, RegionFile::adopt(std::move(fd), mapping.path));
  // Compares only the inode: with overlay and btrfs, the device number in maps differs from that of stat.
  if (file.facts().inode != mapping.inode) {
    Error error{.category = ErrorCategory::kNotFound,
                .text = "the file of this name is not the one that " + who(process) + " maps"};
    error.path = mapping.path;
    error.help = "run as root: then the mapped file itself can be opened";
    return fail(std::move(error));
  }
  JTRACE_RETURN_IF_ERROR(check_secure(file.facts(), file.path(), process.uid()));
  return file;
}

Result<target::Address> scan_private_region(const target::Process& process,
                                            const std::vector<target::Mapping>& mappings) {
  const target::ProcessMemory memory(process);
  JTRACE_RETURN_IF_ERROR(check_readable(process, memory, mappings));
  const UniqueFd pagemap(::openat(process.proc_fd(), "pagemap", O_RDONLY | O_CLOEXEC));
  std::vector<const target::Mapping*> candidates;
  for (const target::Mapping& mapping : mappings)
    if (mapping.readable && mapping.writable && !mapping.shared && mapping.path.empty() &&
        mapping.size() <= kMaxScannedMapping)
      candidates.push_back(&mapping);
  // Usually a mapping holds just the region: small mappings are tried first.
  std::stable_sort(candidates.begin(), candidates.end(), [](auto* a, auto* b) { return a->size() < b->size(); });
  for (const target::Mapping* mapping : candidates) {
    const std::vector<bool> present = present_pages(pagemap.get(), *mapping);
    for (std::uint64_t page = 0; page < mapping->size() / kPage; ++page) {
      if (!present.empty() && !present[page]) continue;
      const target::Address address = mapping->start + page * kPage;
      if (is_region(memory, address)) return address;
    }
  }
  return fail(no_counters(process));
}

bool keeps_no_counters(const target::Process& process) { return has_flag(process, "-XX:-UsePerfData"); }

Error no_counters(const target::Process& process) {
  Error error{.category = ErrorCategory::kRefused, .text = who(process)};
  if (keeps_no_counters(process)) {
    error.text += " runs with -XX:-UsePerfData: it keeps no counters";
    error.help = "start it without that flag";
  } else {
    error.text += " has no counters: it is starting, or keeps none (-XX:-UsePerfData by other means)";
    error.help = "try again when it has started";
  }
  return error;
}

std::vector<FileLock> parse_flocks(std::string_view text) {
  std::vector<FileLock> locks;
  for (std::string_view line : split(text, '\n')) {
    // "1: FLOCK  ADVISORY  WRITE 31821 fe:01:1234 0 EOF"
    std::vector<std::string_view> words;
    for (std::string_view word : split(line, ' '))
      if (!word.empty()) words.push_back(word);
    if (words.size() < 6 || words[1] != "FLOCK") continue;
    const auto parts = split(words[5], ':');
    if (parts.size() != 3) continue;
    unsigned major = 0, minor = 0;
    std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), major, 16);
    std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), minor, 16);
    locks.push_back({.pid = std::max(0, parse_decimal<pid_t>(words[4]).value_or(0)),
                     .device = makedev(major, minor),
                     .inode = parse_decimal<ino_t>(parts[2]).value_or(0)});
  }
  return locks;
}

std::optional<pid_t> holder_of(const FileFacts& file) {
  if (const auto mappers = mappers_of(file, 0, 1); !mappers.empty()) return mappers.front();
  const auto text = read_file("/proc/locks");
  for (const FileLock& lock : parse_flocks(text ? *text : std::string()))
    if (lock.inode == file.inode && lock.device == file.device) return lock.pid;
  return std::nullopt;
}

std::optional<pid_t> other_mapper(const FileFacts& file, pid_t self) {
  const auto mappers = mappers_of(file, self, 1);
  return mappers.empty() ? std::nullopt : std::optional(mappers.front());
}

std::vector<StaleFile> find_stale_files(UniqueFd tmp, const std::string& shown, const std::vector<ino_t>& mapped) {
  std::vector<ino_t> in_use = mapped;
  const auto text = read_file("/proc/locks");
  for (const FileLock& lock : parse_flocks(text ? *text : std::string())) in_use.push_back(lock.inode);
  std::vector<StaleFile> stale;
  const Directory folder = open_directory(std::move(tmp));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (!std::string_view(entry->d_name).starts_with("hsperfdata_")) continue;
    UniqueFd fd(::openat(::dirfd(folder.get()), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    add_stale_of(std::move(fd), shown + "/" + entry->d_name, in_use, stale);
  }
  std::sort(stale.begin(), stale.end(), [](const StaleFile& a, const StaleFile& b) { return a.path < b.path; });
  return stale;
}

}  // namespace jtrace::perfdata
