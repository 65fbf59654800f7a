#include "perfdata/jvm_set.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "perfdata/discovery.h"
#include "target/jvm_discovery.h"

namespace jtrace::perfdata {
namespace {

constexpr std::uint64_t kYoung = 60 * kNanosPerSecond;
constexpr std::uint64_t kSoon = 2 * kNanosPerSecond;
constexpr std::uint64_t kLate = 60 * kNanosPerSecond;
constexpr double kStarting = 10;  // s, of a process: its counters may not be there yet

std::set<pid_t> all_pids() {
  std::set<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr)
    if (const auto pid = parse_decimal<pid_t>(entry->d_name)) pids.insert(*pid);
  return pids;
}

std::uint64_t start_ticks_of(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  return stat ? target::parse_start_ticks(*stat) : 0;
}

void say(const JvmSet::Say& to, const std::string& line) {
  if (to) to(line);
}

double age_of(std::uint64_t start_ticks) {
  const double now = static_cast<double>(clock_ns(CLOCK_BOOTTIME)) / 1e9;
  return now - static_cast<double>(start_ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

bool JvmSet::drop_ended() {
  const auto ended = [&](const std::unique_ptr<LiveJvm>& jvm) {
    if (!jvm->source.has_ended()) return false;
    say(report_, "JVM " + std::to_string(jvm->source.pid()) + " has ended");
    known_.erase(jvm->source.pid());
    return true;
  };
  return std::erase_if(jvms_, ended) != 0;
}

bool JvmSet::refresh() {
  bool changed = drop_ended();
  const std::set<pid_t> pids = all_pids();
  std::erase_if(known_, [&](const auto& known) { return !pids.contains(known.first); });
  std::erase_if(refused_, [&](const auto& refused) { return !pids.contains(refused.first); });
  const std::uint64_t now = monotonic_ns();
  for (const pid_t pid : pids) {
    if (!only_.empty() && !only_.contains(pid)) continue;
    Known& known = known_[pid];
    if (known.first_seen != 0 && (known.look_again == 0 || known.look_again > now)) continue;
    changed |= examine(pid, known, now);
  }
  if (changed)
    std::sort(jvms_.begin(), jvms_.end(),
              [](const auto& a, const auto& b) { return a->source.pid() < b->source.pid(); });
  return changed;
}

bool JvmSet::examine(pid_t pid, Known& known, std::uint64_t now) {
  const std::uint64_t start = start_ticks_of(pid);
  if (known.first_seen == 0 || known.start_ticks != start) known = {.start_ticks = start, .first_seen = now};
  known.look_again = now + (now - known.first_seen < kYoung ? kSoon : kLate);
  auto process = target::Process::open(pid);
  if (!process || process->cmdline().empty()) return false;
  if (!target::looks_like_jvm(*process)) return false;
  const bool never = keeps_no_counters(*process);
  auto source = CounterSource::of_process(std::move(*process), options_);
  if (!source) {
    // It may be starting, unless waiting changes nothing.
    const bool settled = never || exit_status(source.error()) == ExitStatus::kPermission;
    if (settled || age_of(start) >= kStarting) refuse(pid, known, source.error());
    return false;
  }
  refused_.erase(pid);
  known.look_again = 0;
  say(report_, "JVM " + std::to_string(pid) + ": " + source->name());
  Snapshot first = source->first();
  jvms_.push_back(std::make_unique<LiveJvm>(
      LiveJvm{.source = std::move(*source), .snapshot = std::move(first), .number = next_number_++}));
  return true;
}

void JvmSet::refuse(pid_t pid, const Known& known, const Error& error) {
  if (start_ticks_of(pid) != known.start_ticks) return;  // it has ended meanwhile
  std::string reason = error.message();
  std::string& printed = refused_[pid];
  if (printed != reason) say(refusal_, reason);
  printed = std::move(reason);
}

bool JvmSet::read_all() {
  bool changed = drop_ended();
  for (auto& jvm : jvms_) {
    const auto layout = jvm->snapshot.shared_layout();
    std::swap(jvm->before, jvm->snapshot);
    jvm->has_before = true;
    if (auto read = jvm->source.read(jvm->snapshot); !read) {
      std::swap(jvm->before, jvm->snapshot);  // its end is found at the next look
      continue;
    }
    changed |= jvm->snapshot.shared_layout() != layout;
  }
  return changed;
}

}  // namespace jtrace::perfdata
