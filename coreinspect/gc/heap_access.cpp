#include "coreinspect/gc/heap_access.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "coreinspect/gc/copy_speed.h"
#include "target/vector_registers.h"

namespace jtrace::coreinspect {
namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kMaxStackCopy = 1u << 20;             // for each thread
constexpr std::uint64_t kRedZone = 128;                       // System V ABI, AMD64 3.2.2
constexpr std::uint64_t kSmallGap = 4 * CachedMemory::kPage;  // copied, because it takes less time than another read
constexpr nanoseconds kThreadCost{100'000};  // to stop a thread and read its registers, on a slow machine
constexpr nanoseconds kRestCost{2'000'000};  // roots and stacks, mostly
constexpr unsigned kCopyThreads = 2;
constexpr double kSafety = 1.1;
constexpr double kNewPageCost = 0.5;  // ns per byte of a page that the kernel allocates and clears
constexpr int kTries = 3;
constexpr std::uint64_t kSpare = 32u << 20;  // room for allocations in the meantime, in addition to an eighth

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

constexpr const char* kOtherWays = "--no-stop reads it while it runs; jtrace cmd PID inspectheap asks the JVM";

}  // namespace

Result<std::unique_ptr<HeapAccess>> HeapAccess::open(Inspection& inspection, const HeapAccessOptions& options) {
  // The self-test reads an object through a handle. With ZGC the object may have been moved and the handle not updated
  // yet. A walk finds objects without handles.
  if (inspection.vm().collector() != "Z") JTRACE_RETURN_IF_ERROR(inspection.healthy());
  std::unique_ptr<HeapAccess> access(new HeapAccess(inspection));
  const Vm& vm = inspection.vm();
  if (vm.cached_memory()) vm.cached_memory()->forget();
  if (const auto* memory = inspection.target().process_memory()) memory->skip_untouched(true);
  JTRACE_ASSIGN_OR_RETURN(access->layout_, read_heap_layout(vm));
  access->memory_ = &inspection.target().memory();
  access->runs_ = inspection.target().process() != nullptr && options.no_stop;
  if (const target::CoreFile* core = inspection.target().core()) {
    access->threads_ = core->threads();
    if (options.stacks) access->keep_vectors([&](std::size_t thread) { return core->vector_sets()[thread]; });
  } else if (!options.no_stop) JTRACE_RETURN_IF_ERROR(access->copy_stopped(options));
  access->forwarded_ = ForwardedObjects(access->layout_, *access->memory_);
  access->shape_ = header_shape(inspection.objects());
  access->klasses_ = std::make_unique<KlassTable>(inspection.objects());
  for (const std::string& line : access->layout_.missing) access->missing_.push_back(line);
  return access;
}

HeapAccess::~HeapAccess() {
  if (copy_) inspection_.vm().cached_memory()->reset();
  if (const auto* memory = inspection_.target().process_memory()) memory->skip_untouched(false);
}

Result<HeapLayout> HeapAccess::layout_now() const {
  inspection_.vm().cached_memory()->forget();
  return read_heap_layout(inspection_.vm());
}

Result<> HeapAccess::copy_stopped(const HeapAccessOptions& options) {
  for (;;) {
    auto done = make_ready(options);
    const bool refused = !done;
    if (done) done = copy_once(options);
    if (done) return {};
    if (inspection_.target().process()->has_exited() || done.error().category == ErrorCategory::kNotFound) return done;
    if (refused && options.strict && tries_ == 0) return done;
    if (!refused && !too_slow_ && tries_ < kTries) continue;
    return options.or_running ? read_running(done.error()) : done;
  }
}

Result<> HeapAccess::read_running(const Error& why) {
  copy_.reset();
  copied_.clear();
  inspection_.vm().cached_memory()->reset();
  why_running_ = why.message();
  runs_ = true;
  JTRACE_ASSIGN_OR_RETURN(layout_, read_heap_layout(inspection_.vm()));
  return {};
}

// First the room, which takes longest; then, right before the stop, the ranges to copy.
Result<> HeapAccess::make_ready(const HeapAccessOptions& options) {
  inspection_.vm().cached_memory()->reset();
  JTRACE_ASSIGN_OR_RETURN(layout_, read_heap_layout(inspection_.vm()));
  JTRACE_RETURN_IF_ERROR(refuse_if_too_large(options));
  const std::uint64_t used = layout_.used(), room = used + used / 8 + kSpare + growth_;
  if (!copy_) {
    const VmFlag* flag = inspection_.vm().flag("MaxHeapSize");
    const auto most = flag ? parse_decimal<std::uint64_t>(flag->value) : std::nullopt;
    JTRACE_ASSIGN_OR_RETURN(copy_, HeapCopy::make(*memory_, room, std::max(most.value_or(0), room)));
    copy_->leave_out_untouched(inspection_.target().process_memory()->pages());
  }
  copy_->make_ready(room);
  if (options.stacks) (void)inspection_.code();  // not within the stop
  inspection_.vm().cached_memory()->forget();
  const std::uint64_t begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  JTRACE_ASSIGN_OR_RETURN(layout_, read_heap_layout(inspection_.vm()));
  // During the stop it is read again, of memory that is not cached.
  const auto cost = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
  layout_cost_ = nanoseconds(static_cast<std::int64_t>(cost * kSafety)) + kRestCost;
  return refuse_if_too_large(options);
}

Result<> HeapAccess::refuse_if_too_large(const HeapAccessOptions& options) {
  const std::uint64_t used = layout_.used();
  if (const std::uint64_t room = free_memory() + (copy_ ? copy_->ready() : 0); used > room / 2)
    return fail(ErrorCategory::kRefused,
                "a copy of the heap takes " + size_text(used) + ", more than half of the " + size_text(room) +
                    " of free memory",
                kOtherWays);
  if (cost_of_byte_ == 0) cost_of_byte_ = copy_cost(*inspection_.target().process_memory(), layout_, kCopyThreads);
  std::uint64_t resident = 0;
  for (const AddressRange& range : used_ranges(layout_))
    resident += inspection_.target().process_memory()->resident(range.start, range.end);
  resident_share_ = used == 0 ? 1 : static_cast<double>(resident) / static_cast<double>(used);
  const auto threads = inspection_.target().process()->threads();
  estimate_ = nanoseconds(static_cast<std::int64_t>(cost_of_byte_ * kSafety * static_cast<double>(resident))) +
              layout_cost_ + kThreadCost * static_cast<std::int64_t>(threads ? threads->size() : 0);
  if (estimate_ > options.max_stop)
    return fail(ErrorCategory::kRefused,
                "the JVM would be stopped for about " + text_of_ms(estimate_) + " while " + size_text(used) +
                    " of its heap are copied, more than --max-stop allows (" + text_of_ms(options.max_stop) + ")",
                kOtherWays);
  return {};
}

Result<> HeapAccess::copy_once(const HeapAccessOptions& options) {
  const target::Process& process = *inspection_.target().process();
  Outside outside;
  JTRACE_ASSIGN_OR_RETURN(outside.mappings, process.maps());
  if (options.stacks) inspection_.target().process_memory()->pages().look();
  CachedMemory& cache = *inspection_.vm().cached_memory();
  cache.reset();
  outside.pages = pages_of_roots(options.roots);
  copy_->clear();
  copied_.clear();
  ++tries_;
  // In a thread of its own, because HeapStop raises the priority of the calling thread.
  Result<> done;
  std::thread([&] { done = stop_and_copy(options, outside); }).join();
  JTRACE_RETURN_IF_ERROR(done);
  if (copy_->unreadable() > 0) missing_.push_back(size_text(copy_->unreadable()) + " of the heap could not be read");
  // From now on every reader of the heap gets the copied bytes.
  for (auto& [start, bytes] : copied_) cache.overlay(start, std::move(bytes));
  cache.set_layer(copy_.get());
  memory_ = copy_.get();
  return {};
}

Result<> HeapAccess::stop_and_copy(const HeapAccessOptions& options, const Outside& outside) {
  auto stop = HeapStop::make(inspection_, options.max_stop);
  if (!stop) return fail(stop.error().with_help(kOtherWays));
  const auto done = copy_within(*stop);
  if (done) keep_pages(outside.pages);
  if (done && options.stacks) keep_stacks(*stop, outside.mappings);
  const std::vector<target::HeldThread> held = stop->held();
  const nanoseconds pause = stop->release();
  pause_ = std::max(pause_, pause);
  if (!done) return fail(done.error().with_context("after " + text_of_ms(pause)).with_help(kOtherWays));
  // A thread that another tracer has stopped changes nothing in the heap, but a dump lacks its frames.
  for (const target::HeldThread& each : held)
    if (options.stacks || !each.stands)
      missing_.push_back("thread " + std::to_string(each.tid) + " (" + each.name + ") is held by " +
                         target::describe_tracer(each) +
                         (each.stands ? ": its registers are not known" : ": it ran while the heap was copied"));
  return {};
}

// Copies all used ranges, or stops early if the copy is seen to take longer than the time that is left.
Result<> HeapAccess::copy_within(HeapStop& stop) {
  const std::uint64_t expected = layout_.used();
  inspection_.vm().cached_memory()->reset();
  JTRACE_ASSIGN_OR_RETURN(layout_, read_heap_layout(inspection_.vm()));
  inspection_.objects().keep_moved_objects();
  const std::uint64_t used = layout_.used(), grown = used > expected ? used - expected : 0;
  growth_ = std::max(growth_, 2 * grown);
  const double new_pages = used > copy_->ready() ? static_cast<double>(used - copy_->ready()) : 0;
  const double takes = cost_of_byte_ * resident_share_ * static_cast<double>(used) + kNewPageCost * new_pages;
  if (nanoseconds(static_cast<std::int64_t>(takes)) > stop.time_left())
    return fail(ErrorCategory::kTimeout,
                "the heap grew by " + size_text(grown) + " during the preparation: too much to copy in time");
  if (used / 2 > free_memory() / 2 + copy_->ready() / 2)
    return fail(ErrorCategory::kRefused, "the heap grew to " + size_text(used) + ", too much for a copy");
  // If the machine is busier than expected, the stop lasts no longer than it takes to notice that.
  const nanoseconds at_most = stop.time_left();
  const auto in_time = [&](std::uint64_t done, std::uint64_t all) {
    const nanoseconds left = stop.time_left(), gone = at_most - left;
    const bool hopeless = gone > at_most / 5 && static_cast<double>(done) * static_cast<double>(at_most.count()) <
                                                    0.7 * static_cast<double>(all) * static_cast<double>(gone.count());
    return left.count() > 0 && !hopeless;
  };
  auto copied = copy_->copy(used_ranges(layout_), kCopyThreads, in_time);
  too_slow_ = !copied && copied.error().category == ErrorCategory::kTimeout;
  return copied;
}

std::set<Address> HeapAccess::pages_of_roots(const std::function<void()>& roots) const {
  std::set<Address> pages;
  if (!roots) return pages;
  CachedMemory& cache = *inspection_.vm().cached_memory();
  cache.record(&pages);
  roots();
  cache.record(nullptr);
  cache.reset();
  for (const AddressRange& range : used_ranges(layout_))  // they are copied anyway
    pages.erase(pages.lower_bound(range.start), pages.lower_bound(range.end));
  return pages;
}

bool HeapAccess::keep(Address start, Address end) {
  std::vector<std::byte> bytes(end - start);
  if (!memory_->read_exactly(start, bytes)) return false;
  copied_.emplace_back(start, std::move(bytes));
  return true;
}

void HeapAccess::keep_pages(const std::set<Address>& pages) {
  for (auto next = pages.begin(); next != pages.end();) {
    const auto first = next;
    Address end = *first;
    for (; next != pages.end() && *next - end <= kSmallGap; ++next) end = *next + CachedMemory::kPage;
    if (keep(*first, end)) continue;
    for (auto page = first; page != next; ++page) keep(*page, *page + CachedMemory::kPage);
  }
}

// Compiled code keeps references in vector registers too, where it has no others left (UseFPUForSpilling). Native code
// that it calls does not preserve them.
void HeapAccess::keep_vectors(const std::function<std::span<const std::byte>(std::size_t)>& set_of) {
  const auto code = inspection_.code();
  if (!code) return;
  vectors_.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if ((*code)->contains(threads_[i].registers.pc())) vectors_[threads_[i].tid] = target::words_of_set(set_of(i));
}

std::span<const std::uint64_t> HeapAccess::vectors(pid_t tid) const {
  const auto found = vectors_.find(tid);
  return found == vectors_.end() ? std::span<const std::uint64_t>() : found->second;
}

void HeapAccess::keep_stacks(const HeapStop& stop, const std::vector<target::Mapping>& mappings) {
  threads_ = stop.threads();
  std::vector<std::byte> set;
  keep_vectors([&](std::size_t thread) {
    set = target::vector_set(threads_[thread].tid);
    return std::span<const std::byte>(set);
  });
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

}  // namespace jtrace::coreinspect
