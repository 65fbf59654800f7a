#include "attach/credentials.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace jtrace::attach {
namespace {

constexpr long kKeep = -1;

bool set_effective_uid(uid_t uid) { return ::syscall(SYS_setresuid, kKeep, static_cast<long>(uid), kKeep) == 0; }
bool set_effective_gid(gid_t gid) { return ::syscall(SYS_setresgid, kKeep, static_cast<long>(gid), kKeep) == 0; }

Error wrong_user(uid_t uid, gid_t gid) {
  Error error{.category = ErrorCategory::kPermission};
  error.text = "the JVM runs as uid " + std::to_string(uid) + " gid " + std::to_string(gid) + ", you are uid " +
               std::to_string(::geteuid()) + " gid " + std::to_string(::getegid());
  error.help = "run as that user or root";
  return error;
}

}  // namespace

Result<ScopedCredentials> ScopedCredentials::become(uid_t uid, gid_t gid) {
  ScopedCredentials scope;
  scope.uid_ = ::geteuid();
  scope.gid_ = ::getegid();
  if (scope.uid_ == uid && scope.gid_ == gid) return scope;
  scope.dumpable_ = ::prctl(PR_GET_DUMPABLE);
  // The group first: without root's uid it can no longer be changed.
  if (scope.gid_ != gid && !set_effective_gid(gid)) return fail(wrong_user(uid, gid));
  scope.switched_ = true;
  if (scope.uid_ != uid && !set_effective_uid(uid)) return fail(wrong_user(uid, gid));
  return scope;
}

Result<ScopedCredentials> ScopedCredentials::become_or_stay_root(uid_t uid, gid_t gid) {
  auto scope = become(uid, gid);
  if (scope || ::geteuid() != 0) return scope;
  return ScopedCredentials();
}

ScopedCredentials::ScopedCredentials(ScopedCredentials&& other) noexcept
    : switched_(other.switched_), uid_(other.uid_), gid_(other.gid_), dumpable_(other.dumpable_) {
  other.switched_ = false;
}

ScopedCredentials::~ScopedCredentials() {
  if (!switched_) return;
  if (!set_effective_uid(uid_) || !set_effective_gid(gid_)) std::abort();
  ::prctl(PR_SET_DUMPABLE, dumpable_);  // a change of ids clears it (prctl(2))
}

}  // namespace jtrace::attach
