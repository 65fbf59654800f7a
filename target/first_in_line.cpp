#include "target/first_in_line.h"

#include <sys/resource.h>

#include <cerrno>

namespace jtrace::target {

FirstInLine::FirstInLine() {
  constexpr int kFirst = -20;
  errno = 0;
  const int before = ::getpriority(PRIO_PROCESS, 0);
  if (errno == 0 && before != kFirst && ::setpriority(PRIO_PROCESS, 0, kFirst) == 0) before_ = before;
}

FirstInLine::~FirstInLine() {
  if (before_) ::setpriority(PRIO_PROCESS, 0, *before_);
}

}  // namespace jtrace::target
