// A copy of a process that knows what it has: every kind of memory, and nothing appears in it.
#include "target/process_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "target/core_file.h"
#include "target/core_memory.h"
#include "target/process_memory.h"
#include "target/smaps.h"
#include "tests/testlib/must.h"

namespace jtrace::target {
namespace {

constexpr std::size_t kPage = 4096, kPages = 512;

char* map(int flags, int fd = -1, int protection = PROT_READ | PROT_WRITE) {
  void* at = ::mmap(nullptr, kPages * kPage, protection, flags, fd, 0);
  ::madvise(at, kPages * kPage, MADV_NOHUGEPAGE);
  return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
}

// A child of the test with memory of each kind. Its addresses are the test's own.
class CopyOfAChild : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_file_ = ::memfd_create("test", 0);
    ASSERT_EQ(::ftruncate(memory_file_, kPages * kPage), 0);
    ASSERT_EQ(::pwrite(memory_file_, "file", 4, 8 * kPage), 4);
    private_ = map(MAP_PRIVATE | MAP_ANONYMOUS);
    hidden_ = map(MAP_PRIVATE | MAP_ANONYMOUS);
    shared_ = map(MAP_SHARED, memory_file_);
    again_ = map(MAP_SHARED, memory_file_);
    changed_ = map(MAP_PRIVATE, memory_file_);
    for (const std::size_t page : {0u, 1u, 2u, 10u, 400u}) private_[page * kPage] = static_cast<char>(page + 1);
    shared_[20 * kPage] = 'x';
    changed_[9 * kPage] = 'c';
    ASSERT_EQ(::mprotect(hidden_, kPages * kPage, PROT_NONE), 0);
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    ASSERT_GT(child_, 0);
    process_.emplace(test::must(Process::open(child_)));
  }
  void TearDown() override {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    ::close(memory_file_);
    for (char* each : {private_, hidden_, shared_, again_, changed_}) ::munmap(each, kPages * kPage);
  }

  CoreFile core_of(const ProcessCopy& copy) {
    bytes_.clear();
    test::must(write_core(copy.process(), copy.ranges(), [&](std::string_view piece) -> Result<> {
      bytes_.append(piece);
      return {};
    }));
    return test::must(CoreFile::of_view(std::as_bytes(std::span(bytes_)), "copy"));
  }

  // Of the test's mappings in the child.
  std::uint64_t resident() const {
    std::uint64_t sum = 0;
    for (const MappedPages& each : parse_smaps(test::must(process_->read_proc("smaps"))))
      for (const char* known : {private_, hidden_, shared_, again_, changed_})
        if (each.mapping.contains(reinterpret_cast<Address>(known))) sum += each.rss;
    return sum;
  }

  static char at(const CoreMemory& memory, const char* address) {
    return memory.read<char>(reinterpret_cast<Address>(address)).value_or('?');
  }

  int memory_file_ = -1;
  pid_t child_ = -1;
  char *private_ = nullptr, *hidden_ = nullptr, *shared_ = nullptr, *again_ = nullptr, *changed_ = nullptr;
  std::optional<Process> process_;
  std::string bytes_;
};

TEST_F(CopyOfAChild, HasEveryKindOfMemoryAndTouchesNone) {
  const std::uint64_t before = resident();
  const auto copy = test::must(ProcessCopy::take(*process_, {.max_stop = std::chrono::seconds(10)}));
  EXPECT_EQ(resident(), before);
  EXPECT_THAT(copy.missing(), ::testing::IsEmpty());
  const CoreFile core = core_of(copy);
  ASSERT_EQ(core.threads().size(), 1u);
  EXPECT_EQ(core.threads()[0].tid, child_);
  EXPECT_EQ(core.pid(), child_);
  const CoreMemory memory(core, {.sysroot = "/proc/self/fdinfo"});
  for (const std::size_t page : {0u, 1u, 2u, 10u, 400u})
    EXPECT_EQ(at(memory, private_ + page * kPage), static_cast<char>(page + 1)) << page;
  for (const std::size_t page : {3u, 5u, 9u}) EXPECT_EQ(at(memory, private_ + page * kPage), 0) << page;
  EXPECT_EQ(at(memory, private_ + 300 * kPage), 0);
  for (const char* each : {shared_, again_, changed_}) EXPECT_EQ(at(memory, each + 8 * kPage), 'f');
  for (const char* each : {shared_, again_}) EXPECT_EQ(at(memory, each + 20 * kPage), 'x');
  EXPECT_EQ(at(memory, shared_ + 100 * kPage), 0);
  EXPECT_EQ(at(memory, changed_ + 9 * kPage), 'c');
  EXPECT_EQ(at(memory, hidden_), '?') << "memory that may not be read";
}

TEST_F(CopyOfAChild, HasThePagesThatAreWantedAndTheStack) {
  CopyOptions options{.max_stop = std::chrono::seconds(10), .libraries = false, .pages = PageSet()};
  options.pages->add(reinterpret_cast<Address>(private_ + kPage), reinterpret_cast<Address>(private_ + 2 * kPage));
  options.pages->add(reinterpret_cast<Address>(private_ + 50 * kPage),
                     reinterpret_cast<Address>(private_ + 51 * kPage));
  const auto copy = test::must(ProcessCopy::take(*process_, options));
  const CoreFile core = core_of(copy);
  const CoreMemory memory(core, {.sysroot = "/proc/self/fdinfo"});
  EXPECT_EQ(at(memory, private_ + kPage), 2);
  EXPECT_EQ(at(memory, private_ + 50 * kPage), 0);
  EXPECT_EQ(at(memory, private_), '?');
  EXPECT_EQ(at(memory, private_ + 51 * kPage), '?') << "not known, so not zero";
  EXPECT_TRUE(memory.read<char>(core.threads().at(0).registers.sp()));
  EXPECT_LT(bytes_.size(), 4u << 20);
}

// A stop that would be too long is refused before it.
TEST_F(CopyOfAChild, IsRefusedIfItWouldTakeTooLong) {
  std::vector<char*> blocks;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  for (int i = 0; i < 128; ++i) {
    blocks.push_back(map(MAP_PRIVATE | MAP_ANONYMOUS));
    std::memset(blocks.back(), 1, kPages * kPage);
  }
  child_ = ::fork();
  if (child_ == 0) {
    for (;;) ::pause();
  }
  process_.emplace(test::must(Process::open(child_)));
  const auto copy = ProcessCopy::take(*process_, {.max_stop = std::chrono::milliseconds(1)});
  for (char* block : blocks) ::munmap(block, kPages * kPage);
  ASSERT_FALSE(copy);
  EXPECT_THAT(copy.error().message(), ::testing::HasSubstr("--max-stop allows more"));
}

}  // namespace
}  // namespace jtrace::target
