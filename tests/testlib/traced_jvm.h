// TracedJvm: a program of tests/apps in a JVM that `jtrace attach` traces. Most live tests use it.
//
//   TracedJvm jvm(GetParam(), "Workload", {"--events", "threads"});  // given this program, traced so,
//   jvm.ask("threads 5");                                            // which does this:
//   const TraceDocument trace = jvm.finish_valid();                  // its document is sound, and has these events
//   EXPECT_EQ(count_by_thread(trace, "threadEnd", "worker-"), 5);
//
// Each failure ends the test at the test's own line, as must() does, with the command that failed, its stderr, and the
// crash report of the JVM if there is one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/testlib/jvm_process.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_document.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {

// The line of the call in a test: the default arguments of a function are evaluated at the place of the call.
#define JTRACE_CALLED_FROM const char *file = __builtin_FILE(), int line = __builtin_LINE()

class TracedJvm {
 public:
  using Words = std::vector<std::string>;

  // Starts the program, with flags that allow an attach, and the trace with these arguments of `jtrace attach`; returns
  // when it traces.
  explicit TracedJvm(const Jdk& jdk, std::string_view app, const Words& arguments = {}, JTRACE_CALLED_FROM);
  // The same with these options for the JVM, for example attachable(jdk, flags).
  TracedJvm(const Jdk& jdk, std::string_view app, const Words& arguments, const JvmOptions& options,
            JTRACE_CALLED_FROM);

  // Sends the command to the program; returns its answer without "OK ".
  std::string ask(std::string_view command, JTRACE_CALLED_FROM);
  void ask_each(const Words& commands, JTRACE_CALLED_FROM);
  // The sum of the numbers after "KEY=" in the answers.
  long sum_of(const std::string& key, const Words& commands, JTRACE_CALLED_FROM);

  // `jtrace ctl PID WORD...`, which must end with status 0; its stdout.
  std::string ctl(Words words, JTRACE_CALLED_FROM);
  // Waits until the trace has reported `times` times that the classes are rewritten: its callouts are in the code.
  void wait_rewritten(std::size_t times = 1, JTRACE_CALLED_FROM);
  // Ends the trace by SIGINT, as Ctrl-C does; expects this status.
  void stop(int want = 0, JTRACE_CALLED_FROM);
  // Waits for a trace that ends by itself; returns its status.
  int wait_exit(JTRACE_CALLED_FROM);
  // The document as it stands now.
  TraceDocument document(JTRACE_CALLED_FROM) const;
  // stop() and document().
  TraceDocument finish(int want = 0, JTRACE_CALLED_FROM);
  // The same, and checks the document: ids, order, balance and times (TraceDocument::faults), and the JDK's own parser.
  // A fault fails the test, which continues.
  TraceDocument finish_valid(int want = 0, JTRACE_CALLED_FROM);
  // These two checks for a given document.
  void expect_valid(const TraceDocument& document, JTRACE_CALLED_FROM) const;

  JvmProcess& process() { return *jvm_; }
  pid_t pid() const { return jvm_->pid(); }
  std::string pid_text() const { return jvm_->pid_text(); }
  std::string out() const { return jvm_->out(); }  // of the JVM
  std::string err() const { return jvm_->err(); }  // of the JVM

  TraceRun& run() { return *run_; }
  BackgroundCommand& command() { return run_->command(); }  // the jtrace
  const std::string& path() const { return run_->path(); }  // of the document

 private:
  template <class T>
  T take(Result<T> result, const char* file, int line) const;

  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<TraceRun> run_;  // after jvm_: it ends first
};

}  // namespace jtrace::test
