#include "target/process_copy.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/free_memory.h"
#include "base/size_text.h"
#include "base/strings.h"
#include "target/copy_plan.h"
#include "target/native_registers.h"
#include "target/process_memory.h"
#include "target/stat_line.h"
#include "target/stop_threads.h"
#include "target/vector_registers.h"

namespace jtrace::target {
namespace {

constexpr std::uint64_t kSpare = 64u << 20;  // bytes that stay free on this machine
constexpr std::uint64_t kProbe = 4u << 20;   // bytes read to learn how fast they come
constexpr std::uint64_t kBatch = 4u << 20;   // bytes between two looks at the clock
constexpr std::size_t kBatchRuns = 512;      // of the 1024 of IOV_MAX

unsigned workers() { return std::clamp(std::thread::hardware_concurrency(), 1u, 4u); }

}  // namespace

// Memory of this process for the copy. It grows, and its pages can be made ready before they are filled.
class ProcessCopy::Room {
 public:
  Room() = default;
  Room(const Room&) = delete;
  ~Room() {
    if (start_) ::munmap(start_, size_);
  }

  Result<> grow(std::uint64_t size) {
    if (size <= size_) return {};
    void* at = start_
                   ? ::mremap(start_, size_, size, MREMAP_MAYMOVE)
                   : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return fail(system_error("no memory for a copy of " + size_text(size)));
    start_ = static_cast<std::byte*>(at);
    size_ = size;
    ::madvise(start_, size_, MADV_HUGEPAGE);
    return {};
  }
  // As far as the kernel has it (Linux 5.14).
  void make_ready() { ::madvise(start_, size_, MADV_POPULATE_WRITE); }
  std::byte* at(std::uint64_t offset) { return start_ + offset; }
  std::uint64_t size() const { return size_; }

 private:
  std::byte* start_ = nullptr;
  std::uint64_t size_ = 0;
};

ProcessCopy::ProcessCopy() = default;
ProcessCopy::ProcessCopy(ProcessCopy&&) noexcept = default;
ProcessCopy& ProcessCopy::operator=(ProcessCopy&&) noexcept = default;
ProcessCopy::~ProcessCopy() = default;

std::uint64_t ProcessCopy::bytes() const {
  std::uint64_t sum = 0;
  for (const CoreRange& range : ranges_)
    if (!range.bytes.empty()) sum += range.size();
  return sum;
}

std::span<std::byte> ProcessCopy::memory() { return {rooms_[0]->at(0), rooms_[0]->size()}; }

bool ProcessCopy::is_of_memory(std::span<const std::byte> bytes) const {
  const std::byte* const start = rooms_[0]->at(0);
  return bytes.data() >= start && bytes.data() < start + rooms_[0]->size();
}

class ProcessCopier {
 public:
  ProcessCopier(const Process& process, const CopyOptions& options)
      : process_(process), options_(options), memory_(process), pagemap_(process), plan_(process, options) {
    copy_.rooms_.push_back(std::make_unique<ProcessCopy::Room>());
    copy_.rooms_.push_back(std::make_unique<ProcessCopy::Room>());
  }

  Result<ProcessCopy> take() {
    JTRACE_RETURN_IF_ERROR(prepare());
    JTRACE_RETURN_IF_ERROR(stop_and_copy());
    JTRACE_RETURN_IF_ERROR(read_files());
    describe_threads();
    JTRACE_RETURN_IF_ERROR(describe_process());
    make_ranges();
    return std::move(copy_);
  }

 private:
  ProcessCopy::Room& memory_room() { return *copy_.rooms_[0]; }
  ProcessCopy::Room& file_room() { return *copy_.rooms_[1]; }

  // Refuses before anybody is stopped what would not fit, or take too long.
  Result<> prepare() {
    JTRACE_RETURN_IF_ERROR(plan_.look());
    const std::uint64_t began = monotonic_ns();
    JTRACE_ASSIGN_OR_RETURN(const auto mappings, process_.maps());
    plan_.make(mappings, {});
    const std::chrono::nanoseconds planning(monotonic_ns() - began);
    const std::uint64_t size = plan_.memory_bytes(), free = free_memory();
    if (size + plan_.file_bytes() + kSpare > free)
      return fail(ErrorCategory::kRefused,
                  "a copy of " + size_text(size + plan_.file_bytes()) + " is needed, of which this machine has " +
                      size_text(free) + " free",
                  options_.pages ? "" : "--small keeps what the views of threads, locks and classes need");
    const auto estimate = planning + estimated_copy(size);
    if (estimate > options_.max_stop) return fail(too_long(size, estimate));
    JTRACE_RETURN_IF_ERROR(memory_room().grow(size + size / 16 + kProbe));
    memory_room().make_ready();
    return {};
  }

