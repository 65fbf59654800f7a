// Takes the ids of another user for a short time, in one thread.
//
// HotSpot accepts a client whose effective uid and gid are its own (JDK 11 and later: or root's); JDK 8 accepts no
// other, not even root. Files made in a container with another user namespace must belong to an id that exists there.
// Therefore a privileged tool takes the target's ids while it makes a file or connects. Only the ids of the calling
// thread change (by the raw system calls; glibc's wrappers would change every thread's).
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace jtrace::attach {

class ScopedCredentials {
 public:
  // Takes effective `uid` and `gid`; does nothing if the thread has them already. kPermission if that is not allowed;
  // the ids are then unchanged.
  static Result<ScopedCredentials> become(uid_t uid, gid_t gid);
  // As become(), but root that may not switch stays root: JDK 11 and later accept it too.
  static Result<ScopedCredentials> become_or_stay_root(uid_t uid, gid_t gid);

  ScopedCredentials(ScopedCredentials&& other) noexcept;
  ScopedCredentials& operator=(ScopedCredentials&&) = delete;
  ~ScopedCredentials();  // restores the thread's own ids; ends the program if the kernel refuses

  bool switched() const { return switched_; }

 private:
  ScopedCredentials() = default;

  bool switched_ = false;
  uid_t uid_ = 0;  // to restore
  gid_t gid_ = 0;
  int dumpable_ = 1;
};

}  // namespace jtrace::attach
