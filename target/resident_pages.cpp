#include "target/resident_pages.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/log.h"
#include "base/strings.h"

namespace jtrace::target {
namespace {

constexpr std::uint64_t kEntry = 8;  // bytes of /proc/PID/pagemap for each page
// Bits of an entry: present, swapped, a guard page (pagemap.rst). A guard page is read all the same, for the error.
constexpr std::uint64_t kThere = 1ull << 63 | 1ull << 62 | 1ull << 58;

const std::uint64_t kPage = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));

// include/uapi/linux/fs.h from Linux 6.7 on: runs of pages instead of one entry for each, four times as fast.
struct ScannedRun {
  std::uint64_t start, end, categories;
};
struct ScanArgument {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
      category_anyof_mask, return_mask;
};
constexpr std::uint64_t kScanPresent = 1u << 3, kScanSwapped = 1u << 4;
constexpr unsigned long kScan = _IOWR('f', 16, ScanArgument);

void add_run(std::vector<PageRun>& runs, Address start, Address end) {
  if (!runs.empty() && start - runs.back().end < ResidentPages::kSmallGap) runs.back().end = end;
  else runs.push_back({start, end});
}

// Readable private memory without a file that is not supplied page by page: "um" and "ui" mark a userfaultfd's memory,
// "io" and "pf" a device's (proc_pid_smaps(5)).
bool is_plain(const Mapping& mapping, std::string_view flags) {
  const bool named = !mapping.path.empty() && mapping.path != "[heap]" && !mapping.path.starts_with("[stack") &&
                     !mapping.path.starts_with("[anon:");
  if (mapping.shared || !mapping.readable || mapping.inode != 0 || named) return false;
  for (const std::string_view flag : split(flags, ' '))
    if (flag == "um" || flag == "ui" || flag == "io" || flag == "pf") return false;
  return true;
}

}  // namespace

std::vector<PageRun> parse_zero_backed(std::string_view smaps) {
  constexpr std::string_view kFlags = "VmFlags:";
  std::vector<PageRun> runs;
  std::vector<Mapping> last;  // empty, or one mapping
  for (const std::string_view line : split(smaps, '\n')) {
    if (line.starts_with(kFlags)) {
      if (!last.empty() && is_plain(last.front(), line.substr(kFlags.size()))) {
        const Mapping& mapping = last.front();
        if (!runs.empty() && runs.back().end == mapping.start) runs.back().end = mapping.end;
        else runs.push_back({mapping.start, mapping.end});
      }
      last.clear();
    } else if (auto mapping = parse_memory_map(line); !mapping.empty()) {
      last = std::move(mapping);
    }
  }
  return runs;
}

ResidentPages::ResidentPages(const Process& process)
    : process_(process), pagemap_(::openat(process.proc_fd(), "pagemap", O_RDONLY | O_CLOEXEC)) {}

std::vector<PageRun> ResidentPages::to_read(Address start, Address end) const {
  std::vector<PageRun> there;
  if (!pagemap_ || !scan(start & ~(kPage - 1), (end + kPage - 1) & ~(kPage - 1), there)) return {{start, end}};
  std::vector<PageRun> runs;
  Address at = start;
  const auto pass_gap = [&](Address to) {
    const PageRun gap{at, to};
    if (to > at && (to - at < kSmallGap || !is_zero_backed(gap))) add_run(runs, at, to);
  };
  for (const PageRun& run : there) {
    const Address from = std::max(run.start, start), to = std::min(run.end, end);
    if (from >= to) continue;
    pass_gap(from);
    add_run(runs, from, to);
    at = to;
  }
  pass_gap(end);
  return runs;
}

bool ResidentPages::scan(Address start, Address end, std::vector<PageRun>& runs) const {
  std::array<ScannedRun, 64> found;
  for (Address at = start; at < end;) {
    ScanArgument argument{.size = sizeof(ScanArgument),
                          .start = at,
                          .end = end,
                          .vec = reinterpret_cast<std::uint64_t>(found.data()),
                          .vec_len = found.size(),
                          .category_anyof_mask = kScanPresent | kScanSwapped,
                          .return_mask = kScanPresent | kScanSwapped};
    const int count = ::ioctl(pagemap_.get(), kScan, &argument);
    if (count < 0 || argument.walk_end <= at) return runs.empty() && scan_by_entries(start, end, runs);
    for (const ScannedRun& run : std::span(found).first(static_cast<std::size_t>(count)))
      add_run(runs, run.start, run.end);
    at = argument.walk_end;
  }
  return true;
}

bool ResidentPages::scan_by_entries(Address start, Address end, std::vector<PageRun>& runs) const {
  std::array<std::uint64_t, 512> entries;
  for (Address at = start; at < end;) {
    const std::uint64_t pages = std::min<std::uint64_t>(entries.size(), (end - at) / kPage);
    const auto wanted = static_cast<ssize_t>(pages * kEntry);
    if (::pread(pagemap_.get(), entries.data(), static_cast<std::size_t>(wanted),
                static_cast<off_t>(at / kPage * kEntry)) != wanted)
      return false;
    for (std::uint64_t i = 0; i < pages; ++i)
      if ((entries[i] & kThere) != 0) add_run(runs, at + i * kPage, at + (i + 1) * kPage);
    at += pages * kPage;
  }
  return true;
}

bool ResidentPages::is_zero_backed(const PageRun& gap) const {
  look();
  const std::lock_guard lock(mutex_);
  const auto next = std::upper_bound(zero_backed_.begin(), zero_backed_.end(), gap.start,
                                     [](Address at, const PageRun& run) { return at < run.end; });
  return next != zero_backed_.end() && next->start <= gap.start && gap.end <= next->end;
}

void ResidentPages::forget() const {
  const std::lock_guard lock(mutex_);
  looked_ = false;
}

void ResidentPages::look() const {
  const std::lock_guard lock(mutex_);
  if (looked_ || !pagemap_) return;
  looked_ = true;
  zero_backed_.clear();
  // The second number: resident pages.
  const auto statm = process_.read_proc("statm");
  const auto fields = split(statm ? std::string_view(*statm) : std::string_view(), ' ');
  const auto resident = fields.size() > 1 ? parse_decimal<std::uint64_t>(fields[1]) : std::nullopt;
  if (!resident || *resident * kPage > kMaxResident) {
    log_debug("pages that the target never touched are read too: it has more than " + std::to_string(kMaxResident) +
              " bytes resident");
  } else if (const auto smaps = process_.read_proc("smaps"); !smaps) {
    log_debug("pages that the target never touched are read too: " + smaps.error().message());
  } else {
    zero_backed_ = parse_zero_backed(*smaps);
  }
}

}  // namespace jtrace::target