  std::chrono::nanoseconds estimated_copy(std::uint64_t size) const {
    std::vector<std::byte> bytes(kProbe);
    std::uint64_t read = 0;
    const std::uint64_t began = monotonic_ns();
    for (const CopyRun& run : plan_.memory_runs()) {
      if (read == kProbe) break;
      const std::uint64_t count = std::min(run.end - run.start, kProbe - read);
      read += memory_.read_some(run.start, std::span(bytes).first(count)).value_or(0);
    }
    if (read < kProbe) return {};
    const double each = static_cast<double>(monotonic_ns() - began) / static_cast<double>(read);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(each * static_cast<double>(size) / workers()));
  }

  Error too_long(std::uint64_t size, std::chrono::nanoseconds estimate) const {
    const std::string ms = std::to_string(estimate.count() / 1'000'000 + 1);
    return {.category = ErrorCategory::kRefused,
            .text = "the process would be stopped for about " + ms + " ms while " + size_text(size) +
                    " are copied, which is longer than the " + std::to_string(options_.max_stop.count()) +
                    " ms that are allowed",
            .help = "--max-stop allows more; --small takes a fraction of it"};
  }

  Result<> stop_and_copy() {
    JTRACE_ASSIGN_OR_RETURN(auto stopped, StoppedThreads::stop(process_, options_.max_stop));
    JTRACE_ASSIGN_OR_RETURN(auto mappings, process_.maps());
    std::vector<Address> stack_pointers;
    for (const ThreadRegisters& thread : stopped.threads()) stack_pointers.push_back(thread.registers.sp());
    plan_.make(mappings, stack_pointers);
    copy_.process_.mappings = std::move(mappings);
    JTRACE_RETURN_IF_ERROR(memory_room().grow(plan_.memory_bytes()));
    copy_registers(stopped);
    const bool whole = copy_memory(stopped) && copy_shared(stopped);
    copy_.stopped_for_ = stopped.release();
    if (whole) return {};
    const double part =
        static_cast<double>(done_) / static_cast<double>(std::max<std::uint64_t>(plan_.memory_bytes(), 1));
    Error error =
        too_long(plan_.memory_bytes(), std::chrono::nanoseconds(static_cast<std::int64_t>(
                                           static_cast<double>(copy_.stopped_for_.count()) / std::max(part, 0.01))));
    error.category = ErrorCategory::kTimeout;
    return fail(std::move(error));
  }

  void copy_registers(const StoppedThreads& stopped) {
    for (const ThreadRegisters& each : stopped.threads())
      copy_.process_.threads.push_back(
          {.registers = each, .floats = register_set(each.tid, NT_PRFPREG, 4u << 10), .vectors = vector_set(each.tid)});
    for (const HeldThread& held : stopped.held())
      copy_.missing_.push_back("the registers of thread " + std::to_string(held.tid) + ": " + describe_tracer(held) +
                               " holds it");
  }

