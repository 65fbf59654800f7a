#include "coreinspect/tools/thread_snapshot.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/joined.h"
#include "base/strings.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/futex_waits.h"
#include "coreinspect/tools/thread_capture.h"
#include "coreinspect/unwind/stack_chunks.h"
#include "coreinspect/unwind/stack_walkers.h"

namespace jtrace::coreinspect {
namespace {

using target::ThreadRegisters;

}  // namespace

void add_kernel_facts(const target::Process& process, pid_t tid, ThreadReport& report) {
  const std::string folder = "task/" + std::to_string(tid) + "/";
  report.tid = tid;
  if (const auto text = process.read_proc(folder + "schedstat")) {
    const auto fields = split(*text, ' ');
    report.cpu_ns = parse_decimal<std::uint64_t>(fields[0]);
    report.measured_ns = monotonic_ns();
    if (fields.size() > 1) report.queued_ns = parse_decimal<std::uint64_t>(fields[1]);
  }
  if (const auto text = process.read_proc(folder + "status")) {
    const auto status = target::parse_status(*text);
    report.name = status.name;
    report.waits = count_of_waits(*text);
    report.slept = status.state == 'S';
    if (!status.nspid.empty()) report.native_id = status.nspid.back();
  }
}

class ThreadSampler::Impl {
 public:
  Impl(Inspection& inspection, const SnapshotOptions& options)
      : inspection_(inspection), options_(options), process_(inspection.target().process()), code_(nullptr) {
    prepare_walkers(inspection.code());
  }

  Result<ThreadSnapshot> take(std::span<const pid_t> tids) {
    snapshot_ = {};
    reader_.emplace(inspection_);
    registers_.clear();
    held_.clear();
    if (!code_ && process_) prepare_walkers(inspection_.code());  // it was just starting
    if (code_) (*code_)->forget();
    else snapshot_.missing.push_back(code_.error().message());
    JTRACE_RETURN_IF_ERROR(take_registers(tids));
    if (const auto addresses = java_thread_addresses(inspection_.vm())) {
      for (Address address : *addresses) add_java_thread(address);
    } else {
      snapshot_.missing.push_back(addresses.error().with_context("cannot list the Java threads").message());
    }
    for (const auto& [sp, thread] : registers_) add_other_thread(thread);
    for (const auto& [tid, held] : held_) add_other_held(held);
    if (walkers_ && options_.virtual_threads) {
      const bool runs = process_ != nullptr && options_.stopped == nullptr;
      snapshot_.virtual_threads = read_virtual_threads(inspection_.objects(), walkers_->java(), snapshot_.missing,
                                                       runs ? &virtual_at_stop_ : nullptr);
      const auto carriers = carriers_by_virtual_thread();
      for (VirtualThread& thread : snapshot_.virtual_threads) take_mounted_frames(thread, carriers);
    }
    count_problems();
    if (options_.locks) name_locks();
    return std::move(snapshot_);
  }

