#include "target/process_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "target/bytes_read.h"
#include "target/page_set.h"

namespace jtrace::target {
namespace {

std::atomic<std::uint64_t> bytes_read{0};

std::size_t counted_bytes(ssize_t count) {
  bytes_read.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
  return static_cast<std::size_t>(count);
}

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

std::uint64_t bytes_read_of_processes() { return bytes_read.load(std::memory_order_relaxed); }

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
  std::vector<Part> parts;
  parts.reserve(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) parts.push_back({places[i], out.subspan(i * size, size)});
  read_parts(parts);
}

void ProcessMemory::read_parts(std::span<const Part> parts) const {
  constexpr std::size_t kMostAtATime = 512;  // of the 1024 of IOV_MAX
  if (record_)
    for (const Part& part : parts) note(part.start, part.into.size());
  std::vector<iovec> remote, local;
  while (!parts.empty()) {
    remote.clear();
    local.clear();
    std::size_t size = 0;
    for (const Part& part : parts.first(std::min(parts.size(), kMostAtATime))) {
      remote.push_back({reinterpret_cast<void*>(part.start), part.into.size()});
      local.push_back({part.into.data(), part.into.size()});
      size += part.into.size();
    }
    const ssize_t count =
        use_mem_ ? -1 : ::process_vm_readv(process_.pid(), local.data(), local.size(), remote.data(), remote.size(), 0);
    std::size_t left = counted_bytes(std::max<ssize_t>(count, 0));
    const bool is_whole = left == size;
    for (; !parts.empty() && parts.front().into.size() <= left; parts = parts.subspan(1))
      left -= parts.front().into.size();
    if (is_whole) continue;
    // The place at which the call stopped.
    const auto into = parts.front().into;
    std::ranges::fill(into.subspan(fetch(parts.front().start, into).value_or(0)), std::byte{0});
    parts = parts.subspan(1);
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
    if (count > 0) return counted_bytes(count);
    errnum = count < 0 ? errno : EFAULT;
    if (errnum == ENOSYS || errnum == EPERM) use_mem_.store(static_cast<bool>(mem_), std::memory_order_relaxed);
    if (!use_mem_) return fail(unreadable(process_, address, errnum));
  }
  const ssize_t count = ::pread(mem_.get(), out.data(), out.size(), static_cast<off_t>(address));
  if (count > 0) return counted_bytes(count);
  // A read of 0 bytes means that the address space is gone: the process has ended.
  return fail(unreadable(process_, address, count < 0 ? errno : ESRCH));
}

}  // namespace jtrace::target
