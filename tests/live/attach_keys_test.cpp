// Keys on the terminal and signals of `jtrace attach`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <fstream>

#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;

constexpr int kPatience = 60'000;  // ms

// A command in the foreground of a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    int master = -1;
    pid_ = ::forkpty(&master, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    master_.reset(master);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  // Types the keys, then reads until `text` comes in new output.
  ::testing::AssertionResult type(std::string_view keys, std::string_view text) {
    if (::write(master_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size()))
      return ::testing::AssertionFailure() << "cannot type";
    return read_until(text);
  }
  ::testing::AssertionResult read_until(std::string_view text) {
    for (;;) {
      if (const std::size_t at = shown_.find(text, seen_); at != std::string::npos) {
        seen_ = at + text.size();
        return ::testing::AssertionSuccess();
      }
      pollfd output{master_.get(), POLLIN, 0};
      char bytes[4096];
      const ssize_t count = ::poll(&output, 1, kPatience) > 0 ? ::read(master_.get(), bytes, sizeof bytes) : 0;
      if (count <= 0) return ::testing::AssertionFailure() << "no '" << text << "' in:\n" << shown_;
      shown_.append(bytes, static_cast<std::size_t>(count));
    }
  }
  // Whether the terminal is in its original mode again: whole lines, with echo.
  bool is_itself() const {
    termios mode{};
    EXPECT_EQ(::tcgetattr(master_.get(), &mode), 0);
    return (mode.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
  }
  // Waits until the program ends or is stopped, and reads its output in the meantime.
  int wait(int options = 0) {
    int status = -1;
    for (int waited = 0; waited < kPatience; waited += 10) {
      if (::waitpid(pid_, &status, options | WNOHANG) == pid_) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) pid_ = -1;
        return status;
      }
      pollfd output{master_.get(), POLLIN, 0};
      char bytes[4096];
      if (::poll(&output, 1, 10) > 0)
        if (const ssize_t count = ::read(master_.get(), bytes, sizeof bytes); count > 0)
          shown_.append(bytes, static_cast<std::size_t>(count));
    }
    return status;
  }
  const std::string& shown() const { return shown_; }

 private:
  pid_t pid_ = -1;
  UniqueFd master_;
  std::string shown_;
  std::size_t seen_ = 0;
};

class AttachKeys : public ::testing::Test {
 protected:
  std::vector<std::string> attach(const JvmProcess& jvm) const {
    return {jtrace_binary(), "attach", jvm.pid_text(), "-o", path_, "--events", "threads", "--filters", rules_};
  }
  ScratchDir folder_{"jtrace-keys"};
  std::string path_ = folder_.file("trace.xml");
  std::string rules_ = folder_.file("rules");
};