  // False: the time was over.
  bool copy_memory(const StoppedThreads& stopped) {
    std::atomic<bool> in_time = true;
    std::atomic<std::size_t> next = 0;
    const auto& runs = plan_.memory_runs();
    const auto work = [&] {
      while (in_time) {
        std::size_t first = 0, last = 0;
        {
          const std::lock_guard lock(mutex_);
          first = next;
          std::uint64_t size = 0;
          for (last = first; last < runs.size() && last - first < kBatchRuns && size < kBatch; ++last)
            size += runs[last].end - runs[last].start;
          next = last;
        }
        if (first == last) return;
        copy_batch(std::span(runs).subspan(first, last - first));
        if (stopped.time_left().count() < 0) in_time = false;
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < workers() && plan_.memory_bytes() > 4 * kBatch; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return in_time || done_ >= plan_.memory_bytes();
  }

  // False: the time was over.
  bool copy_shared(const StoppedThreads& stopped) {
    std::map<std::pair<dev_t, ino_t>, UniqueFd> files;
    for (const FileRun& run : plan_.shared_runs()) {
      UniqueFd& file = files[{run.mapping.device, run.mapping.inode}];
      if (!file)
        if (auto opened = process_.open_mapped(run.mapping)) file = std::move(*opened);
      for (Address at = run.start; at < run.end; at += std::min(kBatch, run.end - at)) {
        if (stopped.time_left().count() < 0) return false;
        const std::span into(memory_room().at(run.offset + (at - run.start)), std::min(kBatch, run.end - at));
        if (!read_file(file.get(), run.mapping, at, into)) unreadable_ += into.size();
        done_ += into.size();
      }
    }
    return true;
  }

  // The bytes of a mapped file at `at`. After the end of the file there are zeros.
  bool read_file(int fd, const Mapping& mapping, Address at, std::span<std::byte> into) const {
    if (fd < 0) return static_cast<bool>(memory_.read_exactly(at, into));  // we may not open it; it is mapped
    const std::uint64_t from = mapping.offset + (at - mapping.start);
    for (std::size_t done = 0; done < into.size();) {
      const ssize_t count = ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(from + done));
      if (count <= 0) return count == 0;
      done += static_cast<std::size_t>(count);
    }
    return true;
  }

  // Runs that lie one after the other in the room are read at once.
  void copy_batch(std::span<const CopyRun> runs) {
    std::array<iovec, kBatchRuns> remote;
    for (std::size_t first = 0; first < runs.size();) {
      std::size_t count = 0;
      std::uint64_t size = 0;
      for (; first + count < runs.size() && runs[first + count].offset == runs[first].offset + size; ++count) {
        const CopyRun& run = runs[first + count];
        remote[count] = {reinterpret_cast<void*>(run.start), run.end - run.start};
        size += run.end - run.start;
      }
      const iovec local{memory_room().at(runs[first].offset), size};
      const ssize_t got = ::process_vm_readv(process_.pid(), &local, 1, remote.data(), count, 0);
      std::uint64_t left = got > 0 ? static_cast<std::uint64_t>(got) : 0;
      done_ += left;
      const std::size_t last = first + count;
      for (; first < last && left >= runs[first].end - runs[first].start; ++first)
        left -= runs[first].end - runs[first].start;
      if (first < last) copy_alone(runs[first++], left);
    }
  }

  // A run in which something cannot be read in the quick way.
  void copy_alone(const CopyRun& run, std::uint64_t from) {
    for (Address at = run.start + from; at < run.end;) {
      const std::span into(memory_room().at(run.offset + (at - run.start)), run.end - at);
      auto count = memory_.read_some(at, into);
      if (!count) {
        const std::uint64_t page = std::min(Pagemap::page_size() - at % Pagemap::page_size(), run.end - at);
        std::memset(into.data(), 0, page);
        if (!is_guard(at)) unreadable_ += page;
        count = page;
      }
      at += *count;
      done_ += *count;
    }
  }

  // A guard page of a stack (MADV_GUARD_INSTALL, as glibc has it from 2.42 on): it holds nothing.
  bool is_guard(Address at) const {
    bool guard = false;
    pagemap_.visit_entries(at, at + Pagemap::page_size(),
                           [&](const PageRun&, PageKind kind) { guard = guard || kind == PageKind::kGuard; });
    return guard;
  }

  Result<> read_files() {
    JTRACE_RETURN_IF_ERROR(file_room().grow(plan_.file_bytes()));
    for (const FileRun& run : plan_.file_runs()) {
      const std::span into(file_room().at(run.offset), run.end - run.start);
      const auto fd = process_.open_mapped(run.mapping);
      if (!read_file(fd ? fd->get() : -1, run.mapping, run.start, into)) unreadable_ += into.size();
    }
    return {};
  }

  // What /proc says of each: a little after the stop.
  void describe_threads() {
    const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    for (CoreThread& thread : copy_.process_.threads) {
      const std::string folder = "task/" + std::to_string(thread.registers.tid) + "/";
      if (const auto stat = process_.read_proc(folder + "stat")) {
        const StatLine line(*stat);
        thread.user_ns = line.number(StatLine::kUserTicks) * (1'000'000'000 / ticks);
        thread.system_ns = line.number(StatLine::kSystemTicks) * (1'000'000'000 / ticks);
      }
      const auto status = process_.read_proc(folder + "status");
      const auto ids = status ? parse_status(*status).nspid : std::vector<pid_t>();
      if (!ids.empty()) thread.registers.tid = ids.back();
    }
    // gdb and jhsdb take the first for the one to begin with.
    auto& threads = copy_.process_.threads;
    const auto main = std::find_if(threads.begin(), threads.end(),
                                   [&](const CoreThread& each) { return each.registers.tid == process_.nspid(); });
    if (main != threads.end()) std::rotate(threads.begin(), main, main + 1);
  }

  Result<> describe_process() {
    CoreProcess& to = copy_.process_;
    to.pid = process_.nspid();
    to.uid = process_.uid();
    to.gid = process_.gid();
    to.program = process_.comm();
    for (const std::string& word : process_.cmdline()) to.arguments += (to.arguments.empty() ? "" : " ") + word;
    for (Mapping& mapping : to.mappings) mapping.path = process_.path_inside(mapping.path);
    JTRACE_ASSIGN_OR_RETURN(to.auxiliary, process_.read_proc("auxv"));
    if (unreadable_ > 0)
      copy_.missing_.push_back(size_text(unreadable_) + " of memory could not be read: the core has zeros there");
    return {};
  }

  void make_ranges() {
    copy_.ranges_.reserve(plan_.ranges().size());
    for (const PlannedRange& planned : plan_.ranges()) {
      CoreRange range = planned.range;
      for (const PlannedBytes& part : planned.parts) {
        const std::byte* from = part.kind == PlannedBytes::kZeros  ? CopyPlan::zeros().data()
                                : part.kind == PlannedBytes::kFile ? file_room().at(part.offset)
                                                                   : memory_room().at(part.offset);
        range.bytes.emplace_back(from, part.size);
      }
      copy_.ranges_.push_back(std::move(range));
    }
  }

  const Process& process_;
  const CopyOptions& options_;
  ProcessMemory memory_;
  Pagemap pagemap_;
  CopyPlan plan_;
  ProcessCopy copy_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> done_ = 0, unreadable_ = 0;
};

Result<ProcessCopy> ProcessCopy::take(const Process& process, const CopyOptions& options) {
  return ProcessCopier(process, options).take();
}

}  // namespace jtrace::target
