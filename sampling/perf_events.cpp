#include "sampling/perf_events.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/descriptor_limit.h"
#include "base/file.h"
#include "base/strings.h"
#include "target/native_registers.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kMostRing = 8u << 20, kLeastRing = 256u << 10;  // bytes a processor
// With switches, which come more often; and of all processors together.
constexpr std::size_t kMostSwitchRing = 16u << 20, kMostRings = 512u << 20;
// A ring with less room has perhaps lost records of switches: they and their reports have about 100 bytes.
constexpr std::size_t kLittleRoom = 256;
constexpr int kMostPasses = 8;                  // over the list of threads
constexpr std::uint64_t kFormatLost = 1u << 4;  // PERF_FORMAT_LOST (Linux 6.0)
constexpr const char* kParanoid = "/proc/sys/kernel/perf_event_paranoid";

std::string paranoid_level() {
  const std::string level = read_setting(kParanoid);
  return level.empty() ? "?" : level;
}

// The threads with most CPU time come first; if there are too few descriptors, the others are left out.
void sort_by_cpu_time(const target::Process& process, std::vector<pid_t>& tids) {
  std::map<pid_t, std::uint64_t> ran;
  for (const pid_t tid : tids)
    if (const auto text = process.read_proc("task/" + std::to_string(tid) + "/schedstat"))
      ran[tid] = parse_decimal<std::uint64_t>(std::string_view(*text).substr(0, text->find(' '))).value_or(0);
  std::stable_sort(tids.begin(), tids.end(), [&](pid_t a, pid_t b) { return ran[a] > ran[b]; });
}

// The highest sampling rate that the kernel allows, Hz; 0 if unknown.
std::uint64_t greatest_rate() {
  return parse_decimal<std::uint64_t>(read_setting("/proc/sys/kernel/perf_event_max_sample_rate")).value_or(0);
}

bool is_refusal(const Error& error) { return error.errnum == EACCES || error.errnum == EPERM; }

}  // namespace

Result<std::unique_ptr<PerfEvents>> PerfEvents::open(const std::vector<const target::Process*>& processes,
                                                     const EventOptions& options) {
  if (const auto most = greatest_rate(); options.ticks && most != 0 && options.hz > static_cast<double>(most))
    return fail(ErrorCategory::kUsage, "the kernel gives at most " + counted(most, "sample") + " a second",
                "see /proc/sys/kernel/perf_event_max_sample_rate");
  raise_descriptor_limit();
  Error last;
  const std::pair<Arrangement, bool> ways[] = {
      {Arrangement::kProcessors, true}, {Arrangement::kThreads, true}, {Arrangement::kThreads, false}};
  for (const auto& [arrangement, with_kernel] : ways) {
    if (options.switches && arrangement == Arrangement::kProcessors) continue;
    std::unique_ptr<PerfEvents> events(new PerfEvents(options));
    const auto opened = events->try_open(arrangement, with_kernel, processes);
    if (opened) return events;
    last = opened.error();
    if (!is_refusal(last)) return fail(std::move(last));
  }
  last.category = ErrorCategory::kPermission;
  return fail(last.with_help("perf_event_paranoid is " + paranoid_level() +
                             "; another user's process takes CAP_PERFMON, a container a seccomp profile that allows "
                             "perf_event_open"));
}

Result<> PerfEvents::try_open(Arrangement arrangement, bool with_kernel,
                              const std::vector<const target::Process*>& processes) {
  arrangement_ = arrangement;
  with_kernel_ = with_kernel;
  if (arrangement == Arrangement::kProcessors) JTRACE_RETURN_IF_ERROR(open_processors());
  JTRACE_RETURN_IF_ERROR(add_all(processes));
  if (rings_.empty()) return fail(ErrorCategory::kSystem, "no processor takes perf events");
  if (with_kernel_) return {};
  const std::string why = "perf_event_paranoid is " + paranoid_level() + " and there is no CAP_PERFMON";
  if (options_.ticks) notes_.push_back("time in the kernel is left out: " + why);
  if (options_.switches) notes_.push_back("waits have no stacks: " + why);
  return {};
}

