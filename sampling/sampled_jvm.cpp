#include "sampling/sampled_jvm.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "coreinspect/tools/profile.h"

namespace jtrace::sampling {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;
using coreinspect::Walk;

// Of a thread that sleeps, bytes; of one whose stack's end is not known, because what follows it is not its own.
constexpr std::size_t kMostOfAStack = 256u << 10, kMostOfUnknown = 32u << 10;

void add_kernel_frames(const SampleRecord& sample, const KernelNames* kernel, Walk& walk) {
  if (!kernel || sample.kernel.empty()) return;
  const auto add = [&](std::uint64_t pc, const std::string& name) {
    walk.frames.push_back({.kind = FrameKind::kNative, .pc = pc, .name = name, .module = kKernelModule});
  };
  if (!kernel->known()) return add(sample.kernel[0], kKernelModule);
  for (std::size_t i = 0; i < sample.kernel.size(); ++i)
    add(sample.kernel[i], kernel->name_at(sample.kernel[i] - (i == 0 ? 0 : 1)) + "_[k]");
}

// Where a thread is in a system call: "202 0x1 ... SP PC" (proc_pid_syscall); nothing if it runs.
struct InCall {
  target::Address sp = 0, pc = 0;
};
std::optional<target::Address> parse_address(std::string_view text) {
  target::Address value = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<InCall> parse_call(std::string_view text) {
  const auto words = split(text.substr(0, text.find('\n')), ' ');
  if (words.size() < 3) return std::nullopt;
  const auto sp = parse_address(words[words.size() - 2]), pc = parse_address(words[words.size() - 1]);
  if (!sp || !pc || *sp == 0) return std::nullopt;
  return InCall{*sp, *pc};
}

// The function of the kernel in which it sleeps (proc_pid_wchan).
void add_kernel_function(const target::Process& process, pid_t tid, Walk& walk) {
  const auto name = process.read_proc("task/" + std::to_string(tid) + "/wchan");
  if (!name || name->empty() || *name == "0") return;
  walk.frames.insert(walk.frames.begin(),
                     Frame{.kind = FrameKind::kNative, .name = *name + "_[k]", .module = kKernelModule});
}

}  // namespace

Result<std::unique_ptr<SampledJvm>> SampledJvm::open(std::shared_ptr<coreinspect::Inspection> inspection) {
  JTRACE_RETURN_IF_ERROR(inspection->healthy());
  if (!inspection->target().process())
    return fail(ErrorCategory::kUsage, "a core does not run: it cannot be profiled", "jtrace stack CORE");
  JTRACE_ASSIGN_OR_RETURN(const coreinspect::CodeCache* code, inspection->code());
  JTRACE_ASSIGN_OR_RETURN(auto walker, coreinspect::CopiedStackWalker::open(*inspection));
  return std::unique_ptr<SampledJvm>(new SampledJvm(std::move(inspection), std::move(walker), *code));
}

coreinspect::ThreadReport SampledJvm::report_of(const SampleRecord& sample, const KernelNames* kernel,
                                                std::optional<MountedThread>* carried) {
  const target::Address sp = sample.has_registers ? sample.registers.sp() : 0;
  coreinspect::ThreadReport report = threads_.of(static_cast<pid_t>(sample.tid), sp);
  report.tid = static_cast<pid_t>(sample.tid);
  add_kernel_frames(sample, kernel, report.walk);
  if (!sample.has_registers) {
    report.walk.stopped = "it has no registers in user space any more";
    return report;
  }
  Walk user = walker_->walk_next(sample.registers, sp, sample.stack);
  for (Frame& frame : user.frames) report.walk.frames.push_back(std::move(frame));
  report.walk.stopped = std::move(user.stopped);
  report.walk.beyond = user.beyond;
  report.walk.native_bottom = user.native_bottom;
  Carried named = name_virtual_thread(sp, sample.stack, report);
  if (named.is_virtual && !named.thread) ++unnamed_;
  if (carried) *carried = std::move(named.thread);
  return report;
}

SampledJvm::Carried SampledJvm::name_virtual_thread(target::Address sp, std::span<const std::byte> stack,
                                                    coreinspect::ThreadReport& report) {
  Walk& walk = report.walk;
  const auto own = report.java.address == 0 ? std::nullopt : virtual_frames(walk);
  if (!own) return {};
  auto thread = mounted_thread(inspection_.objects(), walk, sp, stack);
  // What the chunks have is of now, and not of the sample.
  if (*own < walk.frames.size() && coreinspect::are_in_chunks(walk.frames[*own]))
    walk.stopped = "the frames further out of the virtual thread are in the heap";
  walk.frames.resize(*own);
  report.java.id = thread ? thread->id : 0;
  report.java.name = virtual_names_.root_of(thread);
  return {.is_virtual = true, .thread = std::move(thread)};
}

coreinspect::ThreadReport SampledJvm::without_stack(pid_t tid, std::string why) {
  coreinspect::ThreadReport report = threads_.of(tid, 0);
  report.tid = tid;
  report.walk.stopped = std::move(why);
  return report;
}

std::string SampledJvm::name_of(pid_t tid) {
  const std::string name = coreinspect::thread_label(threads_.of(tid, 0));
  return name.empty() ? "thread " + std::to_string(tid) : name;
}

std::map<pid_t, LockOwner> SampledJvm::owners_of(const std::map<pid_t, target::Address>& threads) {
  std::map<pid_t, LockOwner> owners;
  std::map<target::Address, pid_t> waiting;
  for (const auto& [tid, sp] : threads) {
    const coreinspect::JavaThread& java = threads_.of(tid, sp).java;
    if (locks_.may_have_owner(java.address)) waiting[java.address] = tid;
  }
  if (waiting.empty()) return owners;
  std::vector<target::Address> addresses;
  for (const auto& [address, tid] : waiting) addresses.push_back(address);
  for (auto& [address, owner] : locks_.look(addresses)) owners[waiting[address]] = std::move(owner);
  return owners;
}

ThreadMoment SampledJvm::moment_of(pid_t tid) const {
  const std::string folder = "task/" + std::to_string(tid) + "/";
  // The call first: two equal moments then mean that it has not run between the first call and the second status.
  ThreadMoment moment{.call = process().read_proc(folder + "syscall").value_or(""), .switches = {}};
  const auto status = process().read_proc(folder + "status");
  const std::size_t at = status ? status->find("voluntary_ctxt_switches") : std::string::npos;
  if (at != std::string::npos) moment.switches = status->substr(at);
  return moment;
}

SampledJvm::Look SampledJvm::look_at(pid_t tid) {
  ThreadMoment before = moment_of(tid);
  const auto call = parse_call(before.call);
  if (!call) return {.sleep = sleep_between(before, {}), .thread = {}, .moment = {}};
  refresh();
  coreinspect::ThreadReport report = threads_.of(tid, call->sp);
  report.tid = tid;
  if (report.java.address != 0) report.java = read_java_thread(inspection_.objects(), report.java.address);
  const std::vector<std::byte> stack = read_stack(report.java, call->sp);
  report.walk = walk_sleeper(report.java, call->sp, call->pc, stack);
  name_virtual_thread(call->sp, stack, report);
  add_kernel_function(process(), tid, report.walk);
  const Sleep sleep = sleep_between(before, moment_of(tid));
  return {.sleep = sleep, .thread = std::move(report), .moment = std::move(before)};
}

std::vector<std::byte> SampledJvm::read_stack(const coreinspect::JavaThread& thread, target::Address sp) {
  std::vector<std::byte> bytes(
      thread.has_stack_address(sp) ? std::min<std::size_t>(kMostOfAStack, thread.stack_base - sp) : kMostOfUnknown);
  bytes.resize(inspection_.vm().memory().read_available(sp, bytes));
  return bytes;
}

// Of its registers only sp and pc are known. That is enough where each frame has saved what its caller needs; otherwise
// the VM's own mark leads to the Java frames.
Walk SampledJvm::walk_sleeper(const coreinspect::JavaThread& thread, target::Address sp, target::Address pc,
                              std::span<const std::byte> stack) {
  const auto registers = target::Registers::at(target::kNativeIsa, pc, sp);
  Walk whole = walker_->walk_next(registers, sp, stack);
  if (!whole.incomplete() || thread.address == 0) return whole;
  Walk java = java_.walk(thread, nullptr);
  return java.frames.empty() ? whole : java;
}

}  // namespace jtrace::sampling
