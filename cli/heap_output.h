// Helpers for long work on a heap: where a heap dump goes, its
// progress, and an end by Ctrl-C that leaves no half file.
#pragma once

#include <signal.h>

#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "coreinspect/tools/heap_options.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// The file appears when it is whole; compressed where its name ends in .gz or .zst. "-" is standard output, but no
// terminal.
Result<std::unique_ptr<trace::ByteSink>> open_heap_dump(const std::string& path);

// While it lives, SIGINT, SIGTERM and SIGHUP end the work of `options.progress` as an error instead of the process, and
// progress is shown on stderr where that is a terminal and the work takes longer than a second.
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
