// Profiles in the formats of other tools. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sampling/profile_counts.h"

namespace jtrace::sampling {

// Describes a profile: for its title and for tools that show it.
struct ProfileHead {
  std::string title;    // "profile of Main (4711), 2026-11-28 10:20 UTC"
  std::string process;  // the main class
  std::int64_t pid = 0;
  std::string how;          // "99 Hz, perf events on each processor"
  std::uint64_t start = 0;  // ns since the epoch
  std::uint64_t elapsed = 0, lost = 0;
  std::string no_wakers;             // why it is not known who woke threads; "" if it is, or if there are no waits
  std::vector<std::string> notes;    // what samples lack by the way they are taken; one line each
  std::vector<std::string> missing;  // what is not in it besides lost samples; one line each
};

// "thread;outermost;...;innermost SAMPLES", as flame graph tools read it; of waits ns instead of samples.
std::string collapsed_text(const ProfileCounts& counts);
// speedscope's file format: one "sampled" profile a thread, weights in ns.
std::string speedscope_json(const ProfileCounts& counts, const ProfileHead& head);
// profile.proto, the format of pprof, not compressed. Values: samples, ns; the thread is a label.
std::string pprof_bytes(const ProfileCounts& counts, const ProfileHead& head);
// A flame graph as one static picture (trace/io/flame_svg.h): all threads together, unless there are several JVMs.
std::string profile_svg(const ProfileCounts& counts, const ProfileHead& head);
// A page like that of jtrace report, with the flame graph of the samples.
std::string profile_page(const ProfileCounts& counts, const ProfileHead& head);
// How much a table shows.
struct TableLimits {
  std::size_t rows = 20;
  double least_share = 0;  // of all samples: rows below it are left out, but the first few

  TableLimits(std::size_t most, double least = 0)
      : rows(most), least_share(least) {}  // NOLINT: a number of rows is one
};
// For a terminal: samples by innermost frame, by innermost method of the program, by method with all that it called, by
// thread, and by process if there are several; each with one row of what they leave out. Of waits: waits_table().
std::string profile_table(const ProfileCounts& counts, TableLimits limits);
// Methods and other frames by the samples of which they are the innermost.
struct FrameRow {
  std::uint32_t name = 0;             // of counts.names()
  std::uint64_t self = 0, total = 0;  // samples
};
std::vector<FrameRow> frame_rows(const ProfileCounts& counts);
// One object (docs/architecture.md, "JSON answers"): each stack from its outermost frame on, what it weighs, and of
// waits who had what they were for and who ended them.
std::string profile_json(const ProfileCounts& counts, const ProfileHead& head);
// Waits by what is waited for and where, the longest sum first; with --wall what runs is "[runs]".
struct WaitRow {
  std::string name;
  std::uint64_t time = 0, longest = 0, waits = 0;  // ns
  WaitPartyCounts parties;
};
std::vector<WaitRow> wait_rows(const ProfileCounts& counts);
// For a terminal: time by what is waited for and where, and by thread.
std::string waits_table(const ProfileCounts& counts, std::size_t rows);
// The first method outside the JDK, from the innermost frame on; otherwise the innermost method, otherwise the
// innermost frame. "" if there is no frame.
std::string place_of_wait(const ProfileCounts& counts, const ProfileCounts::Stack& stack);

}  // namespace jtrace::sampling
