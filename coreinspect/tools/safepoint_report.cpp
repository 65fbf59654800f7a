#include "coreinspect/tools/safepoint_report.h"

#include <sys/stat.h>

#include <algorithm>

#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/handshake_watch.h"
#include "coreinspect/tools/profile.h"
#include "coreinspect/tools/safepoint_watch.h"

namespace jtrace::coreinspect {
namespace {

constexpr double kSecond = 1e9;

class Reporter {
 public:
  Reporter(Inspection& inspection, const SafepointOptions& options)
      : inspection_(inspection), options_(options), process_(inspection.target().process()), watch_(inspection) {}

  SafepointReport run() {
    const auto& safepoints = watch_.safepoints();
    const auto& operations = watch_.operations();
    if (safepoints) report_.state_found_by = safepoints->found_by();
    else report_.missing.push_back(safepoints.error().message());
    if (!operations) report_.missing.push_back(operations.error().message());
    const auto now = watch_.run();
    report_.locker = read_gc_locker(inspection_.vm(), watch_.symbols(), [this] { return watch_.is_quiet(); });
    report_handshakes();
    if (!now) {
      report_.missing.push_back(now.error().message());
      return std::move(report_);
    }
    report_.known = safepoints.has_value();
    report_.lasting = watch_.lasting();
    report_.state = now->look.state;
    report_.number = now->look.number;
    if (report_.state != SafepointState::kNone) report_.waiting = now->look.waiting;
    report_operation(*now);
    report_begin(*now);
    if (report_.state == SafepointState::kSynchronizing && report_.lasting) report_late_threads(*now);
    add_frames();
    return std::move(report_);
  }

 private:
  void report_operation(const SafepointMoment& now) {
    if (!now.operation) return;
    report_.operation = now.operation;
    report_.operation_found_by = watch_.operations()->found_by();
    report_.operation_name = watch_.operations()->name(*now.operation);
    if (report_.operation_name.empty())
      report_.missing.push_back("the name of the VM operation: its vtable has no symbol");
    report_.requester = name_of(now.operation->requester, now.look);
  }
  std::string name_of(Address thread, const SafepointLook& look) {
    if (thread == 0) return "";
    auto known = look.threads;
    if (!watch_.safepoints())
      if (const auto all = java_thread_addresses(inspection_.vm()))
        for (const Address each : *all) known[each] = 0;
    if (known.contains(thread)) return ThreadReader(inspection_).read(thread).name;
    if (thread == watch_.operations()->vm_thread()) return "VM Thread";
    const KernelThread* found = watch_.kernel_threads().of(thread);
    return found ? found->name : "";
  }

  void report_begin(const SafepointMoment& now) {
    if (now.is_quiet() || !process_ || !report_.lasting) return;
    const auto begin = now.look.begin_ns;
    if (report_.state != SafepointState::kNone && begin && *begin > 0 && *begin <= now.ns && has_our_clock()) {
      report_.since = static_cast<double>(now.ns - *begin) / kSecond;
      report_.since_found_by = watch_.safepoints()->begin_found_by();
      return;
    }
    report_.since = static_cast<double>(now.ns - watch_.first_ns()) / kSecond;
    report_.since_found_by = "two looks";
    report_.at_least = true;
  }
  // In another time namespace CLOCK_MONOTONIC has an offset (time_namespaces(7)).
  bool has_our_clock() const {
    struct stat theirs = {}, ours = {};
    if (::fstatat(process_->proc_fd(), "ns/time", &theirs, 0) != 0 || ::stat("/proc/self/ns/time", &ours) != 0)
      return true;  // a kernel without such namespaces
    return theirs.st_ino == ours.st_ino;
  }

  void report_late_threads(const SafepointMoment& now) {
    ThreadReader reader(inspection_);
    for (const auto& [address, state] : watch_.late())
      report_.late.push_back(late_thread(reader, address, now.look.threads.at(address), watch_.facts_before(address)));
    leave_out_arrived();
    for (const LateThread& each : report_.late)
      if (!each.java.problem.empty()) report_.missing.push_back("of a late thread: " + each.java.problem);
  }
  LateThread late_thread(ThreadReader& reader, Address address, int state, const KernelFacts& before) const {
    LateThread late{.java = reader.read(address)};
    late.java.vm_state = state;
    late.tid = watch_.kernel_threads().tid_of(address);
    late.why = why_late(state);
    if (late.tid != 0) {
      late.kernel = read_kernel_facts(*process_, late.tid);
      late.why = why_late(state, before, *late.kernel);
    }
    return late;
  }

