// InnerFigures: what the platform MXBeans of a JVM say and its counters do not: the pools of generated code
// (MemoryPoolMXBean), the states of threads (ThreadMXBean), the direct buffers (BufferPoolMXBean "direct"). Who can
// read a JVM's own structures fills it in (coreinspect/tools/inner_figures.h). Values.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perfdata/mx_beans.h"

namespace jtrace::perfdata {

// Thread.State, in its order.
inline constexpr std::array<std::string_view, 6> kThreadStates = {"NEW",     "RUNNABLE",      "BLOCKED",
                                                                  "WAITING", "TIMED_WAITING", "TERMINATED"};
using ThreadsByState = std::array<std::int64_t, kThreadStates.size()>;

struct BufferFigures {
  std::int64_t count = 0, capacity = 0, used = 0;  // buffers, bytes, bytes
};

struct ThreadStates {
  ThreadsByState user{}, daemon{};
};

struct InnerFigures {  // nothing where it could not be read
  std::vector<PoolBean> code_heaps;
  std::optional<ThreadStates> threads;  // without those that the JVM hides from its beans
  std::optional<BufferFigures> direct_buffers;
  std::optional<Error> problem = {};  // why none of it could be read
};

struct NumberedJvm {
  pid_t pid = 0;
  std::uint64_t number = 0;  // never used twice for one reader
};
// The figures of each of these, which are all that it is asked about now.
using InnerReader = std::function<std::vector<InnerFigures>(const std::vector<NumberedJvm>& jvms)>;

}  // namespace jtrace::perfdata