 private:
  Result<> take_registers(std::span<const pid_t> tids) {
    only_some_ = !tids.empty();
    std::vector<ThreadRegisters> threads;
    if (options_.stopped) {
      threads = *options_.stopped;
    } else if (process_) {
      JTRACE_ASSIGN_OR_RETURN(auto capture, capture_threads(inspection_, options_.max_stop, tids, options_.locks));
      snapshot_.pause = capture.pause;
      snapshot_.batches = capture.batches;
      if (capture.unstoppable > 0)
        snapshot_.missing.push_back(counted(capture.unstoppable, "thread") +
                                    " did not stop within --max-stop: they are left out or without frames");
      threads = std::move(capture.threads);
      collections_ = snapshot_.collections = capture.collections;
      headers_ = snapshot_.headers = capture.headers;
      continuations_ = std::move(capture.continuations);
      virtual_at_stop_ = std::move(capture.virtual_threads);
      snapshot_.parked = std::move(capture.parked);
      for (HeldCapture& held : capture.held) {
        if (held.at) threads.push_back({.tid = held.thread.tid, .registers = *held.at});
        held_.emplace(held.thread.tid, std::move(held.thread));
      }
    } else {
      threads = inspection_.target().core()->threads();
      // A core that was not written by the kernel has no times (gdb).
      measured_ = std::any_of(threads.begin(), threads.end(), [](const auto& thread) { return thread.cpu_ns != 0; });
    }
    for (ThreadRegisters& thread : threads) registers_.emplace(thread.registers.sp(), thread);
    return {};
  }
  void prepare_walkers(Result<const CodeCache*> code) {
    code_ = std::move(code);
    if (!code_) return;
    walkers_.emplace(inspection_.methods(), inspection_.objects(), **code_);
  }
  void add_java_thread(Address address) {
    if (only_some_ && !is_wanted(address)) return;
    ThreadReport report;
    report.java = reader_->read(address);
    if (const auto status = snapshot_.parked.statuses.find(address); status != snapshot_.parked.statuses.end())
      report.java.status = status->second;
    else if (process_ != nullptr && report.java.is_in_java()) report.java.status = kRunnableStatus;  // it is of later
    report.native_id = report.java.native_id;
    // The thread whose stack pointer lies in its stack: kernel ids may be of another pid namespace.
    const auto own = registers_.lower_bound(report.java.stack_base - report.java.stack_size);
    if (own != registers_.end() && report.java.has_stack_address(own->first)) {
      report.registers = own->second.registers;
      if (measured_) report.cpu_ns = own->second.cpu_ns;
      take_holder(own->second.tid, report);
      if (process_ && options_.details) add_kernel_facts(*process_, own->second.tid, report);
      registers_.erase(own);
    } else {
      find_holder_of(report);
    }
    walk(report);
    leave_out_pending(report);
    snapshot_.threads.push_back(std::move(report));
  }
  void walk(ThreadReport& report) const {
    if (walkers_) walk_with(*walkers_, report);
    if (!report.held) return;
    if (!report.registers && !is_in_native_code(report.java)) {
      report.walk = {.stopped = "its tracer lets it run"};
    } else if (report.walk.incomplete()) {
      report.walk.stopped = "of a thread that another tracer has, only the stack pointer and the pc are known";
    }
  }
  void walk_with(const StackWalkers& walkers, ThreadReport& report) const {
    if (options_.native && report.registers) report.walk = walkers.mixed().walk(report.java, *report.registers);
    else report.walk = walkers.java_frames(report.java, report.registers ? &*report.registers : nullptr);
    join_chunks(inspection_.objects(), walkers.java(), report.java.vm_state,
                continuations_ ? &*continuations_ : nullptr, report.walk);
  }
  // A thread that was not stopped keeps its Java frames as long as its anchor stays the same. The anchor is read from
  // the target as it is now, not from the copy.
  bool is_in_native_code(const JavaThread& java) const {
    const auto anchor = inspection_.vm().types().offset("JavaThread", "_anchor");
    const auto sp = inspection_.vm().types().offset("JavaFrameAnchor", "_last_Java_sp");
    if (!anchor || !sp || java.last_sp == 0) return false;
    const auto now = inspection_.target().memory().read<Address>(java.address + *anchor + *sp);
    return now && *now == java.last_sp;
  }
  void take_holder(pid_t tid, ThreadReport& report) {
    const auto held = held_.find(tid);
    if (held == held_.end()) return;
    report.held = std::move(held->second);
    held_.erase(held);
  }
  // By its id, if no stack pointer says on whose stack it is.
  void find_holder_of(ThreadReport& report) {
    for (const auto& [tid, held] : held_) {
      if (held.nstid == 0 || held.nstid != report.java.native_id) continue;
      if (options_.details) add_kernel_facts(*process_, tid, report);
      take_holder(tid, report);
      return;
    }
  }
  void add_other_held(const target::HeldThread& held) {
    ThreadReport report;
    report.native_id = held.nstid != 0 ? held.nstid : held.tid;
    report.name = held.name;
    if (options_.details) add_kernel_facts(*process_, held.tid, report);
    report.held = held;
    report.walk.stopped = "its tracer lets it run";
    snapshot_.threads.push_back(std::move(report));
  }
  // The frames of a virtual thread that is mounted are on its carrier, up to Continuation.enter. Which one the
  // carrier ran at the moment of the stop was copied with it.
  void take_mounted_frames(VirtualThread& thread, const std::map<Address, const ThreadReport*>& carriers) const {
    const bool at_stop = virtual_at_stop_.contains(thread.object);
    const auto found = carriers.find(thread.object);
    if (at_stop && found == carriers.end() && !only_some_)
      thread.walk.stopped = "the thread that carries it was not read";
    if (found == carriers.end()) return;
    const ThreadReport* const carrier = found->second;
    if (!at_stop && (thread.carrier != carrier->java.object || !thread.walk.frames.empty())) return;
    thread.carrier = carrier->java.object;
    thread.carrier_name = carrier->java.name;
    const auto& frames = carrier->walk.frames;
    const auto enter = std::find_if(frames.begin(), frames.end(),
                                    [](const Frame& frame) { return is_of_continuation(frame.method, "enter"); });
    if (enter == frames.end()) return;
    thread.walk.frames.assign(frames.begin(), enter + 1);
    thread.mounted = true;
    thread.carrier_thread = carrier->java.address;
    thread.carrier_state = carrier->java.state();
  }
  std::map<Address, const ThreadReport*> carriers_by_virtual_thread() const {
    std::map<Address, const ThreadReport*> carriers;
    for (const ThreadReport& each : snapshot_.threads) {
      if (each.java.address == 0) continue;
      const auto running = inspection_.objects().root_field(each.java.address, "JavaThread", "_vthread");
      if (running && *running != 0) carriers.emplace(*running, &each);
    }
    return carriers;
  }
  // A frame that waits to enter a monitor has it in its list of locks already; so have those that wait to enter it
  // again after Object.wait.
  void leave_out_pending(ThreadReport& report) const {
    if (report.java.pending_monitor == 0) {
      if (const Address object = object_of(report.java.entering_monitor()))
        for (Frame& frame : report.walk.frames) std::erase(frame.locks, object);
      return;
    }
    const auto wanted = inspection_.objects().root_field(report.java.pending_monitor, "ObjectMonitor", "_object");
    const auto first = std::find_if(report.walk.frames.begin(), report.walk.frames.end(),
                                    [](const Frame& frame) { return frame.method != nullptr; });
    if (!wanted || first == report.walk.frames.end() || first->locks.empty()) return;
    // The frame has the object's address at the stop; the monitor, if it was not copied there, has that of now.
    if (std::erase(first->locks, *wanted) == 0 && process_ && has_moved_objects())
      first->locks.erase(first->locks.begin());
  }
  bool is_wanted(Address address) const {
    const Address base = java_stack_base(inspection_.vm(), address).value_or(0);
    const auto above = registers_.lower_bound(base);  // stacks do not overlap: the nearest below the base is its own
    const Address size = java_stack_size(inspection_.vm(), address).value_or(0);
    if (above != registers_.begin() && base - std::prev(above)->first <= size) return true;
    if (held_.empty()) return false;
    const pid_t id = read_java_thread(inspection_.objects(), address).native_id;
    return std::any_of(held_.begin(), held_.end(), [id](const auto& held) { return held.second.nstid == id; });
  }
  void add_other_thread(const ThreadRegisters& thread) {
    ThreadReport report;
    report.native_id = thread.tid;
    if (measured_) report.cpu_ns = thread.cpu_ns;
    report.registers = thread.registers;
    take_holder(thread.tid, report);
    if (process_ && options_.details) add_kernel_facts(*process_, thread.tid, report);
    else if (process_) report.name = name_of(thread.tid);
    if (options_.native && walkers_) walk(report);
    snapshot_.threads.push_back(std::move(report));
  }
  // Looked up once: threads of the VM keep their names.
  const std::string& name_of(pid_t tid) {
    auto& known = comms_[tid];
    if (known.empty()) known = process_->read_proc("task/" + std::to_string(tid) + "/comm").value_or("?");
    if (known.ends_with('\n')) known.pop_back();
    return known;
  }
  Address object_of(Address monitor) const {
    return monitor == 0 ? 0 : inspection_.objects().root_field(monitor, "ObjectMonitor", "_object").value_or(0);
  }
  void name_locks() {
    std::set<Address> late, unknown;  // whose header was not copied during the stop; that are no objects any more
    const auto add_one = [&](Address lock, bool of_stop) {
      const bool known = of_stop && headers_ && headers_->has(lock);
      const auto klass = known ? inspection_.objects().klass_in(*headers_, lock) : inspection_.objects().klass_of(lock);
      const auto name = klass ? inspection_.classes().name(*klass) : Result<std::string>(fail(klass.error()));
      snapshot_.lock_classes.emplace(lock, name.value_or("?"));
      if (of_stop && !known) late.insert(lock);
      if (of_stop && (!klass || !name)) unknown.insert(lock);
    };
    const auto add = [&](const Walk& walk, bool of_stop) {
      for (const Frame& frame : walk.frames)
        for (const Address lock : frame.locks) add_one(lock, of_stop);
    };
    for (const ThreadReport& each : snapshot_.threads) {
      add(each.walk, true);
      for (const Address monitor : {each.java.pending_monitor, each.java.waiting_monitor})
        if (const Address object = object_of(monitor)) add_one(object, true);
    }
    // Frames of those that are not mounted are in the heap, and were just read.
    for (const VirtualThread& each : snapshot_.virtual_threads) add(each.walk, each.mounted);
    if (!process_) return;
    if (!late.empty() && has_moved_objects()) unknown.merge(late);
    for (const Address lock : unknown) snapshot_.lock_classes.erase(lock);
    snapshot_.moved = unknown.size();
  }
  // Since the stop. ZGC's tables show where an object is. Shenandoah's old copies stay until the end of the next cycle.
  bool has_moved_objects() const {
    const std::string_view collector = inspection_.vm().collector();
    if (collector == "Z") return false;
    if (inspection_.collects_now() || !collections_) return true;
    const auto now = read_collections(inspection_.vm());
    return now && *now - *collections_ > (collector == "Shenandoah" ? 1u : 0u);
  }
  void count_problems() {
    for (std::string& line : describe_held(snapshot_.threads)) snapshot_.missing.push_back(std::move(line));
    UnreadStacks broken, torn;
    for (const ThreadReport& each : snapshot_.threads)
      if (!each.held && each.java.address != 0 && (each.walk.incomplete() || !each.java.problem.empty()))
        broken.note(each.java.name, each.walk.incomplete() ? each.walk.stopped : each.java.problem);
    for (const VirtualThread& each : snapshot_.virtual_threads)
      if (each.walk.incomplete()) torn.note(each.name, each.walk.stopped);
    for (std::string line : {broken.text("thread"), torn.text("virtual thread")})
      if (!line.empty()) snapshot_.missing.push_back(std::move(line));
    snapshot_.read_in_collection = reader_->read_in_collection();
    if (snapshot_.read_in_collection)
      snapshot_.missing.push_back("a collection ran all the while: names and ids of threads may be wrong");
  }