// Asked once: where there are no descriptors left, sysconf gives another number.
PerfEvents::PerfEvents(const EventOptions& options)
    : options_(options), processors_(static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)))) {}

std::string PerfEvents::description() const {
  return std::string("perf events ") +
         (arrangement_ == Arrangement::kProcessors ? "on each processor" : "of each thread") +
         (with_kernel_ ? "" : ", user space alone");
}

Result<> PerfEvents::add(const target::Process& process) {
  processes_[process.pid()] = &process;
  auto added = arrangement_ == Arrangement::kThreads ? open_threads(process) : Result<>();
  if (!added) remove(process.pid());
  return added;
}

Result<> PerfEvents::add_all(const std::vector<const target::Process*>& processes) {
  for (const target::Process* process : processes) {
    auto added = add(*process);
    if (added) continue;
    left_out_[process->pid()] = added.error();
    if (left_out_.size() == processes.size()) return fail(added.error());
  }
  return {};
}

void PerfEvents::remove(pid_t pid) {
  processes_.erase(pid);
  close_events([pid](const Origin& origin) { return origin.process == pid; });
}

// Those that have the rings stay: at most one for each processor.
void PerfEvents::close_events(const std::function<bool(const Origin&)>& which) {
  for (Opened& event : events_) {
    if (!which(event.origin)) continue;
    owners_.close(event.origin.thread);
    if (event.has_ring) continue;
    lost_of_closed_ += lost_of(event);
    owners_.remove(event.id);
    event.fd.reset();
  }
  std::erase_if(events_, [](const Opened& event) { return !event.fd; });
}

Result<UniqueFd> PerfEvents::open_event(Event kind, pid_t thread, int processor) {
  perf_event_attr event{};
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof event;
  event.config = kind == Event::kTick ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_CONTEXT_SWITCHES;
  event.sample_period = kind == Event::kTick ? static_cast<std::uint64_t>(std::llround(1e9 / options_.hz)) : 1;
  event.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  event.sample_regs_user = target::kPerfRegisters;
  event.sample_stack_user = options_.stack_bytes;
  event.sample_id_all = 1;
  event.context_switch = kind == Event::kSwitch ? 1 : 0;
  event.exclude_callchain_user = 1;
  event.exclude_kernel = with_kernel_ ? 0 : 1;
  event.exclude_callchain_kernel = with_kernel_ ? 0 : 1;
  event.exclude_hv = 1;
  event.exclude_guest = 1;
  event.exclude_idle = 1;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;
  event.disabled = 1;
  event.watermark = 1;
  event.wakeup_watermark = static_cast<std::uint32_t>(kLeastRing / 2);  // it wakes no thread: the rings are polled
  const bool of_thread = arrangement_ == Arrangement::kThreads;
  event.task = of_thread ? 1 : 0;
  event.comm = 1;
  event.inherit = of_thread ? 1 : 0;
  while (true) {
    event.read_format = tells_lost_ ? kFormatLost : 0;
    event.inherit_thread = of_thread && inherits_threads_alone_ ? 1 : 0;
    UniqueFd fd(static_cast<int>(
        ::syscall(SYS_perf_event_open, &event, of_thread ? thread : -1, processor, -1, PERF_FLAG_FD_CLOEXEC)));
    if (fd || errno == ENODEV) return fd;
    if (errno == EINVAL && tells_lost_) tells_lost_ = false;
    else if (errno == EINVAL && event.inherit_thread != 0) inherits_threads_alone_ = false;  // before 5.13
    else return fail(system_error(errno, "cannot open a perf event"));
  }
}

Result<> PerfEvents::open_processors() {
  for (int processor = 0; processor < processors_; ++processor) {
    JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_event(Event::kTick, -1, processor));
    if (fd) JTRACE_RETURN_IF_ERROR(add_event(std::move(fd), {}, processor));
  }
  return {};
}

