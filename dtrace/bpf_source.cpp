#include "dtrace/bpf_source.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/clock.h"
#include "base/strings.h"
#include "dtrace/bpf.h"
#include "dtrace/close_in_parallel.h"
#include "dtrace/record_queue.h"
#include "dtrace/ring_buffer.h"
#include "target/process_memory.h"

namespace jtrace::dtrace {
namespace {

constexpr std::uint32_t kKnownTexts = 1u << 16;  // texts that the program remembers; others are sent again
constexpr std::uint32_t kCountedMethods = 1u << 18;
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, linux/proc_ns.h
constexpr std::uint64_t kHoldBack = 2'000'000;    // ns
constexpr std::uint64_t kReadLimit = 1u << 16;    // of a text read afterwards

// The pid as BPF programs see it; 0 if this process cannot know it.
std::uint32_t first_namespace_pid(const target::Process& process) {
  struct stat info {};
  if (::stat("/proc/self/ns/pid", &info) != 0 || info.st_ino != kFirstPidNamespace) return 0;
  return static_cast<std::uint32_t>(process.pid());
}

class BpfSource final : public ProbeSource {
 public:
  BpfSource(const target::Process& process, const std::vector<TracedSite>& sites, bool multi)
      : memory_(process), sites_(sites), multi_(multi), queue_(sites) {}
  ~BpfSource() override { detach(); }

  Result<> open(const target::Process& process, const Libjvm& libjvm, const SourceOptions& options) {
    const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t ring_size = std::bit_ceil(std::max<std::size_t>(options.ring_size, page));
    counters_size_ = kCountersHeader + sites_.size() * sizeof(SiteCounters);
    JTRACE_ASSIGN_OR_RETURN(
        ring_map_, create_bpf_map({BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<std::uint32_t>(ring_size)}, "jtrace_ring"));
    JTRACE_ASSIGN_OR_RETURN(texts_map_, create_bpf_map({BPF_MAP_TYPE_LRU_HASH, 16, 8, kKnownTexts}, "jtrace_texts"));
    JTRACE_ASSIGN_OR_RETURN(
        counters_map_,
        create_bpf_map({BPF_MAP_TYPE_ARRAY, 4, static_cast<std::uint32_t>(counters_size_), 1}, "jtrace_counters"));
    if (std::any_of(sites_.begin(), sites_.end(), [](const TracedSite& site) { return site.counts_methods; })) {
      JTRACE_ASSIGN_OR_RETURN(
          methods_map_, create_bpf_map({BPF_MAP_TYPE_HASH, sizeof(MethodKey), 8, kCountedMethods}, "jtrace_methods"));
    }
    JTRACE_RETURN_IF_ERROR(ring_.map(ring_map_.get(), ring_size));
    const ProgramMaps maps{ring_map_.get(), texts_map_.get(), counters_map_.get(), methods_map_.get()};
    JTRACE_ASSIGN_OR_RETURN(const auto code, make_probe_program(sites_, maps, first_namespace_pid(process)));
    JTRACE_ASSIGN_OR_RETURN(program_, load_uprobe_program(code, multi_));
    return attach(process, libjvm);
  }

  Result<> drain(const RecordFunction& function, bool all) override {
    const std::uint64_t before = monotonic_ns();
    ring_.consume([this](std::span<const std::byte> record) { take(record); });
    return queue_.release(all ? UINT64_MAX : before - kHoldBack, function);
  }

  void detach() override {
    link_.reset();
    close_in_parallel(events_);
  }

  Result<std::vector<SiteCounters>> counters() override {
    std::vector<std::byte> value(counters_size_);
    JTRACE_RETURN_IF_ERROR(read_bpf_element(counters_map_.get(), value));
    std::vector<SiteCounters> counters(sites_.size());
    std::memcpy(counters.data(), value.data() + kCountersHeader, value.size() - kCountersHeader);
    return counters;
  }

  Result<std::vector<MethodHits>> method_hits() override {
    std::vector<MethodHits> all;
    if (!methods_map_) return all;
    MethodHits one;
    JTRACE_RETURN_IF_ERROR(read_bpf_hash(methods_map_.get(), std::as_writable_bytes(std::span(&one.method, 1)),
                                         std::as_writable_bytes(std::span(&one.count, 1)),
                                         [&] { all.push_back(one); }));
    return all;
  }

  BackEnd back_end() const override { return multi_ ? BackEnd::kUprobeMulti : BackEnd::kPerfBpf; }

