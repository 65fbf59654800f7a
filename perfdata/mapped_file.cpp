#include "perfdata/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <cstring>
#include <mutex>

namespace jtrace::perfdata {
namespace {

namespace bip = boost::interprocess;

constexpr std::uintptr_t kPage = 4096;

// What this thread copies from just now.
struct Reading {
  std::uintptr_t start = 0, end = 0;
  volatile bool cut = false;
};
thread_local Reading t_reading;
struct sigaction g_before;

// The page that is no more in the file becomes one of zeros, so that the copy goes on; its reader is told.
void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (address >= t_reading.start && address < t_reading.end) {
    void* const page = reinterpret_cast<void*>(address & ~(kPage - 1));
    if (::mmap(page, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
      t_reading.cut = true;
      return;
    }
  }
  if ((g_before.sa_flags & SA_SIGINFO) != 0) return g_before.sa_sigaction(number, info, context);
  ::sigaction(SIGBUS, &g_before, nullptr);  // not ours: it comes again and does what it did
  if (info->si_code <= 0) ::raise(number);  // sent by somebody: it would not come again
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &g_before);
  });
}

// A descriptor as Boost.Interprocess takes it: its file_mapping would open the path itself, through symlinks.
struct Descriptor {
  int fd;
  bip::mapping_handle_t get_mapping_handle() const { return bip::ipcdetail::mapping_handle_from_file_handle(fd); }
};

}  // namespace

Result<MappedFile> MappedFile::map(const RegionFile& file) {
  install_handler();
  try {
    return MappedFile(bip::mapped_region(Descriptor{file.fd()}, bip::read_only, 0, file.facts().size), file.path());
  } catch (const bip::interprocess_exception& error) {
    return fail(system_error(error.get_native_error(), "cannot map", file.path()));
  }
}

Result<std::size_t> MappedFile::read_some(target::Address address, std::span<std::byte> out) const {
  const std::size_t size = region_.get_size();
  if (address >= size || *cut_) {
    Error error{.category = address >= size ? ErrorCategory::kMalformed : ErrorCategory::kNotFound,
                .text = address >= size ? "the file ends here" : "the file was cut while it was mapped"};
    error.path = path_;
    return fail(std::move(error));
  }
  const std::size_t count = std::min<std::size_t>(out.size(), size - address);
  const auto start = reinterpret_cast<std::uintptr_t>(region_.get_address());
  t_reading.start = start;
  t_reading.end = start + size;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(out.data(), static_cast<const std::byte*>(region_.get_address()) + address, count);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_reading.end = 0;
  if (t_reading.cut) {
    t_reading.cut = false;
    *cut_ = true;
    return read_some(address, out);
  }
  return count;
}

}  // namespace jtrace::perfdata