TEST_F(AttachKeys, SteerTheTraceAndTheTerminalIsItselfAfterwards) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", attachable(*jdk)));
  std::ofstream(rules_) << "java.* exclude\n";
  OnTerminal jtrace(attach(*jvm));
  ASSERT_TRUE(jtrace.read_until("h lists the keys"));
  EXPECT_FALSE(jtrace.is_itself());
  EXPECT_TRUE(jtrace.type("h", "p pause, r resume, x stop, s start, f filters, w flush, c count, i status, q detach"));
  EXPECT_TRUE(jtrace.type("p", "pause: done"));
  EXPECT_TRUE(jtrace.type("i", "status: state=paused"));
  EXPECT_TRUE(jtrace.type("r", "resume: done"));
  EXPECT_TRUE(jtrace.type("w", "flush: bytes="));
  EXPECT_TRUE(jtrace.type("c", "count: this trace does not count calls"));
  EXPECT_TRUE(jtrace.type("f", "nothing: those of the file: "));
  EXPECT_TRUE(jtrace.is_itself()) << "while a line is typed";
  EXPECT_TRUE(jtrace.type("com.example.* include; * exclude\n", "filters: done"));
  EXPECT_FALSE(jtrace.is_itself());
  std::ofstream(rules_) << "javax.* exclude\n";
  EXPECT_TRUE(jtrace.type("f\n", "filters: done"));
  EXPECT_TRUE(jtrace.type("fno rule at all;\n", "filters: "));

  // Ctrl-Z and back.
  EXPECT_TRUE(jtrace.type("\x1a", ""));
  EXPECT_TRUE(WIFSTOPPED(jtrace.wait(WUNTRACED)));
  EXPECT_TRUE(jtrace.is_itself()) << "while it is stopped";
  ASSERT_EQ(::kill(jtrace.pid(), SIGCONT), 0);
  EXPECT_TRUE(jtrace.type("i", "status: state=tracing"));
  EXPECT_FALSE(jtrace.is_itself());

  EXPECT_TRUE(jtrace.type("x", "stop: done"));
  EXPECT_TRUE(jtrace.type("i", "status: state=stopped"));
  const std::string first = path_;
  auto document = must(TraceDocument::read(first));
  EXPECT_TRUE(none(document.faults()));
  std::vector<std::string> patterns;
  for (const TraceElement* each : document.all("filter")) patterns.push_back(each->get("pattern"));
  EXPECT_THAT(patterns, ::testing::ElementsAre("java.*", "com.example.*", "*", "javax.*"));
  EXPECT_THAT(document.option("jtrace.paused"), "false");
  EXPECT_TRUE(jtrace.type("q", "->"));
  EXPECT_EQ(jtrace.wait(), 0) << jtrace.shown();
  EXPECT_TRUE(jtrace.is_itself());
}

TEST_F(AttachKeys, TheTerminalIsItselfAfterASignal) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Idle", attachable(*jdk)));
  std::ofstream(rules_) << "";
  for (const int number : {SIGTERM, SIGQUIT, SIGABRT}) {
    OnTerminal jtrace(attach(*jvm));
    ASSERT_TRUE(jtrace.read_until("h lists the keys")) << number;
    EXPECT_FALSE(jtrace.is_itself());
    ASSERT_EQ(::kill(jtrace.pid(), number), 0);
    const int status = jtrace.wait();
    if (number == SIGABRT) {
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    } else {
      EXPECT_EQ(status, 0) << jtrace.shown();
    }
    EXPECT_TRUE(jtrace.is_itself()) << number;
  }
  remove_left_pools(jvm->pid());  // of the jtrace that was aborted
}

TEST_F(AttachKeys, SignalsDoTheSameWithoutATerminal) {
  JTRACE_NEED_JDK(jdk);
  std::ofstream(rules_) << "java.* exclude\n";
  TracedJvm jvm(*jdk, "Idle", {"--events", "threads", "--filters", rules_});
  BackgroundCommand& jtrace = jvm.command();
  const auto says = [&jtrace](int number, std::string_view text) {
    jtrace.signal(number);
    return jtrace.wait_err_line("jtrace: " + std::string(text), std::chrono::milliseconds(kPatience)).has_value();
  };
  EXPECT_TRUE(says(SIGUSR1, "pause: done"));
  EXPECT_TRUE(says(SIGRTMIN + 6, "status: state=paused"));
  EXPECT_TRUE(says(SIGUSR2, "resume: done"));
  EXPECT_TRUE(says(SIGRTMIN + 3, "filters: done"));
  EXPECT_TRUE(says(SIGRTMIN + 4, "flush: bytes="));
  EXPECT_TRUE(says(SIGRTMIN + 5, "warning: count: this trace does not count calls"));
  EXPECT_TRUE(says(SIGRTMIN + 1, "stop: done"));
  EXPECT_TRUE(says(SIGRTMIN + 1, "warning: stop: the trace is stopped already"));
  EXPECT_TRUE(succeeded(jvm.run().stop()));
  EXPECT_EQ(jvm.err(), "");
}

}  // namespace
}  // namespace jtrace::test