  Inspection& inspection_;
  const SnapshotOptions options_;
  const target::Process* process_;
  Result<const CodeCache*> code_;                 // read before the stop, which shall not wait for it
  std::map<Address, ThreadRegisters> registers_;  // of threads not yet reported, by sp
  std::optional<StackWalkers> walkers_;
  std::map<pid_t, target::HeldThread> held_;  // those not yet reported, by tid
  std::shared_ptr<const HeadersAtStop> headers_;
  std::optional<std::uint64_t> collections_;         // before the stop; nothing if one was running
  std::optional<std::set<Address>> continuations_;   // ThreadCapture::continuations
  std::map<Address, std::int32_t> virtual_at_stop_;  // ThreadCapture::virtual_threads
  bool measured_ = false;                            // registers_ come with times
  std::map<pid_t, std::string> comms_;
  bool only_some_ = false;
  std::optional<ThreadReader> reader_;  // of this snapshot
  ThreadSnapshot snapshot_;
};

ThreadSampler::ThreadSampler(Inspection& inspection, const SnapshotOptions& options)
    : impl_(std::make_unique<Impl>(inspection, options)) {}
ThreadSampler::~ThreadSampler() = default;

Result<ThreadSnapshot> ThreadSampler::take(std::span<const pid_t> tids) { return impl_->take(tids); }

// Concurrent collectors move objects between their pauses: nothing shows that they did not.
bool objects_may_have_moved(const Inspection& inspection, const ThreadSnapshot& snapshot) {
  if (!inspection.target().process()) return false;
  if (inspection.vm().moves_while_running() || inspection.collects_now() || !snapshot.collections) return true;
  const auto now = read_collections(inspection.vm());
  return !now || *now != *snapshot.collections;
}

// One line for each tracer.
std::vector<std::string> describe_held(const std::vector<ThreadReport>& threads) {
  constexpr std::size_t kMostNames = 5;
  std::map<std::string, std::vector<std::string>> by_tracer;
  for (const ThreadReport& report : threads)
    if (report.held)
      by_tracer[target::describe_tracer(*report.held)].push_back("\"" + printable(report.shown_name()) + "\" (" +
                                                                 std::to_string(report.held->tid) + ")");
  std::vector<std::string> lines;
  for (auto& [tracer, names] : by_tracer) {
    const std::size_t count = names.size();
    names.resize(std::min(count, kMostNames));
    std::string line = (count == 1 ? "thread " : std::to_string(count) + " threads, ") + joined(names);
    if (count > names.size()) line += ", ...";
    lines.push_back(line + (count == 1 ? " is" : " are") + " held by " + tracer +
                    ": shown as far as possible without stopping " + (count == 1 ? "it" : "them"));
  }
  return lines;
}

Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, const SnapshotOptions& options) {
  constexpr int kTries = 3;
  ThreadSampler sampler(inspection, options);
  std::chrono::nanoseconds longest{};
  for (int tries = 1;; ++tries) {
    JTRACE_ASSIGN_OR_RETURN(ThreadSnapshot snapshot, sampler.take());
    snapshot.pause = longest = std::max(longest, snapshot.pause);
    if (snapshot.moved == 0) return snapshot;
    if (tries < kTries) continue;
    snapshot.missing.push_back("a collection moved objects before the classes of " + std::to_string(snapshot.moved) +
                               " locks of frames were read");
    return snapshot;
  }
}

}  // namespace jtrace::coreinspect
