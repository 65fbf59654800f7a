#include "dtrace/perf_source.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/descriptor_limit.h"
#include "base/file.h"
#include "dtrace/bpf.h"
#include "dtrace/close_in_parallel.h"
#include "dtrace/record_queue.h"
#include "target/native_registers.h"
#include "target/perf_ring.h"
#include "target/process_memory.h"

namespace jtrace::dtrace {
namespace {

using target::PerfRing;

constexpr std::uint64_t kHoldBack = 2'000'000;  // ns
constexpr std::uint64_t kReadLimit = 1u << 16;  // of a text
constexpr std::uint32_t kStackBytes = 256;      // bytes above the stack pointer that each hit brings

struct Hit {
  std::uint64_t identity = 0, time = 0;
  std::uint32_t pid = 0, tid = 0;
  target::Registers registers;
  std::span<const std::byte> stack;  // from the stack pointer
};

class PerfSource final : public ProbeSource {
 public:
  PerfSource(const target::Process& process, const std::vector<TracedSite>& sites)
      : memory_(process), pid_(static_cast<std::uint32_t>(process.pid())), sites_(sites), queue_(sites) {
    counters_.resize(sites.size());
  }
  ~PerfSource() override { detach(); }

  Result<> open(const Libjvm& libjvm, const SourceOptions& options) {
    JTRACE_ASSIGN_OR_RETURN(type_, uprobe_event_type());
    raise_descriptor_limit();
    const auto processors = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t size =
        std::bit_ceil(std::max<std::size_t>(options.ring_size / static_cast<std::size_t>(processors), 8 * page));
    const std::string path = "/proc/self/fd/" + std::to_string(libjvm.file.get());
    for (int cpu = 0; cpu < processors; ++cpu) JTRACE_RETURN_IF_ERROR(open_processor(path, cpu, size));
    if (rings_.empty()) return fail(ErrorCategory::kSystem, "no processor takes perf events");
    return {};
  }

  Result<> drain(const RecordFunction& function, bool all) override {
    const std::uint64_t before = monotonic_ns();
    for (PerfRing& ring : rings_)
      ring.consume([this](std::uint32_t kind, std::span<const std::byte> body) { take(kind, body); });
    return queue_.release(all ? UINT64_MAX : before - kHoldBack, function);
  }
  // What was written stays in the rings, which outlive the events.
  void detach() override { close_in_parallel(events_); }
  Result<std::vector<SiteCounters>> counters() override { return counters_; }
  Result<std::vector<MethodHits>> method_hits() override {
    std::vector<MethodHits> all;
    for (const auto& [method, count] : methods_) all.push_back({method, count});
    return all;
  }
  BackEnd back_end() const override { return BackEnd::kPerf; }