// A thread that starts in the meantime inherits its parent's events, or is in the next list.
Result<> PerfEvents::open_threads(const target::Process& process) {
  std::set<pid_t> ended;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    auto listed = process.threads();
    if (!listed && listed.error().errnum == EMFILE && pass > 0) break;
    JTRACE_ASSIGN_OR_RETURN(auto tids, std::move(listed));
    std::erase_if(tids, [&](pid_t tid) { return owners_.has(tid) || ended.contains(tid); });
    if (tids.empty()) break;
    sort_by_cpu_time(process, tids);
    for (std::size_t i = 0; i < tids.size(); ++i) {
      const auto done = open_thread(process.pid(), tids[i]);
      if (!done && done.error().errnum == EMFILE && owners_.any()) {
        missing_.push_back(counted(tids.size() - i, "thread") +
                           ", those that used the processor least, are not sampled: there are not descriptors "
                           "enough (ulimit -n)");
        return {};
      }
      if (!done && done.error().errnum != ESRCH) return done;
      if (!done) ended.insert(tids[i]);
    }
  }
  return {};
}

Result<> PerfEvents::open_thread(pid_t process, pid_t thread) {
  auto done = open_events(process, thread);
  if (done) owners_.open(thread);
  else close_events([thread](const Origin& origin) { return origin.thread == thread; });
  return done;
}

Result<> PerfEvents::open_events(pid_t process, pid_t thread) {
  for (const Event event : {Event::kTick, Event::kSwitch}) {
    if (event == Event::kTick ? !options_.ticks : !options_.switches) continue;
    for (int processor = 0; processor < processors_; ++processor) {
      JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_event(event, thread, processor));
      const Origin origin{.process = process, .thread = thread, .kind = event};
      if (fd) JTRACE_RETURN_IF_ERROR(add_event(std::move(fd), origin, processor));
    }
  }
  return {};
}

Result<> PerfEvents::add_event(UniqueFd fd, Origin origin, int processor) {
  const auto first = first_of_.find(processor);
  if (first == first_of_.end()) {
    JTRACE_RETURN_IF_ERROR(map_ring(fd.get()));
    first_of_[processor] = fd.get();
  } else if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, first->second) != 0) {
    return fail(system_error(errno, "cannot redirect perf events into one ring"));
  }
  std::uint64_t id = 0;
  if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0)
    return fail(system_error(errno, "cannot read the id of a perf event"));
  if (started_ && ::ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
    return fail(system_error(errno, "cannot switch a perf event on"));
  owners_.add(id, origin);
  events_.push_back({.fd = std::move(fd), .id = id, .origin = origin, .has_ring = first == first_of_.end()});
  return {};
}

// As large as the user may lock. All rings have the size of the smallest.
Result<> PerfEvents::map_ring(int fd) {
  std::size_t most = options_.ring_bytes != 0 ? options_.ring_bytes : options_.switches ? kMostSwitchRing : kMostRing;
  while (most > kLeastRing && most * static_cast<std::size_t>(processors_) > kMostRings) most /= 2;
  for (std::size_t size = ring_size_ == 0 ? most : ring_size_; size >= kLeastRing; size /= 2) {
    target::PerfRing ring(fd, size);
    if (ring.mapped()) {
      ring_size_ = size;
      rings_.push_back({.ring = std::move(ring), .last = 0, .loss = {}});
      return {};
    }
    if (errno != EPERM && errno != ENOMEM) return fail(system_error(errno, "cannot map the ring of perf events"));
  }
  return fail(system_error(errno, "cannot map the ring of perf events")
                  .with_help("raise ulimit -l or /proc/sys/kernel/perf_event_mlock_kb"));
}

