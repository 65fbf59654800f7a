#include "dtrace/flag_users.h"

#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include <algorithm>

#include "base/file.h"

namespace jtrace::dtrace {
namespace {

constexpr std::string_view kFlags[] = {"DTraceMethodProbes", "DTraceAllocProbes", "DTraceMonitorProbes"};
constexpr int kTries = 1000;  // a millisecond apart

struct flock lock_of(int type, std::uint64_t place) {
  struct flock lock {};
  lock.l_type = static_cast<short>(type);
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(place);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<FlagUsers> FlagUsers::open(const Libjvm& libjvm, const target::Process& process) {
  FlagUsers users;
  // An open file description of its own, because the locks belong to it.
  JTRACE_ASSIGN_OR_RETURN(users.file_,
                          open_file("/proc/self/fd/" + std::to_string(libjvm.file.get()), O_RDONLY | O_CLOEXEC));
  // Ticks since boot (36 bits are 20 years), the JVM's own pid (22 bits: PID_MAX_LIMIT), the flag.
  const std::uint64_t start = process.start_ticks() & ((std::uint64_t{1} << 36) - 1);
  users.first_ = (start << 22 | static_cast<std::uint64_t>(process.nspid())) << 2;
  return users;
}

std::uint64_t FlagUsers::place_of(std::string_view flag) const {
  return first_ + static_cast<std::uint64_t>(std::find(std::begin(kFlags), std::end(kFlags), flag) - kFlags);
}

void FlagUsers::enter() const {
  for (int i = 0; i < kTries && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0; ++i) {
    const timespec moment{0, 1'000'000};
    ::nanosleep(&moment, nullptr);
  }
}
void FlagUsers::leave() const { ::flock(file_.get(), LOCK_UN); }

bool FlagUsers::has_others(std::uint64_t place) const {
  struct flock lock = lock_of(F_WRLCK, place);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
void FlagUsers::join(std::uint64_t place) const {
  struct flock lock = lock_of(F_RDLCK, place);
  ::fcntl(file_.get(), F_OFD_SETLK, &lock);
}
void FlagUsers::quit(std::uint64_t place) const {
  struct flock lock = lock_of(F_UNLCK, place);
  ::fcntl(file_.get(), F_OFD_SETLK, &lock);
}

}  // namespace jtrace::dtrace
