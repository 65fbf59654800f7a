// Helpers for long work on a heap: the output of a heap dump, the progress, and Ctrl-C without a partial file.
#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "coreinspect/tools/heap_options.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// The file appears when it is complete, compressed if its name ends in .gz or .zst. "-" is standard output, except a
// terminal.
Result<std::unique_ptr<trace::ByteSink>> open_heap_dump(const std::string& path);

// While it lives, SIGINT, SIGTERM and SIGHUP end the work of `options.progress` as an error and do not end the process.
// Work that takes longer than a second shows its progress on stderr, if that is a terminal.
class HeapProgress {
 public:
  explicit HeapProgress(coreinspect::HeapOptions& options);
  ~HeapProgress();
  HeapProgress(const HeapProgress&) = delete;
  HeapProgress& operator=(const HeapProgress&) = delete;

 private:
  bool show(std::uint64_t done, std::uint64_t all);
  sigset_t before_{};
  UniqueFd signals_;
  std::uint64_t started_, drawn_ = 0;
  const bool terminal_;
};

}  // namespace jtrace::cli