 private:
  Result<> open_processor(const std::string& path, int cpu, std::size_t ring_size) {
    int first = -1;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      perf_event_attr event{};
      event.type = type_;
      event.size = sizeof event;
      event.config = sites_[i].site->semaphore_offset << 32;  // format/ref_ctr_offset
      event.config1 = reinterpret_cast<std::uint64_t>(path.c_str());
      event.config2 = sites_[i].site->offset;
      event.sample_period = 1;
      event.sample_type =
          PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
      event.sample_regs_user = target::kPerfRegisters;
      event.sample_stack_user = sites_[i].copies_stack ? kStackPages * kStackPage : kStackBytes;
      event.use_clockid = 1;
      event.clockid = CLOCK_MONOTONIC;
      event.watermark = 1;
      event.wakeup_watermark = static_cast<std::uint32_t>(ring_size / 2);  // it wakes no thread: the rings are polled
      UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &event, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
      if (!fd && errno == ENODEV) return {};  // this processor is off
      if (!fd) {
        Error error = system_error("cannot open a perf event for a uprobe on a processor");
        if (error.errnum == EPERM || error.errnum == EACCES)
          error = error.with_help("it takes root; see /proc/sys/kernel/perf_event_paranoid");
        return fail(std::move(error));
      }
      std::uint64_t identity = 0;
      if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &identity) != 0)
        return fail(system_error("cannot read the id of a perf event"));
      site_of_[identity] = static_cast<std::uint32_t>(i);
      if (first < 0) {
        first = fd.get();
        rings_.emplace_back(first, ring_size);
        if (!rings_.back().mapped()) return fail(system_error("cannot map the ring of perf events"));
      } else if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, first) != 0) {
        return fail(system_error("cannot redirect perf events into one ring"));
      }
      events_.push_back(std::move(fd));
    }
    return {};
  }

  void take(std::uint32_t kind, std::span<const std::byte> body) {
    ByteReader reader(body);
    if (kind == PERF_RECORD_LOST) {
      const auto site = site_of_.find(reader.read<std::uint64_t>());
      const auto lost = reader.read<std::uint64_t>();
      // Whose they were is not known: they may be those of another process.
      SiteCounters& counter = counters_[site == site_of_.end() ? 0 : site->second];
      counter.lost += lost;
      counter.hits += lost;
      return;
    }
    if (kind != PERF_RECORD_SAMPLE) return;
    Hit hit;
    hit.identity = reader.read<std::uint64_t>();
    hit.pid = reader.read<std::uint32_t>();
    hit.tid = reader.read<std::uint32_t>();
    hit.time = reader.read<std::uint64_t>();
    if (hit.pid != pid_) return;
    if (reader.read<std::uint64_t>() != PERF_SAMPLE_REGS_ABI_NONE)
      for (const std::size_t word : target::kPerfOrder) hit.registers.words[word] = reader.read<std::uint64_t>();
    const auto stack_size = reader.read<std::uint64_t>();
    hit.stack = reader.read_bytes(stack_size);
    if (stack_size > 0) hit.stack = hit.stack.first(std::min<std::uint64_t>(stack_size, reader.read<std::uint64_t>()));
    const auto site = site_of_.find(hit.identity);
    if (!reader.failed() && site != site_of_.end()) take_hit(site->second, hit);
  }

  void take_hit(std::uint32_t index, const Hit& hit) {
    const TracedSite& traced = sites_[index];
    ++counters_[index].hits;
    if (traced.ends_symbols) {
      ++generation_;
      known_.clear();
    }
    if (!traced.records) return;
    values_.clear();
    for (std::size_t i = 0; i < std::min(traced.site->operands.size(), kMaxOperands); ++i)
      values_.push_back(value_of(traced.site->operands[i], hit, counters_[index]));
    if (traced.counts_methods && values_.size() == 7) {
      values_.push_back(generation_);
      if (methods_[{generation_, values_[1], values_[3], values_[5]}]++ > 0) return;
    }
    const bool named = traced.probe->name == "thread__start" || traced.probe->name == "thread__stop";
    for (const ProbeArgument& argument : traced.probe->description.arguments)
      if (argument.is_text() && argument.operand + 1 < values_.size())
        define(argument, counters_[index], named ? hit.tid : 0);
    queue_.add(index, hit.tid, hit.time, values_, traced.copies_stack ? stack_of(hit) : nullptr);
  }

  static std::unique_ptr<CopiedStack> stack_of(const Hit& hit) {
    auto stack = std::make_unique<CopiedStack>();
    stack->registers = hit.registers;
    stack->start = hit.registers.sp();
    stack->bytes.assign(hit.stack.begin(), hit.stack.end());
    return stack;
  }

  // `named`: the thread whose name this is, 0 for other texts. Its memory is free again when the probe is over, and may
  // be another text by now: it counts where the kernel's name of the thread, 15 bytes, is its begin.
  void define(const ProbeArgument& argument, SiteCounters& counter, std::uint32_t named) {
    const std::uint64_t address = values_[argument.operand];
    const auto length = static_cast<std::uint32_t>(values_[argument.operand + 1]);
    values_[argument.operand + 1] = length;
    if (argument.kind == ArgumentKind::kSymbol && !known_.insert({address, length}).second) return;
    std::string text(std::min<std::uint64_t>(length, kReadLimit), '\0');
    bool read = static_cast<bool>(memory_.read_exactly(address, std::as_writable_bytes(std::span(text))));
    if (read && named != 0) {
      const auto comm = read_file("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(named) + "/comm");
      read = comm && text.starts_with(std::string_view(*comm).substr(0, comm->find('\n')));
    }
    counter.unreadable += !read;
    queue_.define_text(address, length, read ? text : "", !read);
  }

  std::uint64_t value_of(const Operand& operand, const Hit& hit, SiteCounters& counter) const {
    const auto in = [&](Register number) { return hit.registers.words[number]; };
    std::uint64_t value = 0;
    switch (operand.kind) {
      case OperandKind::kUnknown: return 0;
      case OperandKind::kImmediate: value = static_cast<std::uint64_t>(operand.displacement); break;
      case OperandKind::kRegister: value = in(operand.base) >> operand.shift; break;
      case OperandKind::kMemory: {
        const std::uint64_t at = static_cast<std::uint64_t>(operand.displacement) +
                                 (operand.has_base ? in(operand.base) : 0) +
                                 (operand.has_index ? in(operand.index) * operand.scale : 0);
        const std::uint64_t into = at - hit.registers.sp();
        if (into < hit.stack.size() && hit.stack.size() - into >= operand.size)
          std::memcpy(&value, hit.stack.data() + into, operand.size);
        else if (!memory_.read_exactly(at, std::as_writable_bytes(std::span(&value, 1)).first(operand.size)))
          ++counter.unreadable;
        break;
      }
    }
    if (operand.size == 8) return value;
    const int bits = 64 - 8 * operand.size;
    if (operand.is_signed) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << bits) >> bits);
    return value << bits >> bits;
  }

  target::ProcessMemory memory_;
  const std::uint32_t pid_;
  const std::vector<TracedSite>& sites_;
  std::uint32_t type_ = 0;
  std::vector<PerfRing> rings_;
  std::vector<UniqueFd> events_;
  std::unordered_map<std::uint64_t, std::uint32_t> site_of_;
  RecordQueue queue_;
  std::vector<SiteCounters> counters_;
  std::vector<std::uint64_t> values_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> known_;  // texts that the queue has
  std::map<MethodKey, std::uint64_t> methods_;
  std::uint64_t generation_ = 0;
};

}  // namespace

Result<std::unique_ptr<ProbeSource>> open_perf_source(const target::Process& process, const Libjvm& libjvm,
                                                      const std::vector<TracedSite>& sites,
                                                      const SourceOptions& options) {
  auto source = std::make_unique<PerfSource>(process, sites);
  JTRACE_RETURN_IF_ERROR(source->open(libjvm, options));
  return std::unique_ptr<ProbeSource>(std::move(source));
}

}  // namespace jtrace::dtrace
