#include "target/resident_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "target/proc_text.h"
#include "target/process_memory.h"

namespace jtrace::target {
namespace {

constexpr std::size_t kSize = 64u << 20;

// A child with the mappings of before the fork. It writes what it is told to and waits; killed when the object is
// destroyed.
class Child {
 public:
  template <class Work>
  explicit Child(Work&& work) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      work();
      char byte = 1;
      if (::write(ends[1], &byte, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    char byte = 0;
    ready_ = ::read(ends[0], &byte, 1) == 1 && sleeps();
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  bool ready() const { return ready_; }
  // Until it is in pause(), the child touches its own stack and code, which would count as the reader's work.
  bool sleeps() const {
    for (int round = 0; round < 5000; ++round) {
      const auto text = read_file("/proc/" + std::to_string(pid_) + "/status");
      if (text && parse_status(*text).state == 'S') return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }
  std::uint64_t page_table_kib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string word; status >> word;)
      if (std::uint64_t kib = 0; word == "VmPTE:" && status >> kib) return kib;
    return 0;
  }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

std::byte* mapped(int flags, int fd = -1) {
  void* at = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::uint64_t sum(const std::vector<PageRun>& runs) {
  std::uint64_t bytes = 0;
  for (const PageRun& run : runs) bytes += run.end - run.start;
  return bytes;
}

TEST(ResidentPages, WhatWasNeverTouchedIsZerosAndStaysUntouched) {
  std::byte* const memory = mapped(MAP_PRIVATE | MAP_ANONYMOUS);
  ASSERT_NE(memory, nullptr);
  ::madvise(memory, kSize, MADV_NOHUGEPAGE);
  const std::size_t touched[] = {0, 5000, 20u << 20, (40u << 20) + 123, kSize - 1};
  const Child child([&] {
    for (const std::size_t at : touched) memory[at] = std::byte{0x5a};
  });
  ASSERT_TRUE(child.ready());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  const ProcessMemory reader(*process);
  reader.skip_untouched(true);
  const auto start = reinterpret_cast<Address>(memory);
  EXPECT_LT(reader.resident(start, start + kSize), 4u << 20);
  const std::uint64_t before = child.page_table_kib();
  std::vector<std::byte> bytes(kSize, std::byte{0xff});
  ASSERT_TRUE(reader.read_exactly(start, bytes));
  for (const std::size_t at : touched) {
    EXPECT_EQ(bytes[at], std::byte{0x5a}) << at;
    bytes[at] = std::byte{0};
  }
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; }));
  EXPECT_EQ(child.page_table_kib(), before);
  // Without the option the reader makes pages resident.
  reader.skip_untouched(false);
  ASSERT_TRUE(reader.read_exactly(start, bytes));
  EXPECT_GT(child.page_table_kib(), before + 64);
  ::munmap(memory, kSize);
}

// The child has touched none of it: its table has no page, but all are readable.
TEST(ResidentPages, SharedMemoryIsReadWhateverThePageTableHas) {
  const UniqueFd file(::memfd_create("jtrace-test", MFD_CLOEXEC));
  ASSERT_TRUE(file);
  ASSERT_EQ(::ftruncate(file.get(), kSize), 0);
  std::byte* memory = nullptr;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::byte* const shared = mapped(MAP_SHARED, file.get());
  ASSERT_NE(shared, nullptr);
  const Child child([&] {
    memory = mapped(MAP_SHARED, file.get());
    if (::write(ends[1], &memory, sizeof memory) != sizeof memory) ::_exit(1);
  });
  ASSERT_TRUE(child.ready());
  ASSERT_EQ(::read(ends[0], &memory, sizeof memory), static_cast<ssize_t>(sizeof memory));
  std::fill(shared, shared + kSize, std::byte{0x42});
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  const ProcessMemory reader(*process);
  reader.skip_untouched(true);
  std::vector<std::byte> bytes(kSize);
  ASSERT_TRUE(reader.read_exactly(reinterpret_cast<Address>(memory), bytes));
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0x42}; }));
  ::munmap(shared, kSize);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ResidentPages, EndsWhereTheMemoryEnds) {
  std::byte* const memory = mapped(MAP_PRIVATE | MAP_ANONYMOUS);
  ASSERT_NE(memory, nullptr);
  const Child child([&] { ::munmap(memory + kSize / 2, kSize / 2); });
  ASSERT_TRUE(child.ready());
  const auto process = Process::open(child.pid());
  ASSERT_TRUE(process);
  const ProcessMemory reader(*process);
  reader.skip_untouched(true);
  const auto start = reinterpret_cast<Address>(memory);
  std::vector<std::byte> bytes(kSize);
  EXPECT_FALSE(reader.read_exactly(start, bytes));
  EXPECT_TRUE(reader.read_exactly(start, std::span(bytes).first(kSize / 2)));
  EXPECT_EQ(sum(reader.pages().to_read(start + kSize / 2, start + kSize)), kSize / 2);  // not known
  ::munmap(memory, kSize);
}

TEST(ZeroBacked, IsPrivateMemoryWithoutAFileThatNobodySupplies) {
  const std::string text =
      "00400000-00500000 r--p 00000000 08:01 12 /usr/bin/java\nRss: 4 kB\nVmFlags: rd mr mw me\n"
      "a0000000-a0200000 rw-p 00000000 00:00 0 \nSize: 2048 kB\nVmFlags: rd wr mr mw me ac\n"
      "a0200000-a0400000 r--p 00000000 00:00 0 \nVmFlags: rd mr mw me ac\n"
      "a0400000-a0600000 ---p 00000000 00:00 0 \nVmFlags: mr mw me nr\n"
      "b0000000-b0200000 rw-s 00000000 00:01 77 /memfd:java_heap (deleted)\nVmFlags: rd wr sh mr mw me ms\n"
      "c0000000-c0200000 rw-p 00000000 00:00 0 \nVmFlags: rd wr mr mw me ac um\n"
      "d0000000-d0200000 rw-p 00000000 00:0f 99 /anon_hugepage (deleted)\nVmFlags: rd wr mr mw me ht\n"
      "e0000000-e0200000 rw-p 00000000 00:00 0 [heap]\nVmFlags: rd wr mr mw me ac\n"
      "f0000000-f0001000 r--p 00000000 00:00 0 [vvar]\nVmFlags: rd mr pf io de dd\n"
      "f1000000-f1001000 rw-p 00000000 00:00 0 \n";  // truncated
  EXPECT_EQ(parse_zero_backed(text), (std::vector<PageRun>{{0xa0000000, 0xa0400000}, {0xe0000000, 0xe0200000}}));
  EXPECT_TRUE(parse_zero_backed("").empty());
}

}  // namespace
}  // namespace jtrace::target
