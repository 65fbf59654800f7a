// Converters: EventSinks that write a trace in another format, one file per format. What a format cannot carry is
// counted by kind, never dropped in silence. All write into a ByteSink (borrowed, finished with them). One thread.
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
  // By element: how many events the output does not hold; by "element@attribute" how many values of those it does hold
  // (a child by its element: "methodEntry@value"). Complete after finish().
  std::map<std::string, std::uint64_t> lost() const;
  // What is true of the output and cannot be seen in it, a sentence each. Complete after finish().
  const std::vector<std::string>& notes() const { return notes_; }

 protected:
  // What a format holds of an element: attributes, separated by blanks; children by their names.
  struct Carried {
    std::string_view element, attributes;
  };
  // Counts what `event` has and its row of Table has not; an element without a row is lose()'s.
  template <const auto& Table>
  void lose_attributes(const Event& event);
  void lose(const Event& event);
  // Exits of calls whose entry was not seen: a format of begin and end pairs has no place for them.
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
