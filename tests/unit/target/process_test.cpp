#include "target/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "target/process_memory.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

// A child that waits for its end of a pipe to close; killed and waited for when the object is destroyed.
class Child {
 public:
  Child() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      char byte = 0;
      while (::read(ends[0], &byte, 1) > 0) {
      }
      ::_exit(0);
    }
    ::close(ends[0]);
    end_.reset(ends[1]);
  }
  ~Child() {
    if (!waited_) {
      ::kill(pid_, SIGKILL);
      wait();
    }
  }
  void finish() { end_.reset(); }
  void wait() {
    ::waitpid(pid_, nullptr, 0);
    waited_ = true;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  UniqueFd end_;
  bool waited_ = false;
};

void wait_until_ended(const Process& process) {
  pollfd poll{.fd = process.pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&poll, 1, 10'000), 1);
}

TEST(Process, KnowsItself) {
  const auto self = test::must(Process::open(::getpid()));
  EXPECT_EQ(self.pid(), ::getpid());
  EXPECT_EQ(self.uid(), ::geteuid());
  EXPECT_EQ(self.gid(), ::getegid());
  EXPECT_GT(self.start_ticks(), 0u);
  EXPECT_FALSE(self.cmdline().empty());
  EXPECT_FALSE(self.has_exited());
  EXPECT_GT(self.pid_namespace(), 0u);
  const auto maps = self.maps();
  ASSERT_TRUE(maps);
  EXPECT_NE(find_mapping(*maps, reinterpret_cast<Address>(&wait_until_ended)), nullptr);
  const auto threads = self.threads();
  ASSERT_TRUE(threads);
  EXPECT_TRUE(std::find(threads->begin(), threads->end(), ::getpid()) != threads->end());
  EXPECT_TRUE(self.mounts() && !self.mounts()->empty());
}

TEST(Process, RefusesWhatIsNoProcess) {
  for (pid_t pid : {0, -5}) {
    const auto process = Process::open(pid);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().category, ErrorCategory::kUsage);
  }
  const auto beyond = Process::open(1 << 30);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().category, ErrorCategory::kNotFound);
}

TEST(Process, TextsOfProcessIds) {
  EXPECT_EQ(parse_pid("4711").value_or(0), 4711);
  for (const char* text : {"", "12abc", "0", "000", "-5", "+5", " 5", "5 "}) {
    const auto pid = parse_pid(text);
    ASSERT_FALSE(pid) << text;
    EXPECT_EQ(pid.error().category, ErrorCategory::kUsage) << text;
    EXPECT_NE(pid.error().message().find("'" + std::string(text) + "'"), std::string::npos);
  }
  EXPECT_EQ(parse_pid("1099511627776").error().category, ErrorCategory::kNotFound);
}

TEST(Process, AThreadIsNoProcess) {
  std::thread([] {
    const auto id = static_cast<pid_t>(::syscall(SYS_gettid));
    const auto process = Process::open(id);
    ASSERT_FALSE(process);
    EXPECT_EQ(process.error().category, ErrorCategory::kNotFound);
    EXPECT_NE(process.error().message().find("is a thread of process " + std::to_string(::getpid())),
              std::string::npos);
  }).join();
}

TEST(Process, AZombieHasExited) {
  Child child;
  const auto before = Process::open(child.pid());
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->has_exited());
  child.finish();
  wait_until_ended(*before);
  EXPECT_TRUE(before->has_exited());
  const auto zombie = Process::open(child.pid());
  ASSERT_FALSE(zombie);
  EXPECT_EQ(zombie.error().category, ErrorCategory::kNotFound);
  EXPECT_NE(zombie.error().message().find("zombie"), std::string::npos);
  EXPECT_NE(zombie.error().message().find("parent is " + std::to_string(::getpid())), std::string::npos);
}

TEST(Process, OneThatIsGoneStaysGone) {
  Child child;
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  child.finish();
  child.wait();
  EXPECT_TRUE(process->has_exited());
  EXPECT_FALSE(process->status());
  const auto signalled = process->send_signal(0);
  ASSERT_FALSE(signalled);
  EXPECT_EQ(signalled.error().errnum, ESRCH);
  const auto again = Process::open(child.pid());
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message().find("no such process"), std::string::npos);
}

TEST(Process, SignalsReachTheProcess) {
  Child child;
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->send_signal(SIGSTOP));
  ASSERT_EQ(::waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
  EXPECT_TRUE(process->status()->is_stopped());
}

TEST(Process, ReadsRegularFilesInsideItsRootOnly) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(self->read_in_root("/etc/passwd"));
  const auto device = self->read_in_root("/dev/zero");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().category, ErrorCategory::kPermission);
  EXPECT_FALSE(self->read_in_root("/etc"));
}

TEST(ProcessMemory, ReadsAChildsMemory) {
  static int marker = 0;
  marker = 0x1234567;
  Child child;
  marker = 0;
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  const ProcessMemory memory(*process);
  EXPECT_EQ(memory.read<int>(reinterpret_cast<Address>(&marker)).value_or(0), 0x1234567);
}

TEST(ProcessMemory, ReadsEachOfManyPlaces) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  std::vector<std::uint64_t> values(1500), read(1500, 7);
  std::vector<Address> places;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i + 1;
    places.push_back(reinterpret_cast<Address>(&values[i]));
  }
  for (const std::size_t bad : {0u, 700u, 701u, 1499u}) {
    places[bad] = 16;
    values[bad] = 0;
  }
  ProcessMemory(*self).read_each(places, sizeof(std::uint64_t), std::as_writable_bytes(std::span(read)));
  EXPECT_EQ(read, values);
}

TEST(ProcessMemory, ReadsRangesOfDifferentSizes) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  const std::string text = "of different sizes";
  const auto at = reinterpret_cast<Address>(text.data());
  std::string read(20, '?');
  std::vector<ProcessMemory::Part> parts;
  std::size_t used = 0;
  const auto add = [&](Address start, std::size_t size) {
    parts.push_back({start, std::as_writable_bytes(std::span(read)).subspan(used, size)});
    used += size;
  };
  add(at, 2);
  add(at, 0);
  add(16, 3);  // nothing is there
  add(at + 3, 9);
  add(at + 13, 5);
  add(16, 1);
  ProcessMemory(*self).read_parts(parts);
  EXPECT_EQ(read, "of" + std::string(3, '\0') + "different" + "sizes" + std::string(1, '\0'));
}

TEST(ProcessMemory, AnErrorNamesTheAddress) {
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  const auto value = ProcessMemory(*self).read<int>(16);
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().address, 16u);
  EXPECT_EQ(value.error().category, ErrorCategory::kMalformed);
}

TEST(ProcessMemory, GivesTheBytesBeforeAHole) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ::munmap(memory + page, page);
  memory[page - 1] = 'x';
  const auto self = Process::open(::getpid());
  ASSERT_TRUE(self);
  std::vector<std::byte> out(page);
  const auto count = test::must(ProcessMemory(*self).read_some(reinterpret_cast<Address>(memory + page - 16), out));
  EXPECT_EQ(count, 16u);
  EXPECT_EQ(out[15], std::byte{'x'});
  EXPECT_FALSE(ProcessMemory(*self).read_exactly(reinterpret_cast<Address>(memory + page - 16), out));
  ::munmap(memory, page);
}

}  // namespace
}  // namespace jtrace::target
