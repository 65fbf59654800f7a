// LeakGrowth: which of the parts of a heap that look like leaks grow, from several looks at the same JVM, and how fast.
//
// Of each look only the suspects are kept, also small ones (kGrowthLimits), so that only one graph is in memory at a
// time. A suspect is the same in two looks if it is of the same kind and class and is in the same field, or, where none
// is known, has the same holder: objects move, and several threads may lead to one. Ownership: nothing. Threads: one at
// a time.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "coreinspect/graph/leak_report.h"

namespace jtrace::coreinspect {

// What grows may be small yet.
inline constexpr LeakLimits kGrowthLimits{.share = 0.002, .bytes = 32u << 10, .direct = 256u << 10};

// A suspect at one look; those that are equal by kind, class and field or holder, together.
struct LeakSize {
  double seconds = 0;  // since the first look
  std::uint64_t retained = 0, entries = 0;
  std::uint64_t suspects = 0;  // how many they are; 0: it was not found
  bool found() const { return suspects > 0; }
};

struct GrowingLeak {
  LeakSuspect suspect;          // as it was at the last look
  std::vector<LeakSize> sizes;  // one for each look
  bool grew_each_time = false;  // entries, or bytes where no entries are counted or their number stays
  double bytes_per_second = 0;  // from the first look that found it to the last; less than 0: it shrank
  double entries_per_second = 0;
};

class LeakGrowth {
 public:
  // `seconds` since the first look.
  void look(const HeapTree& tree, double seconds);
  // Those that grew each time first, the fastest first; of one that is part of another only that which gets entries.
  // Then those that did not, if they are suspects by `limits` without that.
  std::vector<GrowingLeak> result(const LeakLimits& limits = {}) const;
  std::size_t looks() const { return looks_.size(); }
  double seconds() const { return looks_.empty() ? 0 : looks_.back().seconds; }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Seen {
    LeakSuspect suspect;
    std::vector<Key> above;                                 // the suspects that dominate it
    std::uint64_t suspects = 1, retained = 0, entries = 0;  // of all of this key; `suspect` is the first of them
  };
  struct Look {
    double seconds = 0;
    std::uint64_t reachable = 0;
    std::map<Key, Seen> seen;
  };
  static Key key_of(const LeakSuspect& suspect) {
    return {suspect.kind, suspect.field.empty() ? suspect.holder : suspect.field, suspect.of};
  }
  GrowingLeak grown(const Key& key, const Seen& last) const;
  bool is_part_of(const Key& key, const Key& other) const;

  std::vector<Look> looks_;
};

}  // namespace jtrace::coreinspect
