// One request: its connection, and the reply as it arrives.
//
// The JVM may write from inside a safepoint, so the socket is read as fast as it delivers: into memory, and beyond
// `memory_limit` into an unlinked file. Nothing here waits for the reader of the result. Ownership: owns the connection
// and the file. Threads: one exchange, one thread.
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
  std::string data;        // the whole data, or its beginning if `spool` has the whole
  UniqueFd spool = {};     // an unlinked file, from offset 0
  std::uint64_t size = 0;  // of the data, bytes
  bool cut = false;        // the JVM ended during the reply: `size` bytes of it arrived

  // Writes the data to `fd`.
  Result<> write_to(int fd, std::string_view path) const;
};

class Exchange {
 public:
  // Takes a connection on which the request was sent. Borrows `process`.
  Exchange(UniqueFd connection, const target::Process& process, std::size_t memory_limit)
      : connection_(std::move(connection)), process_(&process), memory_limit_(memory_limit) {}

  int fd() const { return connection_.get(); }
  std::uint64_t received() const { return reply_.size; }
  // Reads the available bytes without waiting; true when the reply has ended. Errors: as AttachSession::execute; those
  // of the spool file.
  Result<bool> advance();
  // Returns the reply; only after advance() returned true.
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
  std::uint64_t bytes_ = 0;  // including the line with the code
};

// Sends all of `request` on a connection. Errors: kTimeout, kSystem (EPIPE: the listener closed it).
Result<> send_request(int connection, std::string_view request, const Waiter& waiter);

}  // namespace jtrace::attach
