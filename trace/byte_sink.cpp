#include "trace/byte_sink.h"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace jtrace::trace {

ByteSink::ByteSink(std::size_t buffer_size)
    : buffer_(new char[buffer_size]), capacity_(buffer_size), cursor_(buffer_.get()), limit_(cursor_) {}

Result<> ByteSink::write(std::string_view record) {
  char* room = reserve(record.size());
  if (room == nullptr) return result();
  std::memcpy(room, record.data(), record.size());
  commit(record.size());
  return {};
}

Result<> ByteSink::flush() {
  if (!error_) drain_buffer();
  return result();
}

void ByteSink::begin_closing() {
  closing_ = true;
  open_reserve();
  if (error_ && is_full(*error_)) error_.reset();
}

Result<> ByteSink::finish() {
  closing_ = true;
  // Accepted bytes must be written, even if the sink was full.
  std::optional<Error> first;
  if (error_ && is_full(*error_)) std::swap(first, error_);
  if (!error_) drain_buffer();
  if (!error_) {
    if (Result<> done = complete(); !done) stop(std::move(done).error());
  }
  if (!error_) std::swap(first, error_);
  return result();
}

Result<std::uint64_t> ByteSink::promise(std::uint64_t, std::uint64_t, bool) {
  return std::numeric_limits<std::uint64_t>::max();
}

// The slow path of reserve(): drains, grows, asks the destination for more, as needed.
char* ByteSink::make_room(std::size_t size) {
  if (error_) return nullptr;
  if (buffered() + size > capacity_) {
    if (!drain_buffer()) return nullptr;
    if (size > capacity_) grow(size);
  }
  return get_promise(size) ? cursor_ : nullptr;
}

// The buffer is empty.
void ByteSink::grow(std::size_t size) {
  buffer_.reset(new char[size]);
  capacity_ = size;
  cursor_ = limit_ = buffer_.get();
}

Result<> ByteSink::check_room(std::size_t size) {
  if (error_) return result();
  const std::uint64_t least = bytes_written() + size;
  if (least > promised_) {
    const std::uint64_t wished = std::max(least, drained_ + capacity_);
    JTRACE_ASSIGN_OR_RETURN(promised_, promise(least, wished, closing_));
  }
  limit_ = buffer_.get() + std::min<std::uint64_t>(capacity_, promised_ - drained_);
  return {};
}

bool ByteSink::get_promise(std::size_t size) {
  Result<> room = check_room(size);
  if (!room && packs() && buffered() != 0) {
    if (!drain_buffer()) return false;
    room = check_room(size);
  }
  if (!room) stop(std::move(room).error());
  return room.has_value();
}

bool ByteSink::drain_buffer() {
  const std::string_view records(buffer_.get(), buffered());
  if (records.empty()) return true;
  Result<> done = drain(records);
  const std::uint64_t taken = drained_ + records.size();
  drained_ = done ? taken : held();
  lost_ += taken - drained_;
  cursor_ = limit_ = buffer_.get();
  if (!done || packs()) promised_ = drained_;
  if (!done) stop(std::move(done).error());
  return done.has_value();
}

void ByteSink::stop(Error error) {
  error_ = std::move(error);
  limit_ = cursor_;
}

bool is_full(const Error& error) {
  return error.category == ErrorCategory::kPartial || error.errnum == ENOSPC || error.errnum == EDQUOT ||
         error.errnum == EFBIG;
}

Result<> MemorySink::drain(std::string_view records) {
  text_ += records;
  return {};
}

// A descriptor that poll() reports as writable takes PIPE_BUF bytes without blocking (pipe(7)); a regular file always
// does.
Result<std::size_t> ByteSink::write_some(int fd, std::string_view bytes, const std::string& name) {
  constexpr int kSlice = 100;       // ms
  constexpr int kReaderGrace = 20;  // slices
  for (int slices = 0; give_up_;) {
    pollfd room{fd, POLLOUT, 0};
    if (::poll(&room, 1, kSlice) != 0) break;
    if (give_up_() && ++slices > kReaderGrace)
      return fail(ErrorCategory::kTimeout, "cannot write " + name + ": its reader does not read");
  }
  struct stat info {};
  if (give_up_ && (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) bytes = bytes.substr(0, PIPE_BUF);
  for (;;) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) {
      // Another process made the descriptor non-blocking (a shared terminal): waits for room.
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return fail(system_error("cannot write", name));
    }
  }
}

Result<> FdSink::drain(std::string_view records) {
  while (!records.empty()) {
    JTRACE_ASSIGN_OR_RETURN(const std::size_t count, write_some(fd_, records, name_));
    records.remove_prefix(count);
    held_ += count;
  }
  return {};
}

}  // namespace jtrace::trace