Result<> PerfEvents::start() {
  for (const Opened& event : events_)
    if (::ioctl(event.fd.get(), PERF_EVENT_IOC_ENABLE, 0) != 0)
      return fail(system_error(errno, "cannot switch a perf event on"));
  started_ = true;
  return {};
}
void PerfEvents::stop() {
  for (const Opened& event : events_) ::ioctl(event.fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::uint64_t PerfEvents::drain(const TakeRecords& take) {
  std::uint64_t complete = UINT64_MAX;
  for (Ring& ring : rings_) {
    const std::size_t bytes = ring.ring.consume([&](const perf_event_header& header, std::span<const std::byte> body) {
      take_record(ring, header, body, take);
    });
    if (bytes + kLittleRoom > ring.ring.size()) complete = std::min(complete, ring.last);
  }
  owners_.drained();
  return complete;
}

bool PerfEvents::is_wanted(std::uint64_t event, std::uint32_t pid, std::uint32_t tid) const {
  return processes_.contains(static_cast<pid_t>(pid)) && owners_.is_wanted(event, static_cast<pid_t>(tid));
}

// The stacks are most of what is in a ring: a switch often finds room where its sample has not. If only one record was
// lost before a thread leaves, it is that thread's sample.
void PerfEvents::take_loss(Ring& ring, const SwitchRecord* next, const TakeRecords& take) {
  const Loss loss = std::exchange(ring.loss, {});
  const bool only_a_stack = loss.records == 1 && with_leaves() && next != nullptr && next->out && next->tid == loss.tid;
  if (loss.records != 0 && !only_a_stack && take.lost) take.lost(ring.last, loss.time);
}

void PerfEvents::take_sample(Ring& ring, std::span<const std::byte> body, const TakeRecords& take) {
  if (!read_sample(body, sample_)) {
    ++lost_;
    return;
  }
  ring.last = sample_.time;
  if (!is_wanted(sample_.event, sample_.pid, sample_.tid)) return;
  const Origin* origin = owners_.find(sample_.event);
  const bool tick = origin ? origin->kind == Event::kTick : !options_.switches;
  if (const auto& receiver = tick ? take.tick : take.leaves) receiver(sample_);
}

void PerfEvents::take_record(Ring& ring, const perf_event_header& header, std::span<const std::byte> body,
                             const TakeRecords& take) {
  if (ring.loss.records != 0 && header.type != PERF_RECORD_SWITCH) take_loss(ring, nullptr, take);
  ByteReader reader(body);
  switch (header.type) {
    case PERF_RECORD_LOST: {  // id, lost, and the thread and time of the record that follows
      (void)reader.read<std::uint64_t>();
      ring.loss.records = reader.read<std::uint64_t>();
      lost_ += ring.loss.records;
      (void)reader.read<std::uint32_t>();
      ring.loss.tid = reader.read<std::uint32_t>();
      ring.loss.time = reader.read<std::uint64_t>();
      return;
    }
    case PERF_RECORD_THROTTLE: ++throttled_; return;
    case PERF_RECORD_EXIT: {  // pid, ppid, tid, ptid, time: its number may be another thread's soon
      (void)reader.read<std::uint64_t>();
      const auto tid = reader.read<std::uint32_t>();
      (void)reader.read<std::uint32_t>();
      owners_.ended(static_cast<pid_t>(tid));
      ring.last = reader.read<std::uint64_t>();
      if (take.ended) take.ended(tid, ring.last);
      return;
    }
    case PERF_RECORD_COMM: {
      NameRecord record;
      if (!read_name(body, record)) return;
      ring.last = record.time;
      if (take.named && processes_.contains(static_cast<pid_t>(record.pid))) take.named(record);
      return;
    }
    case PERF_RECORD_SWITCH: {
      SwitchRecord record;
      const bool good = read_switch(header.misc, body, record);
      take_loss(ring, good ? &record : nullptr, take);
      if (!good) return;
      ring.last = record.time;
      if (take.switched && is_wanted(record.event, record.pid, record.tid)) take.switched(record);
      return;
    }
    case PERF_RECORD_SAMPLE: return take_sample(ring, body, take);
    default: return;
  }
}

std::uint64_t PerfEvents::lost_of(const Opened& event) const {
  std::uint64_t values[2] = {};  // value, lost
  return tells_lost_ && ::read(event.fd.get(), values, sizeof values) == sizeof values ? values[1] : 0;
}

// No record follows the last losses to report them: the events' own counters have them.
std::uint64_t PerfEvents::lost() const {
  std::uint64_t counted = lost_of_closed_;
  for (const Opened& event : events_) counted += lost_of(event);
  return std::max(counted, lost_);
}
std::uint64_t PerfEvents::throttled() const { return throttled_; }

}  // namespace jtrace::sampling