  void report_handshakes() {
    const HandshakeWatch watch(inspection_, watch_.symbols(), watch_.kernel_threads(), watch_.operations());
    report_.handshakes_known = watch.handshakes().has_value();
    ThreadReader reader(inspection_);
    for (const WatchedHandshake& each : watch.run()) {
      LateHandshake late{.number = each.handshake.operation,
                         .name = each.handshake.name,
                         .requester = name_of_thread(each.handshake.requester),
                         .all = each.handshake.target == 0};
      late.since = static_cast<double>(each.ns - each.first_ns) / kSecond;
      for (const auto& [address, state] : each.late) {
        const auto before = each.before.find(address);
        late.late.push_back(
            late_thread(reader, address, state, before == each.before.end() ? KernelFacts() : before->second));
      }
      report_.handshakes.push_back(std::move(late));
    }
  }
  std::string name_of_thread(Address thread) {
    const auto all = java_thread_addresses(inspection_.vm());
    if (all && std::find(all->begin(), all->end(), thread) != all->end())
      return ThreadReader(inspection_).read(thread).name;
    const KernelThread* found = watch_.kernel_threads().of(thread);
    return found ? found->name : "";
  }

  // The VM Thread has the lock that arrived threads wait for as long as others are in Java.
  void leave_out_arrived() {
    constexpr int kInVm = 6;
    if (!inspection_.vm().quirks().arrived_thread_is_in_vm) return;
    const auto in_vm = [](const LateThread& each) { return each.java.vm_state == kInVm; };
    if (std::all_of(report_.late.begin(), report_.late.end(), in_vm)) return;
    std::erase_if(report_.late, [&](const LateThread& each) {
      return in_vm(each) && (!each.kernel || waits_for_lock(*each.kernel));
    });
  }

  // All that are late, for the safepoint or for a handshake.
  std::vector<LateThread*> all_late() {
    std::vector<LateThread*> all;
    for (LateThread& each : report_.late) all.push_back(&each);
    for (LateHandshake& handshake : report_.handshakes)
      for (LateThread& each : handshake.late) all.push_back(&each);
    return all;
  }
  void add_frames() {
    const std::vector<LateThread*> all = all_late();
    if (all.empty()) return;
    if (!process_ || options_.stop) return add_frames_at_stop(all);
    const auto code = inspection_.code();
    if (!code) return;
    const JavaWalker walker(inspection_.methods(), inspection_.objects(), **code);
    for (LateThread* late : all)
      if (const auto at = target::registers_if_blocked(*process_, late->tid))
        add_frame(*late, walker.walk(late->java, &*at));
  }
  void add_frames_at_stop(const std::vector<LateThread*>& all) {
    std::vector<pid_t> tids;
    for (const LateThread* each : all)
      if (each->tid != 0) tids.push_back(each->tid);
    if (process_ && tids.empty()) return;  // an empty list means all threads
    ThreadSampler sampler(inspection_,
                          {.max_stop = options_.max_stop, .virtual_threads = false, .details = false, .locks = false});
    const auto snapshot = sampler.take(tids);
    if (!snapshot) {
      report_.missing.push_back(snapshot.error().with_context("the frames of late threads").message());
      return;
    }
    report_.pause = snapshot->pause;
    for (LateThread* late : all)
      for (const ThreadReport& each : snapshot->threads)
        if (each.java.address == late->java.address) add_frame(*late, each.walk);
  }
  void add_frame(LateThread& late, const Walk& walk) {
    const auto top =
        std::find_if(walk.frames.begin(), walk.frames.end(), [](const Frame& each) { return each.method != nullptr; });
    if (top == walk.frames.end()) return;
    late.frame = frame_name(*top);
    const int line = top->method->is_native() ? -1 : top->method->line_of(top->bci);
    if (line >= 0 && !top->method->source_file.empty())
      late.frame += "(" + top->method->source_file + ":" + std::to_string(line) + ")";
    late.code = to_string(top->kind);
    const auto code = inspection_.code();
    const auto blob = code ? (*code)->find(top->pc) : Result<std::optional<CodeBlob>>(std::nullopt);
    if (blob && *blob && (*blob)->is_nmethod() && (*blob)->comp_level > 0)
      late.code = (*blob)->comp_level == 4 ? "compiled by C2" : "compiled by C1";
  }

  Inspection& inspection_;
  const SafepointOptions& options_;
  const target::Process* process_;
  SafepointWatch watch_;
  SafepointReport report_;
};

}  // namespace

SafepointReport report_safepoint(Inspection& inspection, const SafepointOptions& options) {
  return Reporter(inspection, options).run();
}

}  // namespace jtrace::coreinspect
