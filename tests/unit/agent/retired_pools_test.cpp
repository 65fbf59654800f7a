#include "agent/retired_pools.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/unique_fd.h"

namespace jtrace::agent {
namespace {

constexpr std::size_t kSize = 64 * 1024;
constexpr int kPools = 20;

struct Pools {
  UniqueFd file{memfd_create("pool", MFD_CLOEXEC)};
  std::vector<unsigned char*> places;

  Pools() {
    if (ftruncate(file.get(), kSize) != 0) return;
    for (int i = 0; i < kPools; ++i) {
      void* place = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
      if (place == MAP_FAILED) return;
      places.push_back(static_cast<unsigned char*>(place));
    }
  }
  unsigned char first_byte() const {
    unsigned char byte = 0;
    return pread(file.get(), &byte, 1, 0) == 1 ? byte : 0xff;
  }
};

bool is_mapped(void* place) { return msync(place, kSize, MS_ASYNC) == 0; }

TEST(RetiredPools, StayAndLeadNowhere) {
  const Pools pools;
  ASSERT_EQ(pools.places.size(), std::size_t{kPools});
  pools.places[0][0] = 7;
  for (unsigned char* place : pools.places) retire_pool(place, kSize);
  for (unsigned char* place : pools.places) {
    ASSERT_TRUE(is_mapped(place));
    EXPECT_EQ(place[0], 0);
    place[0] = 9;  // by a thread that was suspended in a callout
  }
  EXPECT_EQ(pools.first_byte(), 7);
}

// In a child, because the limit would remain for later tests.
TEST(RetiredPools, AreFewWhereAddressesAre) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Pools pools;
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::uint64_t{1} << 46;
    if (pools.places.size() != kPools || setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
    for (unsigned char* place : pools.places) retire_pool(place, kSize);
    int mapped = 0;
    for (unsigned char* place : pools.places) mapped += is_mapped(place) ? 1 : 0;
    _exit(mapped == 8 && is_mapped(pools.places.back()) ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace jtrace::agent
