// The handshake with listeners in this process: AttachSession treats the process as the JVM, because it owns the
// listener. No JVM is needed, and none is signalled.
#include "attach/attach_session.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "attach/bound_socket.h"
#include "attach/freezer.h"
#include "attach/request_run.h"
#include "base/file.h"
#include "tests/testlib/must.h"

namespace jtrace::attach {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

std::string socket_path(const std::string& directory = "/tmp") {
  return directory + "/.java_pid" + std::to_string(::getpid());
}

UniqueFd bind_listener(mode_t mode = 0600, const std::string& path = socket_path()) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strcpy(address.sun_path, path.c_str());
  ::unlink(address.sun_path);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::chmod(address.sun_path, mode), 0);
  EXPECT_EQ(::listen(fd.get(), 5), 0);
  return fd;
}

// Answers each connection with what `answer` returns for the request, until the object is destroyed.
class Listener {
 public:
  explicit Listener(std::function<std::string(const std::string&)> answer, const std::string& path = socket_path())
      : path_(path), fd_(bind_listener(0600, path)), answer_(std::move(answer)), thread_([this] { serve(); }) {}
  ~Listener() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
    ::unlink(path_.c_str());
  }
  std::atomic<int> served{0};

 private:
  // Up to the fourth NUL in version 1, or the size that version 2 gives.
  static std::string read_request(int fd) {
    std::string request;
    char byte = 0;
    int ends = 0;
    while (::read(fd, &byte, 1) == 1) {
      request += byte;
      if (byte == '\0') ++ends;
      if (request[0] == '1' && ends == 5) break;
      if (request[0] == '2' && ends == 2) {
        std::string rest(std::stoul(request.substr(2)), '\0');
        for (std::size_t had = 0; had < rest.size();) {
          const ssize_t count = ::read(fd, rest.data() + had, rest.size() - had);
          if (count <= 0) break;
          had += static_cast<std::size_t>(count);
        }
        return request + rest;
      }
    }
    return request;
  }
  void serve() {
    for (;;) {
      const UniqueFd connection(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!connection) return;
      const std::string reply = answer_(read_request(connection.get()));
      ++served;
      (void)write_whole(connection.get(), reply, "connection");
    }
  }

  std::string path_;
  UniqueFd fd_;
  std::function<std::string(const std::string&)> answer_;
  std::thread thread_;
};

class AttachSessionTest : public testing::Test {
 protected:
  // A killed JVM with this pid may have left its socket.
  void SetUp() override { std::filesystem::remove(socket_path()); }
  void TearDown() override {
    std::filesystem::remove(socket_path());
    EXPECT_FALSE(std::filesystem::exists(".attach_pid" + std::to_string(::getpid())));
  }
  AttachSession open() { return AttachSession::open(self_, options_).value(); }

  target::Process self_ = target::Process::open(::getpid()).value();
  AttachOptions options_{.start_timeout = std::chrono::milliseconds(2000),
                         .reply_timeout = std::chrono::milliseconds(2000)};
};

TEST_F(AttachSessionTest, ACommandAndItsReply) {
  const Listener listener([](const std::string& request) {
    return request == "1\0jcmd\0VM.version\0\0\0"s ? "0\nJDK 17\n"s : "-1\nwhat?\n"s;
  });
  const auto reply = test::must(open().execute({.operation = "jcmd", .arguments = {"VM.version"}}));
  EXPECT_EQ(reply.code, 0);
  EXPECT_EQ(reply.data, "JDK 17\n");
  EXPECT_EQ(listener.served, 1);
}

TEST_F(AttachSessionTest, TheProtocolIsAskedOnce) {
  const Listener listener([](const std::string& request) {
    if (request.find("getversion") != request.npos) return "0\n2 streaming\n"s;
    return request.find("threaddump streaming=0") != request.npos ? "0\nbuffered\n"s : "0\nstreamed\n"s;
  });
  const AttachSession session = open();
  for (int i = 0; i < 3; ++i) {
    const auto reply = session.execute({.operation = "threaddump"});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->data, "buffered\n");
  }
  EXPECT_EQ(listener.served, 4);
}

TEST_F(AttachSessionTest, OldJvmsGetPlainRequests) {
  const Listener listener([](const std::string& request) {
    return request.find("getversion") != request.npos ? "-1\nOperation getversion not recognized!\n"s
                                                      : "0\n"s + request.substr(2, 10);
  });
  const AttachSession session = open();
  EXPECT_EQ(session.execute({.operation = "threaddump"})->data, "threaddump");
  const auto refused = session.execute({.operation = "jcmd", .arguments = {std::string(2000, 'x')}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().category, ErrorCategory::kUsage);
  EXPECT_EQ(listener.served, 2);  // the long one was not sent
}

TEST_F(AttachSessionTest, SilenceEndsAtTheTimeOut) {
  const UniqueFd silent = bind_listener();
  options_.reply_timeout = std::chrono::milliseconds(100);
  const auto started = Clock::now();
  const auto reply = open().execute({.operation = "jcmd", .arguments = {"VM.version"}});
  const auto took = Clock::now() - started;
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().category, ErrorCategory::kTimeout);
  EXPECT_THAT(reply.error().message(), HasSubstr("jtrace stack " + std::to_string(::getpid())));
  EXPECT_GE(took, std::chrono::milliseconds(100));
  EXPECT_LT(took, std::chrono::milliseconds(1000));
}

