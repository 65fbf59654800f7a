// perfdata_mutations FILE COUNT [SEED [MS]]: makes COUNT damaged copies of an hsperfdata file, reads them, complete and
// truncated, with every value of those that are accepted, and shows some of them. A copy that takes more than MS (10)
// of CPU time is a failure; a crash ends the program. Prints a line of totals; exit status 1 if a copy failed.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>

#include "base/file.h"
#include "perfdata/layout_cache.h"
#include "perfdata/openmetrics.h"
#include "perfdata/snapshot.h"
#include "perfdata/snapshot_text.h"
#include "target/buffer_memory.h"

namespace jtrace::perfdata {
namespace {

using Bytes = std::vector<std::byte>;

// Damages a copy: flips bits, sets header words to harmful values, cuts off the end.
void damage(Bytes& bytes, std::mt19937_64& random) {
  constexpr std::uint32_t kHurtful[] = {0, 1, 4, 20, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff8, 32768, 12};
  for (std::uint64_t left = 1 + random() % 8; left > 0; --left) {
    const bool head = random() % 8 == 0;
    const std::size_t at = random() % (head ? std::min<std::size_t>(32, bytes.size()) : bytes.size());
    switch (random() % 4) {
      case 0: bytes[at] ^= std::byte{1} << (random() % 8); break;
      case 1: bytes[at] = static_cast<std::byte>(random()); break;
      case 2:
        if (at / 4 * 4 + 4 <= bytes.size())
          std::memcpy(bytes.data() + at / 4 * 4, &kHurtful[random() % std::size(kHurtful)], 4);
        break;
      default:
        if (random() % 16 == 0) bytes.resize(1 + random() % bytes.size());
    }
  }
}

// The sum of all values, so that each is read; if `show`, also printed as text and as metrics.
std::size_t look_at(const Snapshot& snapshot, bool show) {
  std::size_t sum = 0;
  for (const Counter& counter : snapshot.layout().counters()) {
    sum += static_cast<std::size_t>(snapshot.long_value(counter)) + snapshot.text_value(counter).size();
    for (const std::byte value : snapshot.raw_value(counter)) sum += std::to_integer<std::size_t>(value);
    for (const char c : counter.name) sum += static_cast<unsigned char>(c);
  }
  if (!show) return sum;
  std::string text;
  append_text(text, CounterTable(snapshot, {}), snapshot, {});
  MetricsWriter metrics({.arguments = true});
  metrics.add(snapshot, 1);
  metrics.append(text, {&snapshot}, MetricsFormat::kOpenMetrics);
  return sum + text.size();
}

std::uint64_t cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

int run(const char* path, std::uint64_t count, std::uint64_t seed, std::uint64_t limit_ms) {
  const auto whole = read_file(path);
  if (!whole || whole->empty()) {
    std::fprintf(stderr, "cannot read %s\n", path);
    return 2;
  }
  const auto* first = reinterpret_cast<const std::byte*>(whole->data());
  std::uint64_t accepted = 0, slow = 0, longest = 0;
  volatile std::size_t kept = 0;
  LayoutCache cache;
  Bytes bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::mt19937_64 random(seed + i);
    bytes.assign(first, first + whole->size());
    damage(bytes, random);
    const std::uint64_t before = cpu_ns();
    for (const bool partial : {false, true}) {
      const auto snapshot = read_snapshot(target::BufferMemory(0, bytes), 0, {.partial = partial});
      if (!snapshot) continue;
      accepted += !partial;
      kept = kept + look_at(*snapshot, i % 64 == 0);
      (void)cache.get(bytes, {.partial = partial});
    }
    const std::uint64_t took = cpu_ns() - before;
    longest = std::max(longest, took);
    if (took <= limit_ms * 1'000'000) continue;
    ++slow;
    std::printf("seed %llu: %llu us\n", static_cast<unsigned long long>(seed + i),
                static_cast<unsigned long long>(took / 1000));
  }
  std::printf("%llu damaged files: %llu accepted whole, %llu took more than %llu ms, the longest %llu us\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(accepted),
              static_cast<unsigned long long>(slow), static_cast<unsigned long long>(limit_ms),
              static_cast<unsigned long long>(longest / 1000));
  return slow == 0 ? 0 : 1;
}

}  // namespace
}  // namespace jtrace::perfdata

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: perfdata_mutations FILE COUNT [SEED [MS]]\n");
    return 2;
  }
  const auto number = [&](int i, std::uint64_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  return jtrace::perfdata::run(argv[1], number(2, 0), number(3, 1), number(4, 10));
}
