// Opens a trace in any format that has a reader; recognised by its first bytes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/io/byte_source.h"
#include "trace/io/event_source.h"

namespace jtrace::trace::io {

// A format whose reader is in a folder above this one.
struct FormatReader {
  std::function<bool(std::string_view first_bytes)> recognises;
  std::function<Result<std::unique_ptr<EventSource>>(std::unique_ptr<ByteSource>, const std::string& name, FaultLog&)>
      open;
};

struct OpenOptions {
  bool strict = false;
  bool expat_only = false;                                                        // XML only
  bool repair_utf8 = false;                                                       // XML only
  std::function<void(std::uint64_t consumed, std::uint64_t size)> progress = {};  // compressed bytes
  std::vector<FormatReader> more = {};
};

// `faults`: borrowed. Errors: those of the path; kMalformed if no reader has the format.
Result<std::unique_ptr<EventSource>> open_event_source(const std::string& path, FaultLog& faults,
                                                       const OpenOptions& options = {});
// `name` is used in messages.
Result<std::unique_ptr<EventSource>> make_event_source(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                                       FaultLog& faults, const OpenOptions& options = {});

}  // namespace jtrace::trace::io
