#include "coreinspect/tools/thread_snapshot.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/strings.h"
#include "target/elf_image.h"
#include "target/stop_threads.h"

namespace jtrace::coreinspect {
namespace {

using target::Mapping;
using target::ThreadRegisters;

constexpr std::uint64_t kMaxStackCopy = 1u << 20;
constexpr std::uint64_t kRedZone = 128;  // System V ABI, AMD64 3.2.2

struct Copied {
  Address start = 0;
  std::vector<std::byte> bytes;
};

// As much of [start, end) as can be read.
Copied copy_range(const target::MemoryReader& memory, Address start, Address end) {
  Copied copied{start, std::vector<std::byte>(end - start)};
  std::size_t done = 0;
  while (done < copied.bytes.size()) {
    const auto count = memory.read_some(start + done, std::span(copied.bytes).subspan(done));
    if (!count) break;
    done += *count;
  }
  copied.bytes.resize(done);
  return copied;
}

// Takes what changes quickly, while the threads stand still.
class Stop {
 public:
  Stop(Inspection& inspection, ThreadSnapshot& snapshot) : inspection_(inspection), snapshot_(snapshot) {}

  Result<std::vector<ThreadRegisters>> run(std::chrono::milliseconds max_stop) {
    const target::Process& process = *inspection_.target().process();
    CachedMemory& cache = *inspection_.vm().cached_memory();
    JTRACE_ASSIGN_OR_RETURN(const auto mappings, process.maps());
    JTRACE_ASSIGN_OR_RETURN(auto stopped, target::StoppedThreads::stop(process, max_stop));
    cache.forget();
    for (const ThreadRegisters& thread : stopped.threads()) {
      if (stopped.time_left().count() < 0) break;
      copy_stack(mappings, thread.registers.sp());
    }
    if (stopped.time_left().count() > 0) copy_java_threads();
    const bool late = stopped.time_left().count() < 0;
    auto threads = stopped.threads();
    snapshot_.pause = stopped.release();
    if (late) snapshot_.missing.push_back("the target was let go after --max-stop: some stacks were read while it ran");
    cache.forget();
    for (Copied& part : copied_) cache.overlay(part.start, std::move(part.bytes));
    return threads;
  }

 private:
  void copy_stack(const std::vector<Mapping>& mappings, Address sp) {
    const Mapping* mapping = target::find_mapping(mappings, sp);
    if (!mapping) return;
    const Address start = std::max(mapping->start, sp - kRedZone);
    const Address end = std::min(mapping->end, start + kMaxStackCopy);
    copied_.push_back(copy_range(inspection_.target().memory(), start, end));
  }
  void copy_java_threads() {
    const auto size = inspection_.vm().types().size_of("JavaThread");
    const auto addresses = java_thread_addresses(inspection_.vm());
    if (!size || !addresses || *size > 65536) return;
    for (Address address : *addresses)
      copied_.push_back(copy_range(inspection_.target().memory(), address, address + *size));
  }

  Inspection& inspection_;
  ThreadSnapshot& snapshot_;
  std::vector<Copied> copied_;
};

// Names of native code: one ELF image a mapped file.
class NativeNames {
 public:
  explicit NativeNames(const target::Target& target) : target_(target) {}

  Frame frame_at(const target::Registers& registers) {
    Frame frame{.kind = FrameKind::kNative, .pc = registers.pc(), .sp = registers.sp(), .fp = registers.fp()};
    const Mapping* mapping = target::find_mapping(target_.mappings(), frame.pc);
    if (!mapping || mapping->path.empty()) return frame;
    frame.module = mapping->file_name();
    frame.module_offset = mapping->offset + (frame.pc - mapping->start);
    const target::ElfImage* image = image_of(*mapping);
    if (!image) return frame;
    const auto vaddr = image->vaddr_of_offset(frame.module_offset);
    if (!vaddr) return frame;
    if (const target::ElfSymbol* symbol = image->symbol_at(*vaddr)) frame.name = symbol->name;
    return frame;
  }

 private:
  // Only a file that is the mapped one: same build id as the image in memory.
  const target::ElfImage* image_of(const Mapping& mapping) {
    const auto known = images_.find(mapping.path);
    if (known != images_.end()) return known->second.get();
    auto& image = images_[mapping.path];
    auto fd = target_.open_mapped(mapping);
    if (!fd) return nullptr;
    auto file = target::ElfImage::from_fd(std::move(*fd), mapping.path);
    if (!file) return nullptr;
    for (const Mapping& other : target_.mappings()) {
      if (other.path != mapping.path || other.offset != 0) continue;
      const auto loaded = target::LoadedImage::read(target_.memory(), other.start);
      if (loaded && loaded->build_id() != file->build_id()) return nullptr;
      break;
    }
    image = std::make_unique<target::ElfImage>(std::move(*file));
    return image.get();
  }

  const target::Target& target_;
  std::map<std::string, std::unique_ptr<target::ElfImage>> images_;
};

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

ThreadReport java_report(const Inspection& inspection, const Result<const CodeCache*>& code, Address address,
                         std::vector<ThreadRegisters>& threads, const target::Process* process) {
  ThreadReport report;
  report.java = read_java_thread(inspection.objects(), address);
  report.native_id = report.java.native_id;
  const auto own = std::find_if(threads.begin(), threads.end(), [&](const ThreadRegisters& thread) {
    return report.java.has_stack_address(thread.registers.sp());
  });
  if (own != threads.end()) {
    report.registers = own->registers;
    report.cpu_ns = own->cpu_ns;
    if (process) add_kernel_facts(*process, own->tid, report);
    threads.erase(own);
  }
  if (code)
    report.walk =
        JavaWalker(inspection.methods(), **code).walk(report.java, report.registers ? &*report.registers : nullptr);
  return report;
}

}  // namespace

Result<ThreadSnapshot> take_thread_snapshot(Inspection& inspection, std::chrono::milliseconds max_stop) {
  ThreadSnapshot snapshot;
  const target::Process* process = inspection.target().process();
  // What is needed later is read before: the stop shall not wait for it.
  const auto code = inspection.code();
  if (!code) snapshot.missing.push_back(code.error().message());
  std::vector<ThreadRegisters> threads;
  if (process) {
    JTRACE_ASSIGN_OR_RETURN(threads, Stop(inspection, snapshot).run(max_stop));
  } else {
    threads = inspection.target().core()->threads();
  }
  NativeNames names(inspection.target());
  if (const auto addresses = java_thread_addresses(inspection.vm())) {
    for (Address address : *addresses)
      snapshot.threads.push_back(java_report(inspection, code, address, threads, process));
  } else {
    snapshot.missing.push_back(addresses.error().with_context("cannot list the Java threads").message());
  }
  for (const ThreadRegisters& thread : threads) {
    ThreadReport report;
    report.native_id = thread.tid;
    report.cpu_ns = thread.cpu_ns;
    report.registers = thread.registers;
    if (process) add_kernel_facts(*process, thread.tid, report);
    snapshot.threads.push_back(std::move(report));
  }
  std::size_t broken = 0;
  for (ThreadReport& report : snapshot.threads) {
    const bool generated = code && report.registers && (*code)->contains(report.registers->pc());
    if (report.registers && !generated) report.top = names.frame_at(*report.registers);
    if (!report.walk.stopped.empty() || !report.java.problem.empty()) ++broken;
  }
  if (broken > 0) snapshot.missing.push_back(std::to_string(broken) + " threads could not be read to the end");
  return snapshot;
}

}  // namespace jtrace::coreinspect
