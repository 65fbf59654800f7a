// Converters: EventSinks that write a trace in another format, one file per format. What a format cannot carry is
// counted by kind, never dropped in silence. All write into a ByteSink (borrowed, finished with them). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/event_sink.h"

namespace jtrace::trace::io {

class Converter : public EventSink {
 public:
  // By element: how many events the output does not hold. Complete after finish().
  const std::map<std::string, std::uint64_t>& lost() const { return lost_; }

 protected:
  void lose(const Event& event);
  // Exits of calls whose entry was not seen: a format of begin and end pairs has no place for them.
  void lose_exits(std::uint64_t count);
  std::map<std::string, std::uint64_t> lost_;
};

// Which weight the frames of collapsed stacks carry.
enum class Weight { kWall, kCpu, kAllocation };

// One JSON object a line, {"element": "gcStart", attributes..., "values": [...]}. Ids and sizes are numbers, times
// text ("seconds.nnnnnnnnn": a double would lose ns). Carries everything.
std::unique_ptr<Converter> make_jsonl_writer(ByteSink& bytes);
// The trace event format of Chrome and Perfetto: times relative to the first traceStart, in us; calls as B and E, both
// named, all closed; waits and pauses as X.
std::unique_ptr<Converter> make_chrome_writer(ByteSink& bytes);
// speedscope's own format, one evented profile a thread. Holds 16 bytes a call until the end.
std::unique_ptr<Converter> make_speedscope_writer(ByteSink& bytes, std::string name);
// "thread;outer;inner WEIGHT" a line, stacks merged: ns of wall or CPU time, or allocated bytes. Allocations that carry
// a stack of their own (contextData) are put there, others on the calls that are open.
std::unique_ptr<Converter> make_collapsed_writer(ByteSink& bytes, Weight weight);
// SDDF ASCII with the descriptors of EdenTV's traces (docs/formats.md: what is mapped to what).
std::unique_ptr<Converter> make_sddf_writer(ByteSink& bytes);

}  // namespace jtrace::trace::io
