// FakeAgent: a process that plays the agent: it uses the control channel and writes into the pool as a test tells it
// to.
#pragma once

#include <sys/types.h>

#include <functional>

#include "base/unique_fd.h"
#include "trace/record/layout.h"

namespace jtrace::session {

class FakeAgent {
 public:
  // The work between Started and Detach: called in the child with the mapped pool; false: the agent ends at once.
  using Work = std::function<bool(const trace::record::Pool& pool)>;

  explicit FakeAgent(Work work);
  ~FakeAgent();
  // Its answer to the n-th Count: 10 n calls of one method, and one call of a method that is not defined.
  static constexpr std::uint64_t kCountedMethod = 7;
  static constexpr std::uint64_t kUnknownMethod = 99;

  pid_t pid() const { return pid_; }
  UniqueFd take_socket() { return std::move(socket_); }  // jtrace's end
  void kill();
  // Waits for the child; its exit status.
  int wait();

 private:
  [[noreturn]] static void run(int socket, const Work& work);

  pid_t pid_ = -1;
  UniqueFd socket_;
};

}  // namespace jtrace::session