TEST_F(AttachSessionTest, AFullBacklogEndsAtTheTimeOutAndNamesTheOthers) {
  const UniqueFd silent = bind_listener();
  std::vector<Exchange> others;
  const AttachSession session = open();
  for (int i = 0; i < 6; ++i) others.push_back(session.begin({.operation = "properties"}).value());
  options_.reply_timeout = std::chrono::milliseconds(100);
  const auto reply = open().execute({.operation = "properties"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().category, ErrorCategory::kTimeout);
  EXPECT_THAT(reply.error().message(), HasSubstr("another client holds the listener"));
}

TEST_F(AttachSessionTest, Cancelled) {
  const UniqueFd silent = bind_listener();
  const UniqueFd cancel(::eventfd(1, EFD_CLOEXEC));
  options_.cancel_fd = cancel.get();
  const auto reply = open().execute({.operation = "properties"});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message(), HasSubstr("interrupted"));
}

TEST_F(AttachSessionTest, ClosedWithoutAnAnswer) {
  const Listener listener([](const std::string&) { return ""s; });
  const auto reply = open().execute({.operation = "properties"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(exit_status(reply.error()), ExitStatus::kRefused);
  EXPECT_THAT(reply.error().message(), HasSubstr("credentials"));
}

TEST_F(AttachSessionTest, AnotherProtocolVersion) {
  const Listener listener([](const std::string&) { return "101\n"s; });
  const Request request{.operation = "properties"};
  const auto reply = open().execute(request);
  ASSERT_TRUE(reply);
  const auto verdict = check_reply(request, *reply);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(exit_status(verdict.error()), ExitStatus::kRefused);
  EXPECT_THAT(verdict.error().message(), HasSubstr("101"));
}

TEST_F(AttachSessionTest, ASocketOpenToOthersIsNotTrusted) {
  const UniqueFd listener = bind_listener(0666);
  const auto session = AttachSession::open(self_, options_);
  ASSERT_FALSE(session);
  EXPECT_EQ(exit_status(session.error()), ExitStatus::kPermission);
  EXPECT_THAT(session.error().message(), testing::AllOf(HasSubstr("0666"), HasSubstr("impostor")));
}

TEST_F(AttachSessionTest, ASocketOfAnotherOwnerIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a file cannot be given away";
  const UniqueFd listener = bind_listener();
  ASSERT_EQ(::chown(socket_path().c_str(), 65534, 65534), 0);
  const auto session = AttachSession::open(self_, options_);
  ASSERT_FALSE(session);
  EXPECT_EQ(exit_status(session.error()), ExitStatus::kPermission);
  EXPECT_THAT(session.error().message(), testing::AllOf(HasSubstr("belongs to uid 65534"), HasSubstr("impostor")));
}

// The remains of a killed JVM, found by another user's JVM that has its pid.
TEST_F(AttachSessionTest, ASocketOfAnotherOwnerWithoutAListenerMayBeLeftOver) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: a file cannot be given away";
  bind_listener().reset();
  ASSERT_EQ(::chown(socket_path().c_str(), 65534, 65534), 0);
  const auto session = AttachSession::open(self_, options_);
  ASSERT_FALSE(session);
  EXPECT_EQ(exit_status(session.error()), ExitStatus::kPermission);
  EXPECT_THAT(session.error().message(),
              testing::AllOf(HasSubstr("belongs to uid 65534"), HasSubstr("no process listens"), HasSubstr("remove it"),
                             testing::Not(HasSubstr("impostor"))));
}

TEST_F(AttachSessionTest, AListenerThatIsAnotherProcessIsNotTrusted) {
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const std::string path = socket_path();  // of the parent
  const pid_t child = ::fork();
  if (child == 0) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::strcpy(address.sun_path, path.c_str());
    ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::chmod(path.c_str(), 0600);
    ::listen(fd.get(), 5);
    [[maybe_unused]] const auto written = ::write(ready[1], "r", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto reply = open().execute({.operation = "properties"});
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  ASSERT_FALSE(reply);
  EXPECT_EQ(exit_status(reply.error()), ExitStatus::kPermission);
  EXPECT_THAT(reply.error().message(), HasSubstr("process " + std::to_string(child) + " listens"));
}

// A stale socket is removed. This process is not a JVM, so it is not signalled: SIGQUIT would end the test.
TEST_F(AttachSessionTest, AStaleSocketIsClearedAway) {
  bind_listener().reset();
  ASSERT_TRUE(std::filesystem::exists(socket_path()));
  const auto reply = open().execute({.operation = "properties"});
  ASSERT_FALSE(reply);
  EXPECT_EQ(exit_status(reply.error()), ExitStatus::kNotAttachable);
  EXPECT_THAT(reply.error().message(), HasSubstr("no signal sent"));
  EXPECT_FALSE(std::filesystem::exists(socket_path()));
}

// A JVM whose temporary directory is not /tmp: the kernel reports the name of the bound socket.
TEST_F(AttachSessionTest, ASocketInAnotherDirectoryIsFound) {
  std::string directory = std::filesystem::temp_directory_path().string() + "/jtrace-attach-XXXXXX";
  ASSERT_TRUE(::mkdtemp(directory.data()));
  {
    const Listener listener([](const std::string&) { return "0\nhere\n"s; }, socket_path(directory));
    EXPECT_EQ(bound_socket(self_, ".java_pid" + std::to_string(::getpid())), socket_path(directory));
    const auto reply = test::must(open().execute({.operation = "printflag", .arguments = {"X"}}));
    EXPECT_EQ(reply.data, "here\n");
  }
  EXPECT_FALSE(bound_socket(self_, ".java_pid" + std::to_string(::getpid())));
  std::filesystem::remove_all(directory);
}

TEST_F(AttachSessionTest, ADeletedSocketIsReported) {
  const auto rendezvous = Rendezvous::locate(self_);
  ASSERT_TRUE(rendezvous);
  EXPECT_FALSE(rendezvous->socket_was_deleted()) << "no process listens";
  const UniqueFd listener = bind_listener();
  EXPECT_FALSE(rendezvous->socket_was_deleted());
  std::filesystem::rename(socket_path(), socket_path() + ".tmp");
  EXPECT_FALSE(rendezvous->socket_was_deleted()) << "about to be renamed";
  std::filesystem::remove(socket_path() + ".tmp");
  EXPECT_TRUE(rendezvous->socket_was_deleted());
}

TEST(Freezer, FilesAndTheirTexts) {
  EXPECT_THAT(freezer_files("12:cpu,cpuacct:/a\n7:freezer:/docker/4711\n0::/system.slice/x.service\n"),
              testing::ElementsAre("/sys/fs/cgroup/freezer/docker/4711/freezer.state",
                                   "/sys/fs/cgroup/system.slice/x.service/cgroup.events",
                                   "/sys/fs/cgroup/unified/system.slice/x.service/cgroup.events"));
  EXPECT_THAT(freezer_files("7:freezer:/\n0::/../other\n:\nnonsense\n"), testing::IsEmpty());
  EXPECT_TRUE(shows_frozen("populated 1\nfrozen 1\n"));
  EXPECT_TRUE(shows_frozen("FROZEN\n"));
  EXPECT_FALSE(shows_frozen("populated 1\nfrozen 0\n"));
  EXPECT_FALSE(shows_frozen("THAWED\n"));
}

TEST_F(AttachSessionTest, NoJvmIsNotSignalled) {
  const auto session = AttachSession::open(self_, options_);
  ASSERT_FALSE(session);
  EXPECT_EQ(exit_status(session.error()), ExitStatus::kNotAttachable);
  EXPECT_THAT(session.error().message(), HasSubstr("no libjvm.so mapped"));
}

TEST_F(AttachSessionTest, TheRepliesOfABatchComeInOrder) {
  const Listener listener([](const std::string& request) {
    if (request.find("getversion") != request.npos) return "-1\n"s;
    return request.find("setflag") != request.npos ? "1\nno such flag\n"s : "0\n" + request.substr(2, 8) + "\n";
  });
  std::vector<std::string> seen;
  const auto outcomes = run_requests(
      ::getpid(),
      {{.operation = "printflag", .arguments = {"A"}},
       {.operation = "setflag", .arguments = {"B", "1"}},
       {.operation = "properties"},
       {.operation = "threaddump"}},
      options_, [&](Outcome& outcome) { seen.push_back(outcome.verdict ? outcome.reply->data.substr(0, 4) : "no"); });
  EXPECT_EQ(seen, (std::vector<std::string>{"prin", "no", "prop", "thre"}));  // a refusal ends only its own command
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_FALSE(outcomes[3].reply) << "what was handed out is not kept";
}

TEST_F(AttachSessionTest, ABatchEndsWhereNoReplyComes) {
  const Listener listener([](const std::string& request) {
    return request.find("properties") != request.npos ? ""s : "0\nok\n"s;  // closed without a byte
  });
  const auto outcomes = run_requests(
      ::getpid(), {{.operation = "printflag", .arguments = {"A"}}, {.operation = "properties"}, {.operation = "load"}},
      options_);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_TRUE(outcomes[0].verdict);
  EXPECT_FALSE(outcomes[1].verdict);
}

TEST_F(AttachSessionTest, SeveralThreadsOneSession) {
  const Listener listener([](const std::string& request) { return "0\n" + request.substr(12, 4); });
  const AttachSession session = open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&session, i] {
      const std::string word = std::to_string(1000 + i);
      for (int n = 0; n < 25; ++n)
        EXPECT_EQ(session.execute({.operation = "printflag", .arguments = {word}}).value().data, word);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(listener.served, 100);
}

}  // namespace
}  // namespace jtrace::attach
