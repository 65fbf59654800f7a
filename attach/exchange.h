// One request on its way: the connection, and the reply as it comes in.
//
// The JVM may write from inside a safepoint, so the socket is drained as fast as it delivers: into memory, and beyond
// `memory_limit` into an unlinked file. Nothing here waits for whoever reads the result.
// Ownership: owns the connection and the file. Threads: one exchange, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "attach/protocol.h"
#include "attach/waiter.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::attach {

struct Reply {
  int code = 0;
  std::string data;        // all of it, or its beginning where `spool` has the whole
  UniqueFd spool = {};     // a file without a name, from offset 0
  std::uint64_t size = 0;  // of the data, bytes
  bool cut = false;        // the JVM ended before the reply did: `size` bytes of it were had

  // Writes the data to `fd`.
  Result<> write_to(int fd, std::string_view path) const;
};

class Exchange {
 public:
  // Takes a connection the request was sent on. Borrows `process`.
  Exchange(UniqueFd connection, const target::Process& process, std::size_t memory_limit)
      : connection_(std::move(connection)), process_(&process), memory_limit_(memory_limit) {}

  int fd() const { return connection_.get(); }
  std::uint64_t received() const { return reply_.size; }
  // Reads what is there without waiting; true when the reply has ended. Errors: as AttachSession::execute; the spool
  // file.
  Result<bool> advance();
  // The reply; only after advance() said true.
  Result<Reply> take();

 private:
  Result<> store(std::string_view data);
  Result<> spool(std::string_view data);
  Result<bool> end(int errnum);

  UniqueFd connection_;
  const target::Process* process_;
  std::size_t memory_limit_;
  ReplyParser parser_;
  Reply reply_;
  std::uint64_t bytes_ = 0;  // with the code's line
};

// All of `request` on a connection. Errors: kTimeout, kSystem (EPIPE: the listener closed it).
Result<> send_request(int connection, std::string_view request, const Waiter& waiter);

}  // namespace jtrace::attach
