#include "agent/retired_pools.h"

#include <sys/resource.h>

#include "agent/anonymous_memory.h"

namespace jtrace::agent {
namespace {

constexpr unsigned kKeptOfFew = 8;

struct Place {
  void* base;
  std::uint64_t size;
};
constinit Place g_last[kKeptOfFew] = {};
constinit unsigned g_next = 0;

bool addresses_are_few() {
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

void retire_pool(void* base, std::uint64_t size) {
  anonymous_memory(size, base, MAP_FIXED);
  if (!addresses_are_few()) return;
  Place& place = g_last[g_next++ % kKeptOfFew];
  if (place.base != nullptr) munmap(place.base, place.size);
  place = {base, size};
}

}  // namespace jtrace::agent
