// Which pages are there: both ways of asking the kernel say the same.
#include "target/pagemap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace jtrace::target {
namespace {

struct Seen {
  PageRun run;
  PageKind kind;
  bool operator==(const Seen&) const = default;
};

class PagemapOfThisProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    void* at = ::mmap(nullptr, 64 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    ::madvise(at, 64 * page_, MADV_NOHUGEPAGE);
    memory_ = static_cast<volatile char*>(at);
    for (const std::size_t i : {3u, 4u, 5u, 40u}) memory_[i * page_] = 1;
    start_ = reinterpret_cast<Address>(at);
    auto process = Process::open(::getpid());
    ASSERT_TRUE(process);
    process_.emplace(std::move(*process));
  }
  void TearDown() override { ::munmap(const_cast<char*>(memory_), 64 * page_); }

  PageRun pages(std::uint64_t first, std::uint64_t count) const {
    return {start_ + first * page_, start_ + (first + count) * page_};
  }
  // Bytes of the mapping in RSS. Without huge pages it is no part of another mapping.
  std::uint64_t resident() const {
    std::ifstream smaps("/proc/self/smaps");
    std::string line;
    char first[32];
    std::snprintf(first, sizeof first, "%lx-", static_cast<unsigned long>(start_));
    while (std::getline(smaps, line) && !line.starts_with(first)) {
    }
    while (std::getline(smaps, line) && !line.starts_with("Rss:")) {
    }
    EXPECT_TRUE(line.starts_with("Rss:")) << "no mapping that begins at " << first;
    return std::strtoull(line.c_str() + 4, nullptr, 10) << 10;
  }
  const std::uint64_t page_ = Pagemap::page_size();
  volatile char* memory_ = nullptr;
  Address start_ = 0;
  std::optional<Process> process_;
};

TEST_F(PagemapOfThisProcess, WhatWasWrittenIsThereAndNothingElse) {
  const Pagemap pagemap(*process_);
  if (!pagemap.is_open()) GTEST_SKIP() << "no /proc/self/pagemap";
  const std::vector<Seen> expected = {{pages(3, 3), PageKind::kPresent}, {pages(40, 1), PageKind::kPresent}};
  std::vector<Seen> all, entries;
  ASSERT_TRUE(pagemap.visit(start_ + 1, start_ + 64 * page_ - 1, [&](const PageRun& run, PageKind kind) {
    all.push_back({run, kind});
  }));
  EXPECT_EQ(all, expected);
  ASSERT_TRUE(pagemap.visit_entries(start_, start_ + 64 * page_, [&](const PageRun& run, PageKind kind) {
    entries.push_back({run, kind});
  }));
  EXPECT_EQ(entries, expected);
}

// The kernel's page of zeros is not part of RSS (proc(5), smaps). Some kernels of virtual machines have none: a page
// that is read is a page of its own then.
TEST_F(PagemapOfThisProcess, APageThatWasOnlyReadIsOneOfZeros) {
  const Pagemap pagemap(*process_);
  if (!pagemap.is_open()) GTEST_SKIP() << "no /proc/self/pagemap";
  const std::uint64_t before = resident();
  EXPECT_EQ(memory_[50 * page_], 0);
  const PageKind kind = resident() == before ? PageKind::kZero : PageKind::kPresent;
  std::vector<Seen> all, entries;
  const auto into = [](std::vector<Seen>& seen) {
    return [&seen](const PageRun& run, PageKind kind) { seen.push_back({run, kind}); };
  };
  ASSERT_TRUE(pagemap.visit(start_ + 50 * page_, start_ + 51 * page_, into(all)));
  ASSERT_TRUE(pagemap.visit_entries(start_ + 50 * page_, start_ + 51 * page_, into(entries)));
  const std::vector<Seen> expected = {{pages(50, 1), kind}};
  EXPECT_EQ(all, expected);
  EXPECT_EQ(entries, expected);
}

}  // namespace
}  // namespace jtrace::target
