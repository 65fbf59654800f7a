// With whom a thread is connected that waits for a socket: a real thread, with Java frames made up.
#include "diagnose/socket_peers.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "coreinspect/tools/futex_waits.h"
#include "diagnose/outside_waits.h"
#include "target/proc_text.h"
#include "target/process_memory.h"
#include "tests/unit/diagnose/made_up_threads.h"

namespace jtrace::diagnose {
namespace {

// Two sockets of the loopback that are connected; a thread reads from the first, and gets nothing.
class Reader {
 public:
  Reader() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener, 1);
    ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    mine_ = ::socket(AF_INET, SOCK_STREAM, 0);
    ::connect(mine_, reinterpret_cast<sockaddr*>(&address), size);
    other_ = ::accept(listener, nullptr, nullptr);
    ::close(listener);
    thread_ = std::thread([this] {
      tid_ = ::gettid();
      char byte = 0;
      (void)!::recv(mine_, &byte, 1, 0);
    });
    while (tid_ == 0) std::this_thread::yield();
  }
  ~Reader() {
    ::close(other_);
    thread_.join();
    ::close(mine_);
  }
  pid_t tid() const { return tid_; }
  std::string peer() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int mine_ = -1, other_ = -1, port_ = 0;
  std::atomic<pid_t> tid_{0};
  std::thread thread_;
};

// As a look sees it, once it sleeps.
ThreadFact fact_of(const target::Process& process, pid_t tid) {
  ThreadFact fact = thread(1);
  fact.tid = tid;
  fact.frames = {{"sun.nio.ch.Net.poll", "", 1}, {"sun.nio.ch.NioSocketImpl.implRead", "", 2}};
  for (int i = 0; i < 2000 && !fact.slept; ++i) {
    const std::string status = process.read_proc("task/" + std::to_string(tid) + "/status").value_or("");
    fact.slept = target::parse_status(status).state == 'S';
    fact.waits = coreinspect::count_of_waits(status);
    if (!fact.slept) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return fact;
}

TEST(SocketPeers, AreThoseOfThreadsThatHaveNotRunSince) {
  const auto process = target::Process::open(::getpid());
  ASSERT_TRUE(process);
  const target::ProcessMemory memory(*process);
  const Reader reader;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it is in its call
  ThreadsLook look{.threads = {fact_of(*process, reader.tid())}};
  if (!process->read_proc("task/" + std::to_string(reader.tid()) + "/syscall"))
    GTEST_SKIP() << "the kernel has no /proc/PID/syscall";
  SocketPeers(*process, memory).note_in(look);
  EXPECT_EQ(look.threads[0].peer, reader.peer());
  EXPECT_EQ(outside_wait(look.threads[0]), "waits for data from a socket (peer " + reader.peer() + ")");

  look.threads[0].peer.clear();
  ++*look.threads[0].waits;
  SocketPeers(*process, memory).note_in(look);
  EXPECT_EQ(look.threads[0].peer, "") << "it has run since the look, or the look is not of this wait";
}

TEST(SocketPeers, AreAskedOnlyOfThreadsAtASocket) {
  ThreadFact fact = thread(1);
  EXPECT_FALSE(waits_for_socket(fact));
  fact.frames = {{"java.io.FileInputStream.readBytes", "", 1}};
  EXPECT_FALSE(waits_for_socket(fact));
  fact.frames = {{"sun.nio.ch.SocketChannelImpl.connect", "", 1}};
  EXPECT_TRUE(waits_for_socket(fact));
  fact.frames.insert(fact.frames.begin(), {"App.run", "", 1});
  EXPECT_FALSE(waits_for_socket(fact));
}

}  // namespace
}  // namespace jtrace::diagnose
