// Acting as another user for a moment, in one thread.
//
// HotSpot takes a client whose effective uid and gid are its own (JDK 11 and later: or root's); JDK 8 takes no other,
// not even root. Files made in a container of another user namespace must belong to an id that exists there. So a
// privileged tool takes the target's ids while it makes a file or connects. The ids of the calling thread alone change
// (the raw system calls; glibc's wrappers would change every thread's).
#pragma once

#include <sys/types.h>

#include "base/result.h"

namespace jtrace::attach {

class ScopedCredentials {
 public:
  // Takes effective `uid` and `gid`; nothing where they are ours already. Error kPermission where that is not allowed;
  // the ids are then unchanged.
  static Result<ScopedCredentials> become(uid_t uid, gid_t gid);
  // As become(), but root that may not switch stays root: JDK 11 and later take it as well.
  static Result<ScopedCredentials> become_or_stay_root(uid_t uid, gid_t gid);

  ScopedCredentials(ScopedCredentials&& other) noexcept;
  ScopedCredentials& operator=(ScopedCredentials&&) = delete;
  ~ScopedCredentials();  // the thread's own ids again; ends the program where the kernel refuses

  bool switched() const { return switched_; }

 private:
  ScopedCredentials() = default;

  bool switched_ = false;
  uid_t uid_ = 0;  // to restore
  gid_t gid_ = 0;
  int dumpable_ = 1;
};

}  // namespace jtrace::attach
