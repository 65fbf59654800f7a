// The speed of the XML writer: a mix of method entries and exits, with times in ns and with times of the coarse clock,
// into memory, compared with copying lines of the same length with memcpy. Prints events per second and the ratio.
// Argument: events (default 20 million).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/strings.h"
#include "trace/xml_writer.h"

namespace {

using namespace jtrace::trace;
using Clock = std::chrono::steady_clock;

// Discards its bytes: only the buffer is written.
class DiscardSink final : public ByteSink {
  jtrace::Result<> drain(std::string_view records) override {
    held_ += records.size();
    return {};
  }
  std::uint64_t held() const override { return held_; }
  std::uint64_t held_ = 0;
};

struct Measurement {
  double seconds;
  std::uint64_t bytes;
};

constexpr std::uint64_t kStart = 1'763'650'001'200'012'345;

MethodEntry entry(std::uint64_t i) {
  return {.threadIdRef = ThreadId(20 + i % 7),
          .time = Time(kStart + i * 137),
          .methodIdRef = MethodId(1 + i % 20'000),
          .ticket = i / 2,
          .classIdRef = ClassId(1 + i % 2'000),
          .stackDepth = i % 90,
          .collationValue = i + 1};
}
MethodExit exit_of(std::uint64_t i) {
  return {.threadIdRef = ThreadId(20 + i % 7),
          .time = Time(kStart + i * 137),
          .ticket = i / 2,
          .methodIdRef = MethodId(1 + i % 20'000),
          .classIdRef = ClassId(1 + i % 2'000),
          .collationValue = i + 1};
}

// Part of a trace that stays in the cache, so that the writer is measured and not the memory.
std::vector<Event> sample(Text trace_id, bool coarse) {
  std::vector<Event> events;
  for (std::uint64_t i = 0; i < 2048; i += 2) {
    MethodEntry in = entry(i + 1'000'000);
    in.traceIdRef = trace_id;
    MethodExit out = exit_of(i + 1'000'001);
    out.traceIdRef = trace_id;
    if (coarse) in.time = out.time = Time(kStart + i / 1000 * 100'000);  // a clock that is advanced from time to time
    events.push_back(in);
    events.push_back(out);
  }
  return events;
}

Measurement format(std::uint64_t events, Text trace_id, bool coarse) {
  DiscardSink bytes;
  XmlWriter writer(bytes);
  const std::vector<Event> stretch = sample(trace_id, coarse);
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < events; ++i)
    if (!writer.write(stretch[i % stretch.size()])) return {};
  if (!writer.finish()) return {};
  return {std::chrono::duration<double>(Clock::now() - start).count(), bytes.bytes_written()};
}

Measurement copy(std::uint64_t events, std::size_t line_size) {
  const std::string line(line_size, 'x');
  DiscardSink bytes;
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < events; ++i) {
    char* room = bytes.reserve(line_size);
    std::memcpy(room, line.data(), line_size);
    bytes.commit(line_size);
  }
  return {std::chrono::duration<double>(Clock::now() - start).count(), bytes.bytes_written()};
}

template <class F>
Measurement best_of_five(F f) {
  Measurement best = f();
  for (int i = 1; i < 5; ++i) {
    const Measurement next = f();
    if (next.seconds < best.seconds) best = next;
  }
  return best;
}

void report(const char* what, std::uint64_t events, Text trace_id, bool coarse) {
  const Measurement written = best_of_five([&] { return format(events, trace_id, coarse); });
  const std::size_t line = written.bytes / events;
  const Measurement copied = best_of_five([&] { return copy(events, line); });
  std::printf("%-28s %6.1f M events/s  %5.1f ns/event  %4zu bytes/event  memcpy floor %6.1f M/s  ratio %.2f\n", what,
              static_cast<double>(events) / written.seconds / 1e6, written.seconds * 1e9 / static_cast<double>(events),
              line, static_cast<double>(events) / copied.seconds / 1e6, copied.seconds / written.seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? jtrace::parse_decimal<std::uint64_t>(argv[1]).value_or(0) : 20'000'000;
  if (events < 2) {
    std::fprintf(stderr, "usage: bench_xml_writer [EVENTS]\n");
    return 2;
  }
  report("entry/exit", events, {}, false);
  report("entry/exit, coarse time", events, {}, true);
  report("entry/exit with traceIdRef", events, "0b7ad4bc-5a0c-4b0f-9f0a-0f5e0d3c2b1a", false);
  return 0;
}
