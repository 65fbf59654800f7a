// ByteSink: a buffered destination of bytes. Writers put whole records into it (a line, a block); none is cut in two
// when the sink has to stop.
//
//   char* room = sink.reserve(n);      null after an error, see status()
//   ... fill at most n bytes ...
//   sink.commit(used);                 these bytes are one or more whole records
//
// Errors are sticky. A destination that is full (disk, --max-size, --min-free) reports it BEFORE it takes a record:
// reserve() returns null, status() has the reason, and everything taken until then is or will be written.
// begin_closing() then opens the reserve (kClosingReserve bytes that were kept free all the time) for the end of the
// document and clears the error. If the file system cannot keep room free (no fallocate), the file is cut back to the
// end of a record to make that room; lost_bytes() counts the bytes that had been taken and were cut off.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::trace {

inline constexpr std::size_t kSinkBufferSize = 1u << 20;
inline constexpr std::size_t kClosingReserve = 64u << 10;

class ByteSink {
 public:
  explicit ByteSink(std::size_t buffer_size = kSinkBufferSize);
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;

  // Returns at least `size` writable bytes after the committed ones, or null. Valid until the next call of any member.
  char* reserve(std::size_t size) {
    if (size <= static_cast<std::size_t>(limit_ - cursor_)) [[likely]]
      return cursor_;
    return make_room(size);
  }
  // Commits the first `size` of the reserved bytes.
  void commit(std::size_t size) { cursor_ += size; }

  // Writes one whole record.
  Result<> write(std::string_view record);
  // Passes everything taken so far to the destination.
  Result<> flush();
  // Asks the destination to take `size` bytes more than it has been given. As for reserve(), but a refusal is only
  // returned: it does not stop the sink.
  Result<> check_room(std::size_t size);
  // Opens the reserve if the destination is full (otherwise nothing happens). An error with another cause stays.
  void begin_closing();
  // Flushes and completes the destination (a temporary file gets its name). Call it once, also after an error, which it
  // returns.
  Result<> finish();

  // A reader that does not read (pipe, FIFO, socket) blocks a write. Meanwhile `give_up` is called ten times a second;
  // two seconds after it first returned true, the sink stops with kTimeout. Without it a write waits for ever.
  virtual void set_give_up(std::function<bool()> give_up) { give_up_ = std::move(give_up); }

  // The error that stopped the sink, or null.
  const Error* status() const { return error_ ? &*error_ : nullptr; }
  Result<> result() const { return error_ ? Result<>(fail(*error_)) : Result<>(); }
  // Bytes taken and not lost, including buffered ones.
  std::uint64_t bytes_written() const { return drained_ + buffered(); }
  std::uint64_t lost_bytes() const { return lost_; }

 protected:
  // The offset up to which the destination takes bytes without failing: at least `least`, at best `wished`. An error
  // (is_full() is true for it) if `least` cannot be guaranteed. With `closing` the reserve may be used.
  virtual Result<std::uint64_t> promise(std::uint64_t least, std::uint64_t wished, bool closing);
  // Takes all of `records`, or returns the reason for not taking them; held() then returns how much it has.
  virtual Result<> drain(std::string_view records) = 0;
  // The number of bytes that the destination has.
  virtual std::uint64_t held() const = 0;
  virtual Result<> complete() { return {}; }
  // begin_closing() for a destination that is a sink itself.
  virtual void open_reserve() {}
  // True if drained records become smaller: then draining makes room, and a promise holds for one drain only.
  virtual bool packs() const { return false; }
  // One write(2) of a part of `bytes`; returns how much was written. `name` is used in errors.
  Result<std::size_t> write_some(int fd, std::string_view bytes, const std::string& name);

 private:
  std::size_t buffered() const { return static_cast<std::size_t>(cursor_ - buffer_.get()); }
  char* make_room(std::size_t size);
  bool drain_buffer();
  void grow(std::size_t size);
  bool get_promise(std::size_t size);
  void stop(Error error);

  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_;
  char* cursor_;  // end of the committed bytes
  char* limit_;   // end of what may be reserved: of the buffer, or of the bytes that the destination guarantees to take
  std::uint64_t drained_ = 0;   // offset of the buffer's first byte in the destination
  std::uint64_t promised_ = 0;  // the destination takes everything up to this offset
  std::uint64_t lost_ = 0;
  bool closing_ = false;
  std::function<bool()> give_up_;
  std::optional<Error> error_;
};

// True for the errors after which begin_closing() helps: no space, quota, size limits.
bool is_full(const Error& error);

// A sink into a string of its own.
class MemorySink final : public ByteSink {
 public:
  using ByteSink::ByteSink;
  // The flushed bytes: call flush() first.
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }  // after flush()

 private:
  Result<> drain(std::string_view records) override;
  std::uint64_t held() const override { return text_.size(); }
  std::string text_;
};

// A sink into a descriptor: pipe, socket, terminal, standard output.
class FdSink final : public ByteSink {
 public:
  // Borrows `fd`; `name` is used in errors.
  FdSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  FdSink(UniqueFd fd, std::string name) : owned_(std::move(fd)), fd_(owned_.get()), name_(std::move(name)) {}

 private:
  Result<> drain(std::string_view records) override;
  std::uint64_t held() const override { return held_; }
  UniqueFd owned_;
  int fd_;
  std::string name_;
  std::uint64_t held_ = 0;
};

}  // namespace jtrace::trace
