#include "cli/diagnose_bundle.h"

#include <signal.h>

#include "base/log.h"
#include "cli/view_run.h"
#include "diagnose/bundle_parts.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {
namespace {

// A signal during the few milliseconds of the writing would leave its temporary file.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t ends;
    ::sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signal);
    ::sigprocmask(SIG_BLOCK, &ends, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

Result<> write_file(const std::string& path, const std::string& bytes) {
  const SignalsBlocked blocked;
  JTRACE_ASSIGN_OR_RETURN(const auto sink, open_whole_output(path));
  JTRACE_RETURN_IF_ERROR(sink->write(bytes));
  return sink->finish();
}

// 1 would say that something was found: a bundle that cannot be written is a missing part of the answer.
ExitStatus report_lack(const Error& error, int verdict) {
  const ExitStatus status = report(error);
  if (status != ExitStatus::kRefused) return status;
  return verdict == 0 ? ExitStatus::kPartial : static_cast<ExitStatus>(verdict);
}

}  // namespace

ExitStatus make_bundle(const DiagnoseArguments& arguments, diagnose::Collected& collected,
                       diagnose::BundleFrame frame) {
  const pid_t pid = static_cast<pid_t>(std::stol(collected.facts.target));
  const InspectArguments live = of_process(arguments, pid);
  frame.judged = collected.steps.size();
  diagnose::collect_parts(pid,
                          {.open = [live] { return open_inspection(live); },
                           .document = view_document,
                           .max_stop = arguments.inspect.max_stop,
                           .budget = arguments.budget,
                           .core = arguments.core},
                          collected);
  diagnose::leave_out_largest(collected);
  const auto bytes = diagnose::bundle_of(collected, frame);
  if (!bytes) return report_lack(bytes.error(), frame.status);
  if (const auto written = write_file(arguments.output, *bytes); !written)
    return report_lack(written.error(), frame.status);
  const auto missing = diagnose::missing_parts(collected, frame.judged);
  log_info(arguments.output + ": " + std::to_string((bytes->size() + 1023) >> 10) + " KiB");
  if (missing.empty()) return static_cast<ExitStatus>(frame.status);
  log_info("not in it: " + missing.front() +
           (missing.size() == 1 ? "" : "; and " + std::to_string(missing.size() - 1) + " more, see its SUMMARY.txt"));
  return frame.status == 0 ? ExitStatus::kPartial : static_cast<ExitStatus>(frame.status);
}

}  // namespace jtrace::cli
