#include "coreinspect/tools/thread_snapshot.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "coreinspect/tools/thread_capture.h"
#include "coreinspect/unwind/mixed_walker.h"

namespace jtrace::coreinspect {
namespace {

using target::ThreadRegisters;

// Facts of the kernel on a thread of a live process, read when it runs again; a thread may have ended.
void add_kernel_facts(const target::Process& process, pid_t tid, ThreadReport& report) {
  const std::string folder = "task/" + std::to_string(tid) + "/";
  if (const auto text = process.read_proc(folder + "schedstat"))
    report.cpu_ns = parse_decimal<std::uint64_t>(std::string_view(*text).substr(0, text->find(' '))).value_or(0);
  if (const auto text = process.read_proc(folder + "status")) {
    const auto status = target::parse_status(*text);
    report.name = status.name;
    if (!status.nspid.empty()) report.native_id = status.nspid.back();
  }
}

}  // namespace

class ThreadSampler::Impl {
 public:
  Impl(Inspection& inspection, const SnapshotOptions& options)
      : inspection_(inspection), options_(options), process_(inspection.target().process()), code_(inspection.code()) {
    prepare_walkers();
  }

  Result<ThreadSnapshot> take(std::span<const pid_t> tids) {
    snapshot_ = {};
    registers_.clear();
    if (code_) (*code_)->forget();
    else snapshot_.missing.push_back(code_.error().message());
    JTRACE_RETURN_IF_ERROR(take_registers(tids));
    if (const auto addresses = java_thread_addresses(inspection_.vm())) {
      for (Address address : *addresses) add_java_thread(address);
    } else {
      snapshot_.missing.push_back(addresses.error().with_context("cannot list the Java threads").message());
    }
    for (const auto& [sp, thread] : registers_) add_other_thread(thread);
    if (java_ && options_.virtual_threads)
      snapshot_.virtual_threads = read_virtual_threads(inspection_.objects(), *java_, snapshot_.missing);
    count_problems();
    return std::move(snapshot_);
  }

 private:
  Result<> take_registers(std::span<const pid_t> tids) {
    only_some_ = !tids.empty();
    std::vector<ThreadRegisters> threads;
    if (process_) {
      JTRACE_ASSIGN_OR_RETURN(auto capture, capture_threads(inspection_, options_.max_stop, tids));
      snapshot_.pause = capture.pause;
      snapshot_.batches = capture.batches;
      if (capture.unstoppable > 0)
        snapshot_.missing.push_back(std::to_string(capture.unstoppable) +
                                    " threads did not stop within --max-pause: they are left out or without frames");
      threads = std::move(capture.threads);
    } else {
      threads = inspection_.target().core()->threads();
    }
    for (ThreadRegisters& thread : threads) registers_.emplace(thread.registers.sp(), thread);
    return {};
  }
  void prepare_walkers() {
    if (!code_) return;
    java_.emplace(inspection_.methods(), inspection_.objects(), **code_);
    names_.emplace(inspection_.target());
    native_.emplace(inspection_.target(), inspection_.vm().memory(),
                    [code = *code_](Address pc) { return code->contains(pc); });
    mixed_.emplace(*java_, *native_, *names_, **code_);
  }
  void add_java_thread(Address address) {
    if (only_some_ && !is_wanted(address)) return;
    ThreadReport report;
    report.java = read_java_thread(inspection_.objects(), address);
    report.native_id = report.java.native_id;
    // The thread whose stack pointer lies in its stack: kernel ids may be of another pid namespace.
    const auto own = registers_.lower_bound(report.java.stack_base - report.java.stack_size);
    if (own != registers_.end() && report.java.has_stack_address(own->first)) {
      report.registers = own->second.registers;
      report.cpu_ns = own->second.cpu_ns;
      if (process_ && options_.details) add_kernel_facts(*process_, own->second.tid, report);
      registers_.erase(own);
    }
    if (options_.native && mixed_ && report.registers) report.walk = mixed_->walk(report.java, *report.registers);
    else if (java_) report.walk = java_->walk(report.java, report.registers ? &*report.registers : nullptr);
    leave_out_pending(report);
    snapshot_.threads.push_back(std::move(report));
  }
  // A frame that waits to enter a monitor has it in its list of locks already.
  void leave_out_pending(ThreadReport& report) const {
    if (report.java.pending_monitor == 0) return;
    const auto wanted = inspection_.objects().root_field(report.java.pending_monitor, "ObjectMonitor", "_object");
    const auto first = std::find_if(report.walk.frames.begin(), report.walk.frames.end(),
                                    [](const Frame& frame) { return frame.method != nullptr; });
    if (wanted && first != report.walk.frames.end()) std::erase(first->locks, *wanted);
  }
  bool is_wanted(Address address) const {
    const Address base = java_stack_base(inspection_.vm(), address).value_or(0);
    const auto above = registers_.lower_bound(base);  // stacks do not overlap: the nearest below the base is its own
    if (above == registers_.begin()) return false;
    const Address size = java_stack_size(inspection_.vm(), address).value_or(0);
    return base - std::prev(above)->first <= size;
  }
  void add_other_thread(const ThreadRegisters& thread) {
    ThreadReport report;
    report.native_id = thread.tid;
    report.cpu_ns = thread.cpu_ns;
    report.registers = thread.registers;
    if (process_ && options_.details) add_kernel_facts(*process_, thread.tid, report);
    else if (process_) report.name = name_of(thread.tid);
    if (options_.native && mixed_) report.walk = mixed_->walk(report.java, thread.registers);
    snapshot_.threads.push_back(std::move(report));
  }
  // Looked up once: threads of the VM keep their names.
  const std::string& name_of(pid_t tid) {
    auto& known = comms_[tid];
    if (known.empty()) known = process_->read_proc("task/" + std::to_string(tid) + "/comm").value_or("?");
    if (known.ends_with('\n')) known.pop_back();
    return known;
  }
  void count_problems() {
    const auto broken = std::count_if(snapshot_.threads.begin(), snapshot_.threads.end(), [](const auto& report) {
      return report.java.address != 0 && (report.walk.incomplete() || !report.java.problem.empty());
    });
    if (broken > 0) snapshot_.missing.push_back(std::to_string(broken) + " threads could not be read to the end");
    const auto torn = std::count_if(snapshot_.virtual_threads.begin(), snapshot_.virtual_threads.end(),
                                    [](const VirtualThread& thread) { return thread.walk.incomplete(); });
    if (torn > 0) snapshot_.missing.push_back(std::to_string(torn) + " virtual threads could not be read to the end");
  }

  Inspection& inspection_;
  const SnapshotOptions options_;
  const target::Process* process_;
  Result<const CodeCache*> code_;                 // read before the stop, which shall not wait for it
  std::map<Address, ThreadRegisters> registers_;  // of threads not yet told, by sp
  std::optional<JavaWalker> java_;
  std::optional<NativeNames> names_;
  std::optional<NativeUnwinder> native_;
  std::optional<MixedWalker> mixed_;
  std::map<pid_t, std::string> comms_;
  bool only_some_ = false;
  ThreadSnapshot snapshot_;
};

ThreadSampler::ThreadSampler(Inspection& inspection, const SnapshotOptions& options)
    : impl_(std::make_unique<Impl>(inspection, options)) {}
ThreadSampler::~ThreadSampler() = default;

Result<ThreadSnapshot> ThreadSampler::take(std::span<const pid_t> tids) { return impl_->take(tids); }

Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, const SnapshotOptions& options) {
  return ThreadSampler(inspection, options).take();
}

}  // namespace jtrace::coreinspect
