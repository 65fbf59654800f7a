// The two files of Dynamic Attach: one makes a HotSpot JVM listen, the other is its socket. Both are opened relative to
// descriptors of their directories.
//
//   .attach_pid<P>   the trigger: the JVM looks in its current directory, then in its temporary directory
//   .java_pid<P>     the socket: in its temporary directory, renamed to this name once it listens
//
// P is the JVM's own pid. The temporary directory is /tmp on Linux whatever TMPDIR says (os_linux.cpp,
// get_temp_directory), the value of -XX:AltTempDir if a JVM has that flag, or the directory to which the JVM is bound
// according to the kernel. Ownership: owns its descriptors, borrows the process. Threads: const functions from any
// thread.
#pragma once

#include <chrono>
#include <string>

#include "attach/waiter.h"
#include "base/result.h"
#include "target/process.h"

namespace jtrace::attach {

class Rendezvous {
 public:
  // Errors: the root or the temporary directory cannot be opened.
  static Result<Rendezvous> locate(const target::Process& process);

  // The socket file (O_PATH), checked: a socket, owned by the JVM's user, closed to others. An empty descriptor if
  // there is none, or if there is a plain file of the JVM's user (which the JVM replaces). Errors: kPermission,
  // possible impostor.
  Result<UniqueFd> open_socket() const;
  // Removes a socket without a listener; only one of the JVM's user, and only if it is still the file of `socket`.
  Result<> remove_stale(int socket) const;

  // True if the JVM listens, but its socket file was deleted: SIGQUIT with a trigger then makes it listen anew
  // (JDK-8225690).
  bool socket_was_deleted() const;

  const std::string& socket_path() const { return socket_path_; }    // as the JVM sees it
  const std::string& trigger_name() const { return trigger_name_; }  // ".attach_pid<P>"
  int temporary_directory() const { return temporary_.get(); }
  const std::string& temporary_path() const { return temporary_path_; }
  const target::Process& process() const { return *process_; }

 private:
  const target::Process* process_ = nullptr;
  UniqueFd temporary_;
  std::string temporary_path_;
  std::string socket_name_;
  std::string socket_path_;
  std::string trigger_name_;
};

// Connects to the file of `socket` as the JVM's user, and checks by SO_PEERCRED that the listener is the process
// itself. Blocks while the listener's backlog is full, up to the deadline (ETIMEDOUT). Errors: errnum ECONNREFUSED if
// no process listens; kPermission if another process listens.
Result<UniqueFd> connect_to(int socket, const Rendezvous& rendezvous, const Waiter& waiter);

// The trigger file; the destructor removes it if this client made it.
//
// A JVM that listens already answers SIGQUIT with a thread dump, so only one of several clients may send it: the one
// that made the file. The others wait for the socket. A file that is older than a second belongs to a dead client, and
// is taken over.
class Trigger {
 public:
  // Makes it in the temporary directory, otherwise in the current one: a starting JVM changes to its hsperfdata folder
  // and back (perfMemory_posix.cpp, open_directory_secure_cwd), and would not find a file in its current directory
  // then. Errors: kNotAttachable with both paths and reasons; kPermission if a file of another user is in the way and
  // cannot be removed.
  static Result<Trigger> make(const Rendezvous& rendezvous);
  Trigger(Trigger&& other) noexcept = default;
  Trigger& operator=(Trigger&&) = delete;
  ~Trigger();

  // Whether this client may send the signal. Becomes true when a file of another client has become old.
  bool ours();
  bool exists() const;

 private:
  Trigger(UniqueFd directory, const target::Process& process, std::string name, bool ours)
      : directory_(std::move(directory)), process_(&process), name_(std::move(name)), ours_(ours) {}

  UniqueFd directory_;
  const target::Process* process_;
  std::string name_;
  bool ours_;
};

}  // namespace jtrace::attach
