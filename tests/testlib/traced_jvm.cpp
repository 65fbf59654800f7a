#include "tests/testlib/traced_jvm.h"

#include "tests/testlib/must.h"
#include "tests/testlib/trace_calls.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {

namespace {

void expect(const ::testing::AssertionResult& holds, const char* file, int line) {
  if (!holds) ADD_FAILURE_AT(file, line) << holds.message();
}

}  // namespace

// The value, or the end of the test with the state of the JVM, which may be the cause.
template <class T>
T TracedJvm::take(Result<T> result, const char* file, int line) const {
  if (!result && !jvm_->alive())
    end_test(result.error().message() + "; the JVM has ended: " + jvm_->err() + jvm_->crash_report().substr(0, 6000),
             file, line);
  return must(std::move(result), file, line);
}

TracedJvm::TracedJvm(const Jdk& jdk, std::string_view app, const Words& arguments, const char* file, int line)
    : TracedJvm(jdk, app, arguments, attachable(jdk), file, line) {}

TracedJvm::TracedJvm(const Jdk& jdk, std::string_view app, const Words& arguments, const JvmOptions& options,
                     const char* file, int line)
    : jvm_(must(JvmProcess::start(jdk, app, options), file, line)) {
  run_ = take(TraceRun::start(jvm_->pid(), arguments), file, line);
}

std::string TracedJvm::ask(std::string_view command, const char* file, int line) {
  return must(jvm_->ask(command), file, line);
}

void TracedJvm::ask_each(const Words& commands, const char* file, int line) {
  for (const std::string& command : commands) ask(command, file, line);
}

long TracedJvm::sum_of(const std::string& key, const Words& commands, const char* file, int line) {
  long sum = 0;
  for (const std::string& command : commands) sum += value_in(ask(command, file, line), key);
  return sum;
}

std::string TracedJvm::ctl(Words words, const char* file, int line) {
  words.insert(words.begin(), {"ctl", pid_text()});
  const CommandOutput done = take(run_jtrace(words), file, line);
  if (done.status != 0)
    end_test("jtrace ctl PID " + words.at(2) + " ended with status " + std::to_string(done.status) + ": " + done.err,
             file, line);
  return done.out;
}

void TracedJvm::wait_rewritten(std::size_t times, const char* file, int line) {
  if (const auto is_rewritten = rewritten(*run_, times); !is_rewritten) end_test(is_rewritten.message(), file, line);
}

void TracedJvm::stop(int want, const char* file, int line) { take(run_->stop(want), file, line); }

int TracedJvm::wait_exit(const char* file, int line) { return take(command().wait_exit(), file, line); }

TraceDocument TracedJvm::document(const char* file, int line) const { return take(run_->document(), file, line); }

TraceDocument TracedJvm::finish(int want, const char* file, int line) {
  stop(want, file, line);
  return document(file, line);
}

TraceDocument TracedJvm::finish_valid(int want, const char* file, int line) {
  TraceDocument trace = finish(want, file, line);
  expect_valid(trace, file, line);
  return trace;
}

void TracedJvm::expect_valid(const TraceDocument& document, const char* file, int line) const {
  expect(none(document.faults()), file, line);
  expect(valid(path()), file, line);
}

}  // namespace jtrace::test
