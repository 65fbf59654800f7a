#include "target/process_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "target/page_set.h"

namespace jtrace::target {
namespace {

Error unreadable(const Process& process, Address address, int errnum) {
  Error error = system_error(errnum, "cannot read the memory of process " + std::to_string(process.pid()));
  error.address = address;
  if (errnum == EFAULT || errnum == EIO) {
    error.category = ErrorCategory::kMalformed;  // nothing is mapped there: a bad address, not a fault of the system
    error.text = "no readable memory in process " + std::to_string(process.pid());
    error.errnum = 0;
  }
  if (errnum == ESRCH) {
    error.category = ErrorCategory::kNotFound;
    error.text = "process " + std::to_string(process.pid()) + " has ended, or is ending: its memory is gone";
    error.errnum = 0;
  }
  if (errnum == EPERM || errnum == EACCES)
    error.help = "run as the process's user (kernel.yama.ptrace_scope 0) or as root";
  return error;
}

}  // namespace

ProcessMemory::ProcessMemory(const Process& process, PageSet* record)
    : process_(process),
      pages_(process),
      record_(record),
      mem_(::openat(process.proc_fd(), "mem", O_RDONLY | O_CLOEXEC)) {}

void ProcessMemory::note(Address address, std::size_t size) const {
  if (!record_) return;
  const std::lock_guard lock(record_mutex_);
  record_->add(address, address + size);
}

void ProcessMemory::skip_untouched(bool skip) const {
  pages_.forget();
  skip_untouched_ = skip;
}

std::uint64_t ProcessMemory::resident(Address start, Address end) const {
  std::uint64_t bytes = 0;
  for (const PageRun& run : pages_.to_read(start, end)) bytes += run.end - run.start;
  return bytes;
}

Result<std::size_t> ProcessMemory::read_some(Address address, std::span<std::byte> out) const {
  note(address, out.size());
  if (out.size() < ResidentPages::kSmallGap || !skip_untouched_) return fetch(address, out);
  const Address end = address + out.size();
  Address done = address;
  const auto part = [&](Address from, Address to) { return out.subspan(from - address, to - from); };
  for (const PageRun& run : pages_.to_read(address, end)) {
    std::ranges::fill(part(done, run.start), std::byte{0});
    done = run.start;
    while (done < run.end) {
      const auto count = fetch(done, part(done, run.end));
      if (!count && done == address) return fail(count.error());
      if (!count) return static_cast<std::size_t>(done - address);
      done += *count;
    }
  }
  std::ranges::fill(part(done, end), std::byte{0});
  return out.size();
}

void ProcessMemory::read_each(std::span<const Address> places, std::size_t size, std::span<std::byte> out) const {
  constexpr std::size_t kMostAtATime = 512;  // of the 1024 of IOV_MAX
  if (record_)
    for (const Address place : places) note(place, size);
  std::vector<iovec> remote;
  for (std::size_t next = 0; next < places.size();) {
    const auto rest = out.subspan(next * size);
    remote.clear();
    for (const Address place : places.subspan(next, std::min(places.size() - next, kMostAtATime)))
      remote.push_back({reinterpret_cast<void*>(place), size});
    const iovec local{rest.data(), remote.size() * size};
    const ssize_t count =
        use_mem_ ? -1 : ::process_vm_readv(process_.pid(), &local, 1, remote.data(), remote.size(), 0);
    const std::size_t whole = count > 0 ? static_cast<std::size_t>(count) / size : 0;
    next += whole;
    if (whole == remote.size()) continue;
    // The place at which the call stopped.
    const auto piece = out.subspan(next * size, size);
    if (const auto alone = fetch(places[next], piece); !alone || *alone < size) std::ranges::fill(piece, std::byte{0});
    ++next;
  }
}

Result<std::size_t> ProcessMemory::fetch(Address address, std::span<std::byte> out) const {
  if (out.empty()) return std::size_t{0};
  int errnum = EPERM;
  if (!use_mem_.load(std::memory_order_relaxed)) {
    // process_vm_readv uses the pid: the caller must rule out that the process has ended (Process::has_exited).
    const iovec local{out.data(), out.size()};
    const iovec remote{reinterpret_cast<void*>(address), out.size()};
    const ssize_t count = ::process_vm_readv(process_.pid(), &local, 1, &remote, 1, 0);
    if (count > 0) return static_cast<std::size_t>(count);
    errnum = count < 0 ? errno : EFAULT;
    if (errnum == ENOSYS || errnum == EPERM) use_mem_.store(static_cast<bool>(mem_), std::memory_order_relaxed);
    if (!use_mem_) return fail(unreadable(process_, address, errnum));
  }
  const ssize_t count = ::pread(mem_.get(), out.data(), out.size(), static_cast<off_t>(address));
  if (count > 0) return static_cast<std::size_t>(count);
  // A read of 0 bytes means that the address space is gone: the process has ended.
  return fail(unreadable(process_, address, count < 0 ? errno : ESRCH));
}

}  // namespace jtrace::target
