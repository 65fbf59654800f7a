// FileSink: a ByteSink into a file. Keeps room free in advance (fallocate beyond the end), so that a full disk is
// noticed before an event is taken, and the document can always be closed. One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "trace/byte_sink.h"

namespace jtrace::trace {

struct FileSinkOptions {
  // true: the file has its name from the beginning (a running trace). false: finish() gives it its name. Before, it has
  // none, so that nothing is left even by kill -9; where the file system cannot do that (O_TMPFILE), it is a hidden
  // file beside it, which is removed if finish() is not called or fails.
  bool visible_at_once = true;
  std::uint64_t max_size = 0;  // bytes; 0: no limit
  std::uint64_t min_free = 0;  // bytes that must stay free in the file system; 0: no limit
  std::size_t buffer_size = kSinkBufferSize;
  bool allocate = true;  // false: behaves as on a file system without fallocate(2)
};

// The file is created with mode 0600; an existing file is truncated and gets that mode, but one that another FileSink
// writes, of any process, is refused (kRefused). If the name is not a regular file (/dev/null, a FIFO), it is written
// to as it is. Reaching max_size or min_free is an error of category kPartial.
class FileSink final : public ByteSink {
 public:
  static Result<std::unique_ptr<FileSink>> create(const std::string& path, const FileSinkOptions& options = {});
  ~FileSink() override;
  const std::string& path() const { return path_; }
  // The bytes that a file with this limit reserves for its end; 0: no limit.
  static std::uint64_t closing_reserve(std::uint64_t max_size);

 private:
  FileSink(std::string path, const FileSinkOptions& options);
  Result<> open();
  Result<> open_visible();
  Result<> take_over();
  Result<> open_temporary();
  Result<> take_temporary_name();
  Result<> take_name();
  Result<> allocate_until(std::uint64_t end);
  Result<> check_free(std::uint64_t more) const;
  void cut_back();
  Result<std::uint64_t> promise(std::uint64_t least, std::uint64_t wished, bool closing) override;
  Result<> drain(std::string_view records) override;
  std::uint64_t held() const override { return size_; }
  Result<> complete() override;

  std::string path_;
  std::string temporary_;  // name while it is being written; "" if it has its own, or none
  bool nameless_ = false;
  FileSinkOptions options_;
  UniqueFd fd_;
  bool regular_ = true;
  std::uint64_t size_ = 0;                // bytes written
  std::uint64_t allocated_ = 0;           // room kept in the file system, up to this offset
  std::deque<std::uint64_t> boundaries_;  // ends of records, the first at least the reserve before size_ (cut_back)
};

}  // namespace jtrace::trace
