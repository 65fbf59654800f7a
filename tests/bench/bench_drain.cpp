// From the rings to the document: two threads write monitor events into a pool as fast as they can, and wait when it is
// full; the drainer sorts them and writes XML. All events must arrive. Prints events per second without output and into
// a file, and the floor: the same events drained and discarded.
//
//   bench_drain [EVENTS [FILE]]   default 20 million; FILE is written and removed (default: no file)
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "session/document/drainer.h"
#include "session/document/trace_output.h"
#include "trace/record/definition_builder.h"
#include "trace/record/pool_writer.h"

namespace jtrace::session {
namespace {

namespace record = trace::record;

constexpr std::size_t kPoolSize = 64u << 20;
constexpr int kProducers = 2;

std::unique_ptr<std::byte, decltype(&std::free)> make_pool() {
  return {static_cast<std::byte*>(std::aligned_alloc(4096, kPoolSize)), &std::free};
}

// Defines the threads and the one monitor that the events refer to.
void define(const record::Pool& pool) {
  record::DefinitionWriter definitions(pool);
  for (std::uint64_t thread = 1; thread <= kProducers; ++thread) {
    const std::string bytes = record::thread_definition(thread, monotonic_ns(), "producer");
    definitions.write(bytes.data(), bytes.size());
  }
  const std::string monitor = record::object_definition(1, monotonic_ns(), 0, 16);
  definitions.write(monitor.data(), monitor.size());
}

void produce(const record::Pool& pool, std::uint64_t thread, std::uint64_t events) {
  record::EventWriter writer(pool);
  record::MonitorRecord made{};
  made.thread = thread;
  made.object = 1;
  for (std::uint64_t i = 0; i < events; ++i) {
    const auto kind = i % 2 == 0 ? record::RecordKind::kMonContendedEnter : record::RecordKind::kMonContendedEntered;
    while (!writer.write(made, kind)) {
      pool.header().dropped_events.fetch_sub(1);  // it is written in the end
      std::this_thread::yield();
    }
  }
  writer.close();
}

// The floor: drained records are discarded.
class Nothing final : public record::RecordSink {
 public:
  Result<> on_definition(std::span<const std::byte>) override { return {}; }
  Result<> on_event(const record::RecordHeader&) override {
    ++events;
    return {};
  }
  std::uint64_t events = 0;
};

template <class Pass>
double run(const record::Pool& pool, std::uint64_t events, Pass pass) {
  const std::uint64_t start = monotonic_ns();
  std::vector<std::thread> producers;
  for (std::uint64_t i = 1; i <= kProducers; ++i)
    producers.emplace_back([&pool, i, events] { produce(pool, i, events / kProducers); });
  pass();
  for (std::thread& producer : producers) producer.join();
  return static_cast<double>(monotonic_ns() - start) / 1e9;
}

double drain_into_nothing(std::uint64_t events) {
  const auto memory = make_pool();
  const record::Pool pool = record::format_pool(memory.get(), kPoolSize);
  auto reader = record::PoolReader::open({memory.get(), kPoolSize});
  Nothing nothing;
  return run(pool, events, [&] {
    while (nothing.events < events / kProducers * kProducers) {
      if (!reader->drain(nothing, record::PoolReader::Mode::kLive)) return;
      reader->release(false);
    }
  });
}

bool drain_into(const std::string& path, std::uint64_t events, double floor) {
  const auto memory = make_pool();
  const record::Pool pool = record::format_pool(memory.get(), kPoolSize);
  define(pool);
  TraceOptions options;
  options.min_free = 0;
  options.min_contention = 0;  // the events are short contentions, and all must arrive
  auto output = TraceOutput::open(path, options);
  if (!output) return std::fprintf(stderr, "%s\n", output.error().message().c_str()), false;
  auto reader = record::PoolReader::open({memory.get(), kPoolSize});
  const ClockAnchor anchor = ClockAnchor::now();
  Drainer drainer(*reader, **output, {}, options, anchor);
  if (!drainer.begin(anchor.monotonic)) return false;
  const std::uint64_t head = drainer.figures().events;
  const std::uint64_t wanted = events / kProducers * kProducers + kProducers + 1;  // two threads, one object
  bool sound = true;
  const double seconds = run(pool, events, [&] {
    while (sound && drainer.figures().events - head < wanted) {
      const auto pass = drainer.pass(Drainer::Mode::kLive);
      sound = pass && drainer.figures().malformed == 0;
    }
  });
  sound = sound && drainer.end(Drainer::Mode::kFinal) && reader->counts().dropped_events == 0;
  std::printf("%-12s %9.2f M events/s  %6.1f s  %7.1f MiB  %4.0f MiB/s  floor %6.2f M events/s  ratio %.2f  %s\n",
              path.c_str(), static_cast<double>(events) / seconds / 1e6, seconds,
              static_cast<double>((*output)->bytes()) / (1 << 20),
              static_cast<double>((*output)->bytes()) / (1 << 20) / seconds, static_cast<double>(events) / floor / 1e6,
              floor / seconds, sound ? "none lost" : "EVENTS LOST");
  return sound;
}

}  // namespace
}  // namespace jtrace::session

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? jtrace::parse_decimal<std::uint64_t>(argv[1]).value_or(0) : 20'000'000;
  if (events < 2) {
    std::fprintf(stderr, "usage: bench_drain [EVENTS [FILE]]\n");
    return 2;
  }
  const double floor = jtrace::session::drain_into_nothing(events);
  bool sound = jtrace::session::drain_into("/dev/null", events, floor);
  if (argc > 2) {
    sound = jtrace::session::drain_into(argv[2], events, floor) && sound;
    ::unlink(argv[2]);
  }
  return sound ? 0 : 1;
}
