// Shared by the benchmarks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tests/testlib/jdk_matrix.h"

namespace jtrace::test {

// 0 without values; the mean of the two middle values if their number is even.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// The parts of a benchmark by name.
using Benches = std::vector<std::pair<const char*, Result<> (*)(const Jdk&)>>;

// main() of a benchmark: runs the named parts, or all, on each JDK outside the chroot. Exit status 1 if one failed.
inline int run_benches(const Benches& all, const std::set<std::string>& wanted) {
  int status = 0;
  for (const auto& [name, bench] : all)
    for (const Jdk& jdk : jdks()) {
      if (jdk.root || (!wanted.empty() && !wanted.contains(name))) continue;
      if (const auto done = bench(jdk); !done) {
        std::fprintf(stderr, "%s %s: %s\n", name, jdk.name.c_str(), done.error().message().c_str());
        status = 1;
      }
    }
  return status;
}

}  // namespace jtrace::test
