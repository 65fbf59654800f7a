#include "target/pagemap.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace jtrace::target {
namespace {

constexpr std::uint64_t kEntry = 8;  // bytes of /proc/PID/pagemap for each page
// Bits of an entry (pagemap.rst).
constexpr std::uint64_t kPresentBit = 1ull << 63, kSwappedBit = 1ull << 62, kFileBit = 1ull << 61,
                        kGuardBit = 1ull << 58, kExclusiveBit = 1ull << 56;

// include/uapi/linux/fs.h from Linux 6.7 on.
struct ScannedRun {
  std::uint64_t start, end, categories;
};
struct ScanArgument {
  std::uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages, category_inverted, category_mask,
      category_anyof_mask, return_mask;
};
constexpr std::uint64_t kScanPresent = 1u << 3, kScanSwapped = 1u << 4, kScanZero = 1u << 5;
constexpr unsigned long kScan = _IOWR('f', 16, ScanArgument);

PageKind kind_of_run(std::uint64_t categories) {
  if ((categories & kScanPresent) == 0) return PageKind::kSwapped;
  return (categories & kScanZero) != 0 ? PageKind::kZero : PageKind::kPresent;
}

// A present page that belongs neither to a file nor to this process alone is the page of zeros, or is shared with a
// forked child, which a JVM has only until the child's exec.
PageKind kind_of_entry(std::uint64_t entry) {
  if ((entry & kGuardBit) != 0) return PageKind::kGuard;
  if ((entry & kPresentBit) == 0) return PageKind::kSwapped;
  return (entry & (kFileBit | kExclusiveBit)) == 0 ? PageKind::kZero : PageKind::kPresent;
}

}  // namespace

std::uint64_t Pagemap::page_size() {
  static const auto size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

Pagemap::Pagemap(const Process& process) : file_(::openat(process.proc_fd(), "pagemap", O_RDONLY | O_CLOEXEC)) {}

bool Pagemap::visit(Address start, Address end, const Visitor& visitor) const {
  if (!file_) return false;
  Address at = start & ~(page_size() - 1);
  end = (end + page_size() - 1) & ~(page_size() - 1);
  return visit_runs(at, end, visitor) || visit_entries(at, end, visitor);
}

// Advances `at` to the address from which it could not continue.
bool Pagemap::visit_runs(Address& at, Address end, const Visitor& visitor) const {
  std::array<ScannedRun, 64> found;
  while (at < end) {
    ScanArgument argument{.size = sizeof(ScanArgument),
                          .start = at,
                          .end = end,
                          .vec = reinterpret_cast<std::uint64_t>(found.data()),
                          .vec_len = found.size(),
                          .category_anyof_mask = kScanPresent | kScanSwapped,
                          .return_mask = kScanPresent | kScanSwapped | kScanZero};
    const int count = ::ioctl(file_.get(), kScan, &argument);
    if (count < 0 || argument.walk_end <= at) return false;
    for (const ScannedRun& run : std::span(found).first(static_cast<std::size_t>(count)))
      visitor({run.start, run.end}, kind_of_run(run.categories));
    at = argument.walk_end;
  }
  return true;
}

bool Pagemap::visit_entries(Address start, Address end, const Visitor& visitor) const {
  std::array<std::uint64_t, 512> entries;
  PageRun run;
  PageKind kind = PageKind::kPresent;
  const auto give = [&] {
    if (run.end > run.start) visitor(run, kind);
    run = {};
  };
  for (Address at = start; at < end;) {
    const std::uint64_t pages = std::min<std::uint64_t>(entries.size(), (end - at) / page_size());
    const auto wanted = static_cast<ssize_t>(pages * kEntry);
    if (::pread(file_.get(), entries.data(), static_cast<std::size_t>(wanted),
                static_cast<off_t>(at / page_size() * kEntry)) != wanted) {
      give();
      return false;
    }
    for (std::uint64_t i = 0; i < pages; ++i, at += page_size()) {
      if ((entries[i] & (kPresentBit | kSwappedBit | kGuardBit)) == 0) continue;
      const PageKind now = kind_of_entry(entries[i]);
      if (run.end != at || kind != now) {
        give();
        run.start = at;
        kind = now;
      }
      run.end = at + page_size();
    }
  }
  give();
  return true;
}

}  // namespace jtrace::target
