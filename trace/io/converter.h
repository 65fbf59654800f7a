// Converters: EventSinks that write a trace in another format, one file per format. Everything that a format cannot
// represent is counted by kind. All write into a ByteSink (borrowed, finished with them). One thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/event_sink.h"
#include "trace/schema.h"

namespace jtrace::trace::io {

class Converter : public EventSink {
 public:
  // Counts by element the events that the output does not have, and by "element@attribute" the values that it lacks of
  // the events that it has (a child by its element: "methodEntry@value"). Complete after finish().
  std::map<std::string, std::uint64_t> lost() const;
  // Properties of the output that it does not show itself, one sentence each. Complete after finish().
  const std::vector<std::string>& notes() const { return notes_; }
  // What the input lacks and its events do not say: "t.xml: truncated after 12 elements". Before finish(). Only an
  // output that people ask later, away from these messages, has it.
  virtual void add_missing(const std::string& line) { static_cast<void>(line); }

 protected:
  // What a format has of an element: attributes, separated by blanks; children by their names.
  struct Carried {
    std::string_view element, attributes;
  };
  // Counts the values of `event` that its row of Table lacks; an element without a row is passed to lose().
  template <const auto& Table>
  void lose_attributes(const Event& event);
  void lose(const Event& event);
  // Counts exits of calls whose entry was not seen: a format of begin and end pairs cannot represent them.
  void lose_exits(std::uint64_t count);
  std::map<std::string, std::uint64_t> lost_;
  std::vector<std::string> notes_;

 private:
  static constexpr std::size_t kMaxAttributes = 20, kValues = 20, kContext = 21, kText = 22, kItems = 23;
  std::array<std::array<std::uint64_t, 24>, kElementCount> lost_attributes_{};

  template <const auto& Table>
  static constexpr bool has_row(std::string_view element) {
    for (const Carried& row : Table)
      if (row.element == element) return true;
    return false;
  }
  template <const auto& Table>
  static constexpr bool carries(std::string_view element, std::string_view attribute) {
    for (const Carried& row : Table) {
      if (row.element != element) continue;
      for (std::size_t at = 0; at <= row.attributes.size();) {
        std::size_t end = row.attributes.find(' ', at);
        if (end == std::string_view::npos) end = row.attributes.size();
        if (row.attributes.substr(at, end - at) == attribute) return true;
        at = end + 1;
      }
    }
    return false;
  }
  template <const auto& Table, class Element>
  void lose_attributes_of(const Element& element);
};

template <const auto& Table, class Element>
void Converter::lose_attributes_of(const Element& element) {
  using Of = Schema<Element>;
  if constexpr (has_row<Table>(Of::name)) {
    auto& counts = lost_attributes_[static_cast<std::size_t>(kKindOf<Element>)];
    constexpr std::size_t kCount = Of::infos.size();
    static_assert(kCount <= kMaxAttributes);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<std::size_t At>(std::integral_constant<std::size_t, At>) {
        if constexpr (!carries<Table>(Of::name, Of::infos[At].name))
          counts[At] += is_present(element.*kMember<Element, At>) ? 1u : 0u;
      };
      (one(std::integral_constant<std::size_t, I>()), ...);
    }
    (std::make_index_sequence<kCount>());
    if constexpr (requires { element.values; } && !carries<Table>(Of::name, "value"))
      counts[kValues] += element.values.size();
    if constexpr (requires { element.invocationContext; } && !carries<Table>(Of::name, "InvocationContext"))
      counts[kContext] += element.invocationContext != nullptr ? 1u : 0u;
    if constexpr (requires { element.text; } && !carries<Table>(Of::name, "text"))
      counts[kText] += element.text.present() ? 1u : 0u;
    if constexpr (requires { element.items; } && !carries<Table>(Of::name, "items"))
      counts[kItems] += element.items.size();
  }
}

template <const auto& Table>
void Converter::lose_attributes(const Event& event) {
  std::visit([&](const auto& element) { lose_attributes_of<Table>(element); }, event);
}

// The weight of collapsed stacks.
enum class Weight { kWall, kCpu, kAllocation };

// One JSON object per line, {"element": "gcStart", attributes..., "values": [...]}. Ids and sizes are numbers; times
// are text ("seconds.nnnnnnnnn"), because a double would lose ns. Represents everything.
std::unique_ptr<Converter> make_jsonl_writer(ByteSink& bytes);
// The trace event format of Chrome and Perfetto: times relative to the first traceStart, in us; calls as B and E, both
// named, all closed; waits and pauses as X.
std::unique_ptr<Converter> make_chrome_writer(ByteSink& bytes);
// speedscope's own format, one evented profile per thread. Keeps 16 bytes per call until the end.
std::unique_ptr<Converter> make_speedscope_writer(ByteSink& bytes, std::string name);
// "thread;outer;inner WEIGHT" per line, stacks merged: ns of wall or CPU time, or allocated bytes. Allocations with a
// stack of their own (contextData) are added there, others to the open calls.
std::unique_ptr<Converter> make_collapsed_writer(ByteSink& bytes, Weight weight);
// SDDF ASCII with the descriptors of EdenTV's traces (docs/formats.md has the mapping).
std::unique_ptr<Converter> make_sddf_writer(ByteSink& bytes);

}  // namespace jtrace::trace::io
