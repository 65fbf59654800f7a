// A SIGINT when the trace is complete and jtrace is about to end: jtrace ends as without it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/file.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

// A full pipe: a writer waits until it is read.
struct FullPipe {
  FullPipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
    const std::string some(4096, ' ');
    while (::write(write.get(), some.data(), some.size()) > 0) {
    }
    while (::write(write.get(), " ", 1) > 0) {
    }
    ::fcntl(write.get(), F_SETFL, 0);
    ::fcntl(read.get(), F_SETFL, 0);
  }
  UniqueFd read, write;
};

pid_t attach_into(const FullPipe& messages, const std::string& pid, const std::string& file) {
  const std::string tool = jtrace_binary();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(messages.write.get(), STDERR_FILENO);
    ::execl(tool.c_str(), "jtrace", "attach", pid.c_str(), "-o", file.c_str(), "--events", "threads", "--duration",
            "0.2", static_cast<char*>(nullptr));
    ::_exit(127);
  }
  return child;
}

// Whether it waits in write(2, ...).
bool says_something(pid_t pid) {
  return read_file("/proc/" + std::to_string(pid) + "/syscall").value_or("").starts_with("1 0x2 ");
}

TEST(LateSignal, DoesNotChangeHowATraceEnded) {
  JTRACE_NEED_JDK(jdk);
  auto jvm = must(JvmProcess::start(*jdk, "Workload", attachable(*jdk)));
  const ScratchDir folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    FullPipe messages;
    const std::string file = folder.file(std::to_string(signal) + ".xml");
    const pid_t child = attach_into(messages, jvm->pid_text(), file);
    ASSERT_GT(child, 0);
    messages.write.reset();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!says_something(child) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(says_something(child));
    ::kill(child, signal);
    char buffer[65536];
    std::string said;
    for (ssize_t count; (count = ::read(messages.read.get(), buffer, sizeof buffer)) > 0;)
      said.append(buffer, static_cast<std::size_t>(count));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0) << said.substr(said.find_first_not_of(' '));
    EXPECT_NE(said.find("-> " + file), said.npos);
    EXPECT_TRUE(valid(file));
  }
}

}  // namespace
}  // namespace jtrace::test
