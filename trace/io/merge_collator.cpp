#include "trace/io/merge_collator.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "trace/option_keys.h"

namespace jtrace::trace::io {

Result<> MergeCollator::collate(MergeTrace& trace) {
  if (trace.collates) {
    // Items before the first collationValue of their input are ordered by time.
    std::size_t input = streams_.input_count();
    bool seen = false;
    for (MergeItem& item : trace.items) {
      if (const std::size_t of = streams_.input_of(item); of != input) {
        input = of;
        seen = false;
      }
      seen = seen || item.collates;
      if (!seen) item.key = 0;
      if (item.is_end && !item.collates) item.key = std::numeric_limits<std::uint64_t>::max();
    }
  }
  const auto less = [](const MergeItem& a, const MergeItem& b) { return a.key < b.key; };
  if (!std::is_sorted(trace.items.begin(), trace.items.end(), less))
    std::stable_sort(trace.items.begin(), trace.items.end(), less);
  JTRACE_RETURN_IF_ERROR(drop_duplicates(trace));
  if (trace.collates) mark_gaps(trace);
  set_times(trace);
  return {};
}

Result<> MergeCollator::drop_duplicates(MergeTrace& trace) {
  std::vector<MergeItem>& items = trace.items;
  std::size_t out = 0;
  for (std::size_t from = 0, to; from < items.size(); from = to) {
    bool several = false;
    for (to = from + 1; to < items.size() && items[to].key == items[from].key; ++to)
      several = several || (items[to].collates && items[from].collates) ||
                streams_.input_of(items[to]) != streams_.input_of(items[from]);
    std::size_t own = items.size();                 // the item with this collationValue
    std::unordered_set<std::string> others;         // items without one, of earlier inputs
    std::unordered_set<std::string> of_this_input;  // ... of the current input
    std::size_t input = streams_.input_count();
    for (std::size_t i = from; i < to; ++i) {
      if (!several) {
        items[out++] = items[i];
        continue;
      }
      JTRACE_ASSIGN_OR_RETURN(const std::string_view line, streams_.text_of(items[i]));
      const std::string text(line);
      bool again = false;
      if (items[i].collates && own != items.size()) {
        JTRACE_ASSIGN_OR_RETURN(const std::string_view first, streams_.text_of(items[own]));
        if (first != text)
          return fail(ErrorCategory::kMalformed, streams_.place_of(items[i]) +
                                                     "another element has the collationValue " +
                                                     std::to_string(items[i].key) + " of trace " + trace.id + ": " +
                                                     streams_.place_of(items[own]) + "differs");
        again = true;
      } else if (items[i].collates) {
        own = out;
      } else {
        if (streams_.input_of(items[i]) != input) {
          input = streams_.input_of(items[i]);
          others.merge(of_this_input);
        }
        again = others.count(text) != 0;
        of_this_input.insert(text);
      }
      if (again) ++summary_.duplicates;
      else items[out++] = items[i];
    }
  }
  items.resize(out);
  return {};
}

// Adds option jtrace.dropped after the element before each gap, unless there is one.
void MergeCollator::mark_gaps(MergeTrace& trace) {
  const std::string dropped_key = "key=\"" + std::string(kDroppedKey) + '"';
  std::uint64_t expected = 1;
  std::vector<std::pair<std::size_t, std::uint64_t>> marks;  // so many lost before this item
  std::size_t after_last = 0;                                // after the last item with a collationValue
  for (std::size_t i = 0; i < trace.items.size(); ++i) {
    const MergeItem& item = trace.items[i];
    if (!item.collates) continue;
    if (item.key > expected) {
      summary_.gaps.push_back({trace.id, expected, item.key - 1});
      bool marked = false;
      for (std::size_t between = after_last; between < i && !marked; ++between) {
        const auto text = streams_.text_of(trace.items[between]);
        marked = text && text->find(dropped_key) != std::string_view::npos;
      }
      if (!marked) marks.emplace_back(i, item.key - expected);
    }
    expected = item.key + 1;
    after_last = i + 1;
  }
  if (marks.empty()) return;
  std::vector<MergeItem> items;
  items.reserve(trace.items.size() + marks.size());
  auto mark = marks.begin();
  for (std::size_t i = 0; i < trace.items.size(); ++i) {
    if (mark != marks.end() && mark->first == i) {
      const std::string count = std::to_string(mark->second);
      items.push_back(streams_.add_line(trace.items[i].key, "<option " + dropped_key + " value=\"" + count +
                                                                "\" traceIdRef=\"" + trace.id + "\"/>\n"));
      ++mark;
    }
    items.push_back(trace.items[i]);
  }
  trace.items = std::move(items);
}

void MergeCollator::set_times(MergeTrace& trace) {
  const std::int64_t shift = clock_shift(trace);
  std::uint64_t last = 0;
  for (const MergeItem& item : trace.items)
    if (item.time != 0) {
      last = item.time;
      break;
    }
  for (MergeItem& item : trace.items) {
    last = std::max(last, item.time);
    item.time = last;
  }
  if (shift == 0) return;
  for (MergeItem& item : trace.items)
    item.time = static_cast<std::uint64_t>(std::max<std::int64_t>(static_cast<std::int64_t>(item.time) + shift, 0));
}

// Converts the trace's times to the clock of its node's first trace: both have the monotonic clock.
std::int64_t MergeCollator::clock_shift(const MergeTrace& trace) {
  const MergeClock clock = streams_.clock_of(trace);
  const std::string node = streams_.head().node_of(trace.agent);
  if (!clock.known || node.empty()) return 0;
  const MergeClock first = node_clocks_.try_emplace(node, clock).first->second;
  const auto offset = [](const MergeClock& c) { return static_cast<std::int64_t>(c.realtime - c.monotonic); };
  return offset(first) - offset(clock);
}

}  // namespace jtrace::trace::io
