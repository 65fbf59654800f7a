// TopView: the lines of `hsperf top`: one JVM a line, with its heap, its share of time in pauses, threads, and how the
// first two went. Knows nothing of terminals but their size. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "perfdata/gc_tracker.h"
#include "perfdata/jvm_set.h"

namespace jtrace::perfdata {

enum class TopOrder : std::uint8_t { kHeap, kGc, kThreads, kPid, kName };
// The key that chooses an order ('h', 'g', 't', 'p', 'n'); false for any other.
bool top_order_of(char key, TopOrder& order);

// kPauses: what the collector did, instead of histories.
enum class TopColumns : std::uint8_t { kHistories, kPauses };

class TopView {
 public:
  static constexpr std::size_t kHistory = 16;

  // Takes what `jvms` knows now into the histories.
  void update(const JvmSet& jvms);
  // A head line, a line of headings and a line for each JVM, at most `rows` in all and `columns` characters each;
  // without newlines. `columns` 0: as long as they get; otherwise columns are left out, so that the main class has
  // room.
  std::vector<std::string> lines(TopOrder order, std::size_t rows, std::size_t columns,
                                 TopColumns shown = TopColumns::kHistories) const;

 private:
  struct Line {
    pid_t pid = 0;
    std::string main;
    double heap_used = 0, heap_max = 0;
    double gc_share = 0, gc_rate = 0;
    bool has_rates = false;
    double threads = 0, uptime = 0;
    std::deque<double> heap_history, gc_history;  // shares, 0 to 1
    std::uint64_t seen = 0;
    GcTracker tracker;
    bool has_pauses = false;
    double pauses = 0;        // since the JVM began
    double longest = 0;       // s, of those that were seen
    std::string cause, kind;  // of the last one; "": not known
  };
  void note_pauses(Line& line, const Snapshot& now);
  std::vector<std::string> cells_of(const Line& line) const;
  std::vector<std::string> pauses_of(const Line& line) const;
  static std::string longest_text(const Line& line);

  std::map<std::uint64_t, Line> lines_;  // by LiveJvm::number
  std::size_t refused_ = 0;
  std::uint64_t round_ = 0;
};

// The head line: what fits of the keys; the one that ends is the last to go. `columns` 0: all.
std::string top_head(std::size_t jvms, std::size_t refused, std::size_t columns);
// Which of the columns of TopView fit beside a main class of that length.
std::vector<bool> top_columns(TopColumns shown, std::size_t columns, std::size_t main);
std::string top_heading(TopColumns shown, const std::vector<bool>& chosen);

// Eight heights of a block for values from 0 to 1; blanks in front up to `width`.
std::string sparkline(const std::deque<double>& values, std::size_t width);
// "950K", "1.5M", "12G": four characters of a number of bytes.
std::string short_size(double bytes);
// "59s", "12m", "5h", "3d".
std::string short_time(double seconds);

}  // namespace jtrace::perfdata
