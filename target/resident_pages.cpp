#include "target/resident_pages.h"

#include <algorithm>

#include "base/log.h"
#include "base/size_text.h"
#include "base/strings.h"

namespace jtrace::target {
namespace {

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

ResidentPages::ResidentPages(const Process& process) : process_(process), pagemap_(process) {}

std::vector<PageRun> ResidentPages::to_read(Address start, Address end) const {
  std::vector<PageRun> there;
  // Pages of zeros and guard pages are read in any case: the former are mapped already, the latter fail.
  if (!pagemap_.visit(start, end, [&](const PageRun& run, PageKind) { add_run(there, run.start, run.end); }))
    return {{start, end}};
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
  if (looked_ || !pagemap_.is_open()) return;
  looked_ = true;
  zero_backed_.clear();
  // The second number: resident pages.
  const auto statm = process_.read_proc("statm");
  const auto fields = split(statm ? std::string_view(*statm) : std::string_view(), ' ');
  const auto resident = fields.size() > 1 ? parse_decimal<std::uint64_t>(fields[1]) : std::nullopt;
  if (!resident || *resident * Pagemap::page_size() > kMaxResident) {
    log_debug("pages that the target never touched are read too: it has more than " + size_text(kMaxResident) +
              " resident");
  } else if (const auto smaps = process_.read_proc("smaps"); !smaps) {
    log_debug("pages that the target never touched are read too: " + smaps.error().message());
  } else {
    zero_backed_ = parse_zero_backed(*smaps);
  }
}

}  // namespace jtrace::target
