#include "coreinspect/gc/heap_access.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/free_memory.h"
#include "target/stop_threads.h"

namespace jtrace::coreinspect {
namespace {

using std::chrono::nanoseconds;
using target::StoppedThreads;

constexpr std::uint64_t kProbe = 8u << 20;         // bytes read to learn the speed
constexpr std::uint64_t kMaxStackCopy = 1u << 20;  // of each thread
constexpr std::uint64_t kRedZone = 128;            // System V ABI, AMD64 3.2.2
constexpr nanoseconds kThreadCost{100'000};        // to stop one and read its registers, on a slow machine
constexpr nanoseconds kLayoutCost{3'000'000};      // to read the tables of regions and threads
constexpr unsigned kCopyThreads = 2;

std::string text_of_ms(nanoseconds time) { return std::to_string(time.count() / 1'000'000) + " ms"; }

std::vector<AddressRange> used_ranges(const HeapLayout& layout) {
  std::vector<AddressRange> ranges;
  for (const HeapRegion& region : layout.regions) {
    if (region.used() == 0) continue;
    if (!ranges.empty() && ranges.back().end == region.start) ranges.back().end = region.top;
    else ranges.push_back({region.start, region.top});
  }
  return ranges;
}

// Nanoseconds that a byte takes, from a first look.
double cost_of_byte(const target::MemoryReader& memory, const HeapLayout& layout, std::byte* room) {
  std::uint64_t bytes = 0;
  const std::uint64_t start = monotonic_ns();
  for (const HeapRegion& region : layout.regions) {
    const std::uint64_t size = std::min(region.used(), kProbe - bytes);
    if (size > 0 && memory.read_exactly(region.start, {room, static_cast<std::size_t>(size)})) bytes += size;
    if (bytes >= kProbe) break;
  }
  return bytes == 0 ? 0 : static_cast<double>(monotonic_ns() - start) / static_cast<double>(bytes);
}

constexpr const char* kOtherWays = "--no-stop reads it while it runs; jtrace cmd PID inspectheap asks the JVM";

}  // namespace

Result<std::unique_ptr<HeapAccess>> HeapAccess::open(Inspection& inspection, const HeapAccessOptions& options) {
  // The self-test reads an object by a handle. With ZGC that object may have been moved and the handle not yet; a walk
  // finds objects without handles.
  if (inspection.vm().collector() != "Z") JTRACE_RETURN_IF_ERROR(inspection.healthy());
  std::unique_ptr<HeapAccess> access(new HeapAccess(inspection));
  const Vm& vm = inspection.vm();
  if (vm.cached_memory()) vm.cached_memory()->forget();
  JTRACE_ASSIGN_OR_RETURN(access->layout_, read_heap_layout(vm));
  access->memory_ = &inspection.target().memory();
  access->runs_ = inspection.target().process() != nullptr && options.no_stop;
  if (inspection.target().core()) access->threads_ = inspection.target().core()->threads();
  else if (!options.no_stop) JTRACE_RETURN_IF_ERROR(access->copy_stopped(options));
  access->shape_ = header_shape(inspection.objects());
  access->klasses_ = std::make_unique<KlassTable>(inspection.objects());
  for (const std::string& line : access->layout_.missing) access->missing_.push_back(line);
  return access;
}

HeapAccess::~HeapAccess() {
  if (copy_) inspection_.vm().cached_memory()->reset();
}

Result<HeapLayout> HeapAccess::layout_now() const {
  inspection_.vm().cached_memory()->forget();
  return read_heap_layout(inspection_.vm());
}

Result<> HeapAccess::refuse_if_too_large(const HeapAccessOptions& options, std::uint64_t used) {
  if (const std::uint64_t room = free_memory(); used > room / 2)
    return fail(ErrorCategory::kRefused,
                "a copy of the heap takes " + std::to_string(used) + " bytes, more than half of the " +
                    std::to_string(room) + " bytes of free memory",
                kOtherWays);
  std::vector<std::byte> room(kProbe);
  const double cost = cost_of_byte(*memory_, layout_, room.data());
  const auto threads = inspection_.target().process()->threads();
  estimate_ = nanoseconds(static_cast<std::int64_t>(cost * 1.25 * static_cast<double>(used))) + kLayoutCost +
              kThreadCost * static_cast<std::int64_t>(threads ? threads->size() : 0);
  if (estimate_ > options.max_stop)
    return fail(ErrorCategory::kRefused,
                "the JVM would stand for some " + text_of_ms(estimate_) + " while " + std::to_string(used) +
                    " bytes of its heap are copied, more than --max-stop allows (" + text_of_ms(options.max_stop) + ")",
                kOtherWays);
  return {};
}

Result<> HeapAccess::copy_stopped(const HeapAccessOptions& options) {
  const target::Process& process = *inspection_.target().process();
  const std::uint64_t used = layout_.used();
  JTRACE_RETURN_IF_ERROR(refuse_if_too_large(options, used));
  const std::size_t stacks = options.stacks ? process.threads().value_or(std::vector<pid_t>()).size() + 16 : 0;
  JTRACE_ASSIGN_OR_RETURN(copy_, HeapCopy::make(*memory_, used + used / 8 + (32u << 20) + stacks * (128u << 10)));
  JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
  CachedMemory& cache = *inspection_.vm().cached_memory();
  cache.reset();
  std::map<Address, std::vector<std::byte>> copied;
  auto stopped = StoppedThreads::stop(process, options.max_stop);
  if (!stopped) return fail(stopped.error().with_help(kOtherWays));
  JTRACE_ASSIGN_OR_RETURN(layout_, read_heap_layout(inspection_.vm()));
  auto done = copy_->copy(used_ranges(layout_), kCopyThreads, [&] { return stopped->time_left().count() > 0; });
  if (done && options.stacks) {
    threads_ = stopped->threads();
    const auto keep = [&](Address start, Address end) {
      std::vector<std::byte> bytes(end - start);
      if (memory_->read_exactly(start, bytes)) copied[start] = std::move(bytes);
    };
    for (const target::ThreadRegisters& thread : threads_) {
      const Address sp = thread.registers.sp();
      const target::Mapping* mapping = target::find_mapping(mappings, sp);
      if (!mapping) continue;
      const Address start = std::max(mapping->start, sp - kRedZone);
      keep(start, std::min(mapping->end, start + kMaxStackCopy));
    }
    const std::uint64_t size = inspection_.vm().types().size_of("JavaThread").value_or(0);
    if (const auto addresses = java_thread_addresses(inspection_.vm()); addresses && size > 0 && size < 65536)
      for (Address address : *addresses) keep(address, address + size);
  }
  // One that its tracer has stopped changes nothing in the heap; its frames are lost to a dump.
  for (const target::HeldThread& held : stopped->held())
    if (options.stacks || !held.stands)
      missing_.push_back("thread " + std::to_string(held.tid) + " (" + held.name + ") is held by " +
                         target::describe_tracer(held) +
                         (held.stands ? ": its registers are not known" : ": it went on while the heap was copied"));
  pause_ = stopped->release();
  if (!done) return fail(done.error().with_context("after " + text_of_ms(pause_)).with_help(kOtherWays));
  if (copy_->unreadable() > 0)
    missing_.push_back(std::to_string(copy_->unreadable()) + " bytes of the heap could not be read");
  // From now on the heap is what was copied, for every reader.
  for (auto& [start, bytes] : copied) cache.overlay(start, std::move(bytes));
  cache.set_layer(copy_.get());
  memory_ = copy_.get();
  return {};
}

}  // namespace jtrace::coreinspect