 private:
  Result<> attach(const target::Process& process, const Libjvm& libjvm) {
    std::vector<UprobePlace> places;
    for (std::size_t i = 0; i < sites_.size(); ++i)
      places.push_back({sites_[i].site->offset, sites_[i].site->semaphore_offset, i});
    // Opens the mapped file itself, whatever its name refers to today.
    const std::string path = "/proc/self/fd/" + std::to_string(libjvm.file.get());
    if (multi_) {
      JTRACE_ASSIGN_OR_RETURN(link_, attach_uprobes(program_.get(), path, places, process.pid()));
      return {};
    }
    for (const UprobePlace& place : places) {
      JTRACE_ASSIGN_OR_RETURN(PerfUprobe made, attach_uprobe(program_.get(), path, place, process.pid()));
      events_.push_back(std::move(made));
    }
    return {};
  }

  void take(std::span<const std::byte> record) {
    std::uint32_t mark = 0;
    if (record.size() < sizeof(EventHeader)) return;
    std::memcpy(&mark, record.data(), sizeof mark);
    if (mark == kTextRecord) return take_text(record);
    EventHeader header{};
    std::memcpy(&header, record.data(), sizeof header);
    if (header.site >= sites_.size()) return;
    std::span<const std::byte> operands = record.subspan(sizeof header);
    std::unique_ptr<CopiedStack> stack;
    if (sites_[header.site].copies_stack) {
      constexpr std::size_t kRoom = sizeof(StackHeader) + kStackPages * kStackPage;
      if (operands.size() < kRoom) return;
      stack = stack_of(operands.last(kRoom));
      operands = operands.first(operands.size() - kRoom);
    }
    values_.resize(operands.size() / 8);
    std::memcpy(values_.data(), operands.data(), values_.size() * 8);
    queue_.add(header.site, header.tid, header.time, values_, std::move(stack));
  }

  static std::unique_ptr<CopiedStack> stack_of(std::span<const std::byte> record) {
    StackHeader header{};
    std::memcpy(&header, record.data(), sizeof header);
    auto stack = std::make_unique<CopiedStack>();
    std::copy(std::begin(header.registers), std::end(header.registers), stack->registers.words.begin());
    stack->start = stack->registers.sp() - kStackBelow;
    const auto pages = record.subspan(sizeof header + stack->start % kStackPage);
    const auto copied = pages.first(std::min<std::size_t>(pages.size(), header.copied));
    stack->bytes.assign(copied.begin(), copied.end());
    return stack;
  }

  void take_text(std::span<const std::byte> record) {
    TextHeader header{};
    if (record.size() < sizeof header) return;
    std::memcpy(&header, record.data(), sizeof header);
    if (header.unreadable != 0) return read_afterwards(header);
    const std::size_t size = std::min<std::size_t>(header.copied, record.size() - sizeof header);
    queue_.define_text(header.address, header.length,
                       {reinterpret_cast<const char*>(record.data() + sizeof header), size}, false);
  }

  // The page was not in memory when the probe fired; this read makes the kernel load it.
  void read_afterwards(const TextHeader& header) {
    std::string text(std::min<std::uint64_t>(header.length, kReadLimit), '\0');
    const bool read = static_cast<bool>(memory_.read_exactly(header.address, std::as_writable_bytes(std::span(text))));
    queue_.define_text(header.address, header.length, read ? text : "", !read);
  }

  target::ProcessMemory memory_;
  const std::vector<TracedSite>& sites_;
  bool multi_;
  std::size_t counters_size_ = 0;
  UniqueFd ring_map_, texts_map_, counters_map_, methods_map_, program_, link_;
  std::vector<PerfUprobe> events_;
  RingBuffer ring_;
  RecordQueue queue_;
  std::vector<std::uint64_t> values_;
};

}  // namespace

bool kernel_is_at_least(std::string_view release, int major, int minor) {
  const auto parts = split(release.substr(0, release.find('-')), '.');
  if (parts.size() < 2) return false;
  const int first = parse_decimal<int>(parts[0]).value_or(0), second = parse_decimal<int>(parts[1]).value_or(0);
  return first > major || (first == major && second >= minor);
}

Result<std::unique_ptr<ProbeSource>> open_bpf_source(const target::Process& process, const Libjvm& libjvm,
                                                     const std::vector<TracedSite>& sites, const SourceOptions& options,
                                                     bool multi) {
  utsname system{};
  ::uname(&system);
  if (multi && !kernel_is_at_least(system.release, 6, 11))
    return fail(ErrorCategory::kRefused,
                "uprobe_multi needs Linux 6.11 or later, this is " + std::string(system.release));
  auto source = std::make_unique<BpfSource>(process, sites, multi);
  JTRACE_RETURN_IF_ERROR(source->open(process, libjvm, options));
  return std::unique_ptr<ProbeSource>(std::move(source));
}

}  // namespace jtrace::dtrace
