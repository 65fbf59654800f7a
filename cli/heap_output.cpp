#include "cli/heap_output.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "cli/inspect_common.h"
#include "cli/stop_signals.h"
#include "trace/io/compress_sink.h"

namespace jtrace::cli {

Result<std::unique_ptr<trace::ByteSink>> open_heap_dump(const std::string& path) {
  if (path == "-" && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorCategory::kUsage, "a heap dump is not for a terminal", "-o FILE.hprof, or - for a pipe");
  JTRACE_ASSIGN_OR_RETURN(auto sink, open_whole_output(path));
  return trace::io::compressing(std::move(sink), trace::io::compression_of_name(path));
}

HeapProgress::HeapProgress(coreinspect::HeapOptions& options)
    : started_(monotonic_ns()), terminal_(::isatty(STDERR_FILENO) != 0) {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  if (auto signals = stop_signals()) signals_ = std::move(*signals);
  options.progress = [this](std::uint64_t done, std::uint64_t all) { return show(done, all); };
}

HeapProgress::~HeapProgress() {
  if (drawn_ > 0) std::fputs("\r\033[K", stderr);
  if (!signals_) return;
  outlive_stop_signals(before_);
}

bool HeapProgress::show(std::uint64_t done, std::uint64_t all) {
  signalfd_siginfo signal{};
  if (signals_ && ::read(signals_.get(), &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) return false;
  const std::uint64_t now = monotonic_ns();
  if (!terminal_ || all == 0 || now - started_ < kNanosPerSecond || now - drawn_ < kNanosPerSecond / 5) return true;
  drawn_ = now;
  std::fprintf(stderr, "\r%3u %% of %llu MiB", static_cast<unsigned>(done * 100 / all),
               static_cast<unsigned long long>(all >> 20));
  return true;
}

}  // namespace jtrace::cli
