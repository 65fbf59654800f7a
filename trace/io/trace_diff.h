// What differs between two recordings: traces, profiles (stack_profile.h), or the JSON of a class histogram. Each is
// made into tables of figures; tables that both have are compared row by row, the greatest difference first. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "trace/io/recorded_with.h"
#include "trace/io/report.h"
#include "trace/io/stack_profile.h"

namespace jtrace::trace::io {

// Tables of what each has without those that it calls, and of calls: callers share it.
inline constexpr std::string_view kSelfTime = "methods: self time", kFramesBySelf = "frames: by themselves",
                                  kNumberOfCalls = "methods: number of calls",
                                  kTotalTime = "methods: total time, with what they call";

struct Figure {
  double amount = 0;  // in the table's unit
  double count = 0;   // how often, or how many
  bool is_none() const { return amount == 0 && count == 0; }
  double mean() const { return count == 0 ? 0 : amount / count; }
};
struct FigureTable {
  std::string title;      // "methods: self time"
  std::string unit;       // "ns", "bytes", "samples", "times"
  bool over_time = true;  // grows with the length of the recording
  bool in_both = false;   // rows that only one has are not compared
  bool partial = false;   // it has not all rows: those that it lacks are not compared
  std::map<std::string, Figure> rows;
  std::uint64_t lost = 0, events = 0;  // of the producer: events lost while tracing, and events that there are
};
struct Recording {
  std::string name;    // of the file
  std::string kind;    // "trace", "profile", "histogram"
  double seconds = 0;  // 0: not known
  std::vector<FigureTable> tables;
  StackProfile stacks;  // may be empty
  StackProfile calls;   // of a trace: how often the innermost method was called with these callers; may be empty
  std::vector<std::string> missing;
  std::vector<std::string> notes;  // what the figures are of, where that is not everything, in words
  bool begins_later = false;       // of a trace: it continues another file
  bool slow_calls_only = false;    // of a trace: quick calls were not recorded
  RecordedWith made;               // of a trace, and the document of a profile; its reader adds it
};
// `report` is finished. If the input is cut off or lacks parts, its reader adds that to `missing`.
Recording recording_of(const ReportCollector& report, std::string name);
Recording recording_of(StackProfile profile, std::string name);
// The JSON of jtrace inspect ... histogram. kMalformed: it is something else.
Result<Recording> recording_of(const JsonValue& histogram, std::string name);

struct DiffRow {
  std::string name;
  Figure before, after;  // after: scaled
  bool differs = false;  // from DiffTable::usual, if that applies
  double change() const { return after.amount - before.amount; }
};
// The ratio (after to before) of the mean self time that methods have in the middle (usual_ratio.h), not scaled.
struct UsualRatio {
  double ratio = 1;
  double calls = 1;                    // of their numbers of calls
  double width = 1;                    // a factor: what is within it of `ratio` is as usual
  std::size_t methods = 0, alike = 0;  // it is of so many; of these so many have about that ratio
  bool applies() const;                // it is known, and not about 1
};
// Where events were lost, amounts are at least those: shares of the whole and means can be compared, as far as the loss
// hit all rows alike.
struct DiffTable {
  std::string title, unit;
  bool over_time = true;
  double lost_before = 0, lost_after = 0;  // shares (0 to 1) of the events of its producer
  Figure all_before, all_after;            // sums of all rows
  bool is_comparable() const { return lost_before == 0 && lost_after == 0; }
  bool has_shares() const { return !is_comparable() && over_time && all_before.amount > 0 && all_after.amount > 0; }
  UsualRatio usual;           // of the self time of methods
  std::vector<DiffRow> rows;  // that differ, the greatest difference first: from what is usual, if that applies
  std::size_t same = 0;       // rows that do not
};
struct Difference {
  const Recording* before = nullptr;
  const Recording* after = nullptr;
  double scale = 1;           // by which the figures of `after` that grow with time are multiplied
  std::string scaled_note;    // why, or why not though the lengths differ, in words; "": they are not
  std::string usual_note;     // that most methods took longer, or less long, in words; "": they did not
  bool is_comparable = true;  // false: events were lost for one of the tables
  std::vector<DiffTable> tables;
  std::vector<std::string> alone;  // tables that only one of them has, in words
  // Of both recordings.
  std::vector<std::string> missing() const { return of_both(&Recording::missing); }
  std::vector<std::string> notes() const { return of_both(&Recording::notes); }
  std::vector<std::string> of_both(std::vector<std::string> Recording::*lines) const;
};
// `as_is`: nothing is scaled. Durations that differ by less than kSameTime are the same; so are numbers of calls, and
// then nothing is scaled either. The recordings are borrowed.
// Profiles whose times are not known are scaled to the same number of samples: their shares are compared.
inline constexpr double kSameTime = 0.02;
Difference compare(const Recording& before, const Recording& after, bool as_is);

std::string diff_text(const Difference& difference, std::size_t rows);
std::string diff_json(const Difference& difference, std::size_t rows);
// The page of jtrace report with these tables and a flame graph of the differences.
std::string diff_page(const Difference& difference);
// The same with the flame graph and the frames of one profile.
std::string profile_page(const StackProfile& profile, const std::string& title);

}  // namespace jtrace::trace::io
