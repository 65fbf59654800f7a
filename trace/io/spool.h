// Spool: events as lines in an unlinked file, to be read again in another order. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "trace/byte_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {

class Spool {
 public:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
  };
  // `folder`: the file's directory. The file is deleted with the Spool, or with the process.
  static Result<std::unique_ptr<Spool>> create(const std::string& folder);

  // Writes the event as a fragment, a line with its newline.
  Result<Place> write(const Event& event);
  // Call it after the last write() and before read().
  Result<> finish();
  // Valid until the next call with the same `stream` (a small number: successive places of one stream are usually
  // adjacent).
  Result<std::string_view> read(Place place, std::size_t stream);
  std::uint64_t size() const { return bytes_->bytes_written(); }

 private:
  struct Window {
    std::uint64_t offset = 0;
    std::string bytes;
  };
  Spool(UniqueFd fd, std::string folder);

  UniqueFd fd_;
  std::string folder_;
  std::unique_ptr<FdSink> bytes_;
  std::unique_ptr<XmlWriter> writer_;
  std::vector<Window> windows_;
};

}  // namespace jtrace::trace::io
