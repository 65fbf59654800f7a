#include "sampling/wakeups.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "base/file.h"
#include "base/strings.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kMostRing = 4u << 20, kLeastRing = 64u << 10;  // bytes a processor
// common_flags: the context in which the record was made (trace_events.h: TRACE_FLAG_HARDIRQ, _SOFTIRQ, _NMI).
constexpr unsigned kInterruptFlags = 0x08 | 0x10 | 0x40;
// The inode of the first pid namespace (linux/proc_ns.h): the tracepoint has that one's numbers.
constexpr ino_t kFirstNamespace = 0xEFFFFFFC;

// The number after `word` in a line of the format: "field:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;".
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + word.size());
  return parse_decimal<std::uint64_t>(trimmed(line.substr(0, line.find(';'))));
}

std::string_view line_with(std::string_view text, std::string_view word) {
  for (const std::string_view line : split(text, '\n'))
    if (line.find(word) != line.npos) return line;
  return "";
}

Result<WakingFormat> find_format() {
  struct stat own {};
  if (::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino != kFirstNamespace)
    return fail(ErrorCategory::kPermission,
                "this process is in a pid namespace of its own, whose numbers the kernel's "
                "tracepoints do not have");
  Error why{.category = ErrorCategory::kNotFound, .text = "tracefs is not mounted on /sys/kernel/tracing"};
  for (const char* mount : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    const auto text = read_file(std::string(mount) + "/events/sched/sched_waking/format");
    if (!text && (text.error().errnum == EACCES || text.error().errnum == EPERM)) why = text.error();
    if (!text) continue;
    if (const auto format = parse_waking_format(*text)) return *format;
    return fail(ErrorCategory::kMalformed, "the tracepoint sched_waking of this kernel lacks a field");
  }
  return fail(std::move(why));
}

perf_event_attr attributes(std::uint64_t id) {
  perf_event_attr event{};
  event.type = PERF_TYPE_TRACEPOINT;
  event.size = sizeof event;
  event.config = id;
  event.sample_period = 1;
  event.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;
  event.disabled = 1;
  event.watermark = 1;
  event.wakeup_watermark = static_cast<std::uint32_t>(kLeastRing / 2);  // it wakes no thread: the rings are polled
  return event;
}

}  // namespace

std::optional<WakingFormat> parse_waking_format(std::string_view text) {
  const auto id = number_after(line_with(text, "ID:"), "ID:");
  const auto flags = number_after(line_with(text, " common_flags;"), "offset:");
  const auto woken = number_after(line_with(text, " pid;"), "offset:");
  if (!id || !flags || !woken) return std::nullopt;
  return WakingFormat{.id = *id, .flags = *flags, .woken = *woken};
}

std::optional<Wakeup> read_wakeup(std::span<const std::byte> body, const WakingFormat& format) {
  ByteReader reader(body);
  Wakeup wakeup;
  wakeup.waker_pid = reader.read<std::uint32_t>();
  wakeup.waker_tid = reader.read<std::uint32_t>();
  wakeup.time = reader.read<std::uint64_t>();
  const auto raw = reader.read_bytes(reader.read<std::uint32_t>());
  if (reader.failed() || raw.size() < format.woken + sizeof wakeup.tid || raw.size() <= format.flags)
    return std::nullopt;
  ByteReader woken(raw.subspan(format.woken));
  wakeup.tid = woken.read<std::uint32_t>();
  wakeup.interrupt = (std::to_integer<unsigned>(raw[format.flags]) & kInterruptFlags) != 0;
  return wakeup;
}

Result<std::unique_ptr<Wakeups>> Wakeups::open() {
  JTRACE_ASSIGN_OR_RETURN(const WakingFormat format, find_format());
  std::unique_ptr<Wakeups> wakeups(new Wakeups(format));
  JTRACE_RETURN_IF_ERROR(wakeups->open_processors());
  return wakeups;
}

Result<> Wakeups::open_processors() {
  perf_event_attr event = attributes(format_.id);
  const int processors = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
  for (int processor = 0; processor < processors; ++processor) {
    UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &event, -1, processor, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!fd && errno == ENODEV) continue;  // it is offline
    if (!fd) return fail(system_error(errno, "cannot open the tracepoint sched_waking"));
    JTRACE_RETURN_IF_ERROR(add_event(std::move(fd)));
  }
  return {};
}

Result<> Wakeups::add_event(UniqueFd fd) {
  for (std::size_t size = rings_.empty() ? kMostRing : rings_[0].size(); size >= kLeastRing; size /= 2) {
    target::PerfRing ring(fd.get(), size);
    if (!ring.mapped()) continue;
    rings_.push_back(std::move(ring));
    events_.push_back(std::move(fd));
    return {};
  }
  return fail(system_error(errno, "cannot map the ring of the tracepoint sched_waking"));
}

Result<> Wakeups::start() {
  for (const UniqueFd& event : events_)
    if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
      return fail(system_error(errno, "cannot switch the tracepoint sched_waking on"));
  return {};
}

void Wakeups::stop() {
  for (const UniqueFd& event : events_) ::ioctl(event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

void Wakeups::drain(const std::function<void(const Wakeup&)>& take) {
  for (target::PerfRing& ring : rings_)
    ring.consume([&](std::uint32_t type, std::span<const std::byte> body) {
      if (type == PERF_RECORD_LOST) {  // id, lost
        ByteReader reader(body);
        (void)reader.read<std::uint64_t>();
        lost_ += reader.read<std::uint64_t>();
      } else if (type == PERF_RECORD_SAMPLE) {
        if (const auto wakeup = read_wakeup(body, format_)) take(*wakeup);
      }
    });
}

}  // namespace jtrace::sampling
