// FakeAgent: a process of its own that speaks the agent's side of the control channel and writes into the pool as an
// agent does, under the test's command.
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/unique_fd.h"
#include "trace/record/layout.h"

namespace jtrace::session {

class FakeAgent {
 public:
  // What the agent does between Started and Detach: runs in the child with the mapped pool; false: it ends at once.
  using Work = std::function<bool(const trace::record::Pool& pool)>;

  explicit FakeAgent(Work work);
  ~FakeAgent();
  // What it answers to the n-th Count: 10 n calls of one method, and one of a method that is not defined.
  static constexpr std::uint64_t kCountedMethod = 7;
  static constexpr std::uint64_t kUnknownMethod = 99;

  pid_t pid() const { return pid_; }
  UniqueFd take_socket() { return std::move(socket_); }  // jtrace's end
  void kill();
  // The exit status of the child, when it has ended.
  int wait();

 private:
  [[noreturn]] static void run(int socket, const Work& work);

  pid_t pid_ = -1;
  UniqueFd socket_;
};

}  // namespace jtrace::session
