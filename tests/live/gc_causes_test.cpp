// gcFinish says what the pause was for: cause and kind are those of the JVM's own log, pause by pause, with every
// collector.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/file.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

struct CollectorOf {
  Jdk jdk;
  std::string name;
  std::vector<std::string> flags;
};
std::ostream& operator<<(std::ostream& stream, const CollectorOf& of) { return stream << of.jdk << of.name; }

std::vector<CollectorOf> all_collectors() {
  std::vector<CollectorOf> all;
  for (const auto& [jdk, collector] : jdks_and_collectors())
    all.push_back({jdk, std::string(to_string(collector)), jdk.collector_flags(collector)});
  for (const Jdk& jdk : jdks()) {
    if (jdk.version < 14) all.push_back({jdk, "Cms", {"-XX:+UseConcMarkSweepGC"}});
    if (jdk.version >= 21 && jdk.version < 24)
      all.push_back({jdk, "ZGenerational", {"-XX:+UseZGC", "-XX:+ZGenerational"}});
  }
  return all;
}

class EachCollectorsCauses : public ::testing::TestWithParam<CollectorOf> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachCollectorsCauses);
INSTANTIATE_TEST_SUITE_P(Jdks, EachCollectorsCauses, ::testing::ValuesIn(all_collectors()),
                         [](const auto& info) { return NameOf::name(info.param.jdk) + "_" + info.param.name; });

struct Pause {
  std::uint64_t ms = 0;  // since the epoch; 0 in the log of JDK 8
  std::string kind, cause;
  long before = -1;        // MiB
  std::string cycle = {};  // of ZGC, in the log
  long total = -1;         // MiB, committed when it ended; of the same collectors
  long after = -1;         // MiB; in the log only of collectors that stop the program for all of a collection
  // Parallel makes a full collection of one that was to be young, and logs its own reason. The pause has that of the
  // operation.
  bool same_as(const Pause& logged) const {
    const bool is_upgraded = logged.cause == "Ergonomics" && cause == "Allocation Failure" && kind == "full";
    return kind == logged.kind && (logged.cause == "?" || cause == logged.cause || is_upgraded);
  }
};
std::string text_of(const Pause& pause) {
  return std::to_string(pause.ms) + " [" + pause.kind + "] (" + pause.cause + ") " + std::to_string(pause.before) +
         "->" + std::to_string(pause.after);
}

std::string kind_of(const std::string& word) {
  if (word == "Young") return "young";
  return word == "Full" ? "full" : "concurrent";
}
// The last text in parentheses: "Pause Young (Normal) (G1 Evacuation Pause)".
std::string last_in_parentheses(const std::string& text) {
  static const std::regex kLast(R"(\(((?:[^()]|\(\))*)\)\s*$)");
  std::smatch match;
  return std::regex_search(text, match, kLast) ? match[1].str() : "No GC";
}

class Log {
 public:
  Log(const CollectorOf& of) : of_(of) {}

  std::vector<Pause> read(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (of_.jdk.version < 9) old_line(line);
      else if (of_.name.starts_with("Z")) z_line(line);
      else if (of_.name == "Shenandoah") shenandoah_line(line);
      else line_of(line);
      static const std::regex kEnd(R"(Safepoint "|Leaving safepoint|application threads were stopped)");
      if (std::regex_search(line, kEnd)) in_safepoint_ = false, seen_.clear();
    }
    return std::move(pauses_);
  }

 private:
  void line_of(const std::string& line) {
    static const std::regex kPause(
        R"(^\[(\d+)ms\]\[gc(?:,start)? *\] GC\((\d+)\) Pause (Young|Full|Remark|Cleanup|Initial Mark)(.*))");
    std::smatch match;
    if (!std::regex_search(line, match, kPause)) return;
    static const std::regex kSizes(R"((\d+)M->(\d+)M\((\d+)M\))");
    std::smatch sizes;
    const std::string rest = match[4];
    if (!seen_.insert(match[2].str() + match[3].str()).second) {
      if (!std::regex_search(rest, sizes, kSizes) || pauses_.empty()) return;
      // Of two collections in one pause the first began with it, and the last one ended it.
      if (pauses_.back().before < 0) pauses_.back().before = std::stol(sizes[1]);
      pauses_.back().after = std::stol(sizes[2]);
      pauses_.back().total = std::stol(sizes[3]);
      return;
    }
    std::string cause = last_in_parentheses(rest);
    if (of_.name == "Cms" && match[3] == "Initial Mark") cause = "CMS Initial Mark";
    if (of_.name == "Cms" && match[3] == "Remark") cause = "CMS Final Remark";
    add({std::stoull(match[1]), kind_of(match[3]), cause});
  }
  void z_line(const std::string& line) {
    static const std::regex kCycle(R"(GC\((\d+)\) (Garbage|Major|Minor) Collection \((.*?)\)(?: \d|$))");
    static const std::regex kPause(R"(^\[(\d+)ms\]\[gc,phases *\] GC\((\d+)\) .*Pause )");
    std::smatch match;
    if (std::regex_search(line, match, kCycle)) {
      const std::string kind = match[2] == "Major" ? "major" : match[2] == "Minor" ? "minor" : "concurrent";
      cycles_[match[1]] = {0, of_.jdk.version < 17 ? "" : kind, match[3]};
    } else if (std::regex_search(line, match, kPause)) {
      Pause pause = cycles_[match[2]];
      pause.ms = std::stoull(match[1]);
      pause.cycle = match[2];
      pauses_.push_back(pause);
    }
    z_used(line);
  }
  // The table at the end of a cycle begins with what was used at Mark Start, its first pause.
  void z_used(const std::string& line) {
    static const std::regex kUsed(R"(GC\((\d+)\)(?: [YOyo]:)? +Used: +(\d+)M)");
    std::smatch match;
    if (!std::regex_search(line, match, kUsed)) return;
    const auto first =
        std::find_if(pauses_.begin(), pauses_.end(), [&](const Pause& pause) { return pause.cycle == match[1].str(); });
    if (first != pauses_.end() && first->before < 0) first->before = std::stol(match[2]);
  }
  // It does not say causes.
  void shenandoah_line(const std::string& line) {
    static const std::regex kPause(R"(^\[(\d+)ms\]\[gc,start *\] GC\(\d+\) Pause )");
    std::smatch match;
    if (std::regex_search(line, match, kPause)) pauses_.push_back({std::stoull(match[1]), "", "?"});
    static const std::regex kFull(R"(\[gc *\] GC\(\d+\) Pause (?:Full|Degenerated GC).* (\d+)M->\d+M\()");
    if (std::regex_search(line, match, kFull) && !pauses_.empty()) pauses_.back().before = std::stol(match[1]);
  }
  void old_line(const std::string& line) {
    static const std::regex kPause(R"(^[\d.]+: \[(Full )?GC (?:pause )?(remark|\()(.*))");
    std::smatch match;
    if (!std::regex_search(line, match, kPause)) return;
    if (match[2] == "remark") return add({0, "concurrent", "No GC"});
    static const std::regex kCause(R"(^((?:[^()]|\(\))*)\))");
    const std::string rest = match[3];
    std::smatch cause;
    if (!std::regex_search(rest, cause, kCause)) return;
    if (cause[1].str().starts_with("CMS ")) return add({0, "concurrent", cause[1]});
    static const std::regex kSizes(R"(\] (\d+)K->\d+K\(\d+K\))");
    std::smatch sizes;
    const long before = std::regex_search(line, sizes, kSizes) ? std::stol(sizes[1]) >> 10 : -1;
    add({0, match[1].length() != 0 ? "full" : "young", cause[1], before});
    // A young collection that became a full one.
    static const std::regex kOld(R"(\[(Tenured|CMS)(?!-))");
    if (match[1].length() == 0 && std::regex_search(line, kOld)) add({0, "full", cause[1]});
  }
  // Two collections in one safepoint are one pause, but for G1's, which JVM TI reports one by one.
  void add(const Pause& pause) {
    if (in_safepoint_ && of_.name != "G1") {
      if (pauses_.back().kind.find(pause.kind) == std::string::npos) pauses_.back().kind += " " + pause.kind;
    } else {
      pauses_.push_back(pause);
    }
    in_safepoint_ = true;
  }

  const CollectorOf& of_;
  std::vector<Pause> pauses_;
  std::map<std::string, Pause> cycles_;
  std::set<std::string> seen_;
  bool in_safepoint_ = false;
};

std::vector<Pause> logged_by(const JvmProcess& jvm, const CollectorOf& of) {
  return Log(of).read(read_file(jvm.in_working_folder("gc.log")).value_or(""));
}

std::vector<Pause> traced_in(const TraceDocument& trace) {
  std::vector<Pause> pauses;
  for (const TraceElement* start : trace.all("gcStart"))
    pauses.push_back({nanoseconds_of(start->get("time")) / 1'000'000, "", ""});
  std::size_t i = 0;
  for (const TraceElement* finish : trace.all("gcFinish")) {
    if (i >= pauses.size()) break;
    pauses[i].kind = finish->get("kind");
    pauses[i].cause = finish->get("cause");
    const std::string before(finish->get("usedObjectSpaceBefore"));
    if (!before.empty()) pauses[i].before = static_cast<long>(std::stoull(before) >> 20);
    if (finish->has("usedObjectSpace")) pauses[i].after = static_cast<long>(finish->number("usedObjectSpace") >> 20);
    if (finish->has("totalObjectSpace")) pauses[i].total = static_cast<long>(finish->number("totalObjectSpace") >> 20);
    ++i;
  }
  // G1 stops, and collects nothing, to begin a concurrent cycle for a full Metaspace; it logs nothing.
  std::erase_if(pauses, [](const Pause& pause) { return pause.kind == "none"; });
  return pauses;
}

std::vector<std::string> log_flags(int version) {
  if (version >= 9) return {"-Xlog:gc*=info,safepoint=info:file=gc.log:tm,tg"};
  return {"-XX:+PrintGCDetails", "-XX:+PrintGCApplicationStoppedTime", "-Xloggc:gc.log"};
}

JvmOptions options_of(const CollectorOf& of, std::vector<std::string> more) {
  std::vector<std::string> flags = of.flags;
  if (of.jdk.version < 15 && (of.name == "Z" || of.name == "Shenandoah"))
    flags.insert(flags.begin(), "-XX:+UnlockExperimentalVMOptions");
  for (std::string& flag : log_flags(of.jdk.version)) flags.push_back(std::move(flag));
  for (std::string& flag : more) flags.push_back(std::move(flag));
  return attachable(of.jdk, flags);
}

// Leaves out what the log has from before and after the trace. The log's clock is in milliseconds and read later than
// the trace's.
std::vector<Pause> logged_beside(std::vector<Pause> logged, const std::vector<Pause>& traced, std::size_t before) {
  if (traced.empty()) return {};
  std::size_t first = before;
  if (traced.front().ms != 0 && !logged.empty() && logged.front().ms != 0)
    for (first = 0; first < logged.size() && logged[first].ms + 2 < traced.front().ms;) ++first;
  logged.erase(logged.begin(), logged.begin() + static_cast<std::ptrdiff_t>(std::min(first, logged.size())));
  return logged;
}

std::string both(const std::vector<Pause>& traced, const std::vector<Pause>& logged) {
  std::string text = "traced / logged:\n";
  for (std::size_t i = 0; i < std::max(traced.size(), logged.size()); ++i)
    text +=
        (i < traced.size() ? text_of(traced[i]) : "-") + " / " + (i < logged.size() ? text_of(logged[i]) : "-") + "\n";
  return text;
}

// The heap when each pause began. G1's is without the regions that are being filled.
void compare_used(const CollectorOf& of, const std::vector<Pause>& traced, const std::vector<Pause>& logged) {
  const long most = of.name == "G1" || of.name.starts_with("Z") ? 2 : 0;
  const bool is_known = of.name != "Cms";
  std::size_t wrong = 0, compared = 0;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    // G1 has counted nothing before it has filled its first region.
    const bool is_none = of.name == "G1" && traced[i].before < 0 && logged[i].before <= most;
    EXPECT_EQ(traced[i].before >= 0, is_known && !is_none) << both(traced, logged);
    if (!is_known || is_none || logged[i].before < 0) continue;
    ++compared;
    wrong += std::labs(traced[i].before - logged[i].before) > most;
  }
  EXPECT_EQ(wrong, 0u) << both(traced, logged);
  // The log of G1 of JDK 8 has it in another form; Shenandoah's has it for full collections alone.
  if (is_known && of.name != "Shenandoah" && (of.jdk.version > 8 || of.name != "G1")) {
    EXPECT_GT(compared, 0u) << both(traced, logged);
  }
}

// The heap when each pause ended, with the survivors, which are in the one or the other of their spaces.
void compare_left(const CollectorOf& of, const std::vector<Pause>& traced, const std::vector<Pause>& logged) {
  if ((of.name != "Serial" && of.name != "Parallel") || of.jdk.version < 9) return;
  std::size_t wrong = 0, wrong_total = 0;
  std::string totals;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    wrong += logged[i].after >= 0 && std::labs(traced[i].after - logged[i].after) > (of.name == "Serial" ? 0 : 1);
    // Parallel's survivor spaces differ in size.
    wrong_total += logged[i].total >= 0 && std::labs(traced[i].total - logged[i].total) > 1;
    totals += " " + std::to_string(traced[i].total) + "/" + std::to_string(logged[i].total);
  }
  EXPECT_EQ(wrong, 0u) << both(traced, logged);
  EXPECT_EQ(wrong_total, 0u) << totals;
}

void compare(const CollectorOf& of, const std::vector<Pause>& traced, std::vector<Pause> logged) {
  if (logged.size() > traced.size()) logged.resize(traced.size());  // a concurrent cycle may last longer than the trace
  // The log's line of the last pause may come a moment after its event.
  ASSERT_GE(logged.size() + 1, traced.size()) << both(traced, logged);
  // A pause of generational ZGC while both generations are collected.
  const bool may_be_unknown = of.name == "ZGenerational" || (of.name == "Z" && of.jdk.version >= 23);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const bool is_unknown = may_be_unknown && traced[i].cause.empty();
    wrong += !is_unknown && !traced[i].same_as(logged[i]);
  }
  EXPECT_EQ(wrong, 0u) << both(traced, logged);
  compare_used(of, traced, logged);
  compare_left(of, traced, logged);
  if (std::getenv("JTRACE_SHOW_PAUSES") != nullptr) fputs(both(traced, logged).c_str(), stderr);
}

TEST_P(EachCollectorsCauses, AreThoseOfTheLog) {
  const CollectorOf& of = GetParam();
  // ZGC of JDK 11 has not enough of 64 MiB.
  TracedJvm jvm(of.jdk, "Workload", {"--events", "gc"}, options_of(of, {of.name == "Z" ? "-Xmx160m" : "-Xmx64m"}));
  const std::size_t before = logged_by(jvm.process(), of).size();
  jvm.ask_each({"gc 3", "garbage 300", "gc 1"});
  const TraceDocument trace = jvm.finish_valid();
  const std::vector<Pause> traced = traced_in(trace);
  compare(of, traced, logged_beside(logged_by(jvm.process(), of), traced, before));
  int explicit_ones = 0;
  for (const Pause& pause : traced) explicit_ones += pause.cause == "System.gc()";
  EXPECT_GE(explicit_ones, 4);
  if (of.name == "Serial" || of.name == "Parallel" || of.name == "G1") {
    EXPECT_EQ(explicit_ones, 4);
  }
  record_support(of.jdk, of.name, "live", "cause and kind of each pause as the JVM logs them");
}

// Shenandoah's log has what was used before a full collection.
TEST_P(EachCollectorsCauses, HaveTheHeapBeforeAFullCollection) {
  const CollectorOf& of = GetParam();
  if (of.name != "Shenandoah") GTEST_SKIP() << "the log has it for other pauses too";
  TracedJvm jvm(of.jdk, "Workload", {"--events", "gc"},
                options_of(of, {"-Xmx160m", "-XX:-ExplicitGCInvokesConcurrent"}));
  const std::size_t before = logged_by(jvm.process(), of).size();
  jvm.ask_each({"gc 3", "garbage 50", "gc 2"});
  const TraceDocument trace = jvm.finish_valid();
  const std::vector<Pause> traced = traced_in(trace);
  const std::vector<Pause> logged = logged_beside(logged_by(jvm.process(), of), traced, before);
  const auto has_used = [](const Pause& pause) { return pause.before >= 0; };
  EXPECT_GE(std::count_if(logged.begin(), logged.end(), has_used), 5) << both(traced, logged);
  compare(of, traced, logged);
}

struct Whole {
  long before = -1, after = -1;  // MiB
};
// ZGC: "Garbage Collection (Proactive) 40M(4%)->8M(1%)"; Shenandoah has a line of its last cleanup, or of a full one.
std::vector<Whole> logged_collections(const JvmProcess& jvm) {
  const std::string text = read_file(jvm.in_working_folder("gc.log")).value_or("");
  static const std::regex kWhole(
      R"((?:(?:Garbage|Major|Minor) Collection \(.*?\)|Concurrent cleanup(?: \([^)]*\))?|Pause Full \(.*?\)) (\d+)M(?:\(\d+%\))?->(\d+)M)");
  std::vector<Whole> found;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, match, kWhole)) found.push_back({std::stol(match[1]), std::stol(match[2])});
  return found;
}
long mib_of(const std::string& option, const std::string& key) {
  std::smatch match;
  return std::regex_search(option, match, std::regex("(?:^|,)" + key + "=(\\d+)")) ? std::stol(match[1]) >> 20 : -1;
}

// Each explicit collection stands by itself, so none hides another. The log's figures are those of the marking's begin
// and the relocation's end.
TEST_P(EachCollectorsCauses, OfManyPausesHaveTheHeapBeforeAndAfterAll) {
  const CollectorOf& of = GetParam();
  if (!of.name.starts_with("Z") && of.name != "Shenandoah") GTEST_SKIP() << "its collections are its pauses";
  if (of.name == "Z" && of.jdk.version < 17) GTEST_SKIP() << "the log has another form";
  TracedJvm jvm(of.jdk, "Workload", {"--events", "gc"}, options_of(of, {"-Xmx256m"}));
  for (int i = 0; i < 4; ++i) {
    jvm.ask_each({"garbage 40", "gc 1"});
    ::usleep(100'000);
  }
  const TraceDocument trace = jvm.finish_valid();
  std::vector<Whole> logged = logged_collections(jvm.process());
  std::vector<Whole> traced;
  std::string all;
  for (const TraceElement* option : trace.all("option")) {
    if (option->get("key") != "jtrace.collection") continue;
    const std::string value(option->get("value"));
    all += value + "\n";
    if (value.find("cause=System.gc()") != std::string::npos)
      traced.push_back({mib_of(value, "before"), mib_of(value, "after")});
  }
  ASSERT_GE(traced.size(), 3u) << all;
  // What was allocated between the JVM's look and ours, and the buffers of threads (Shenandoah).
  constexpr long kMost = 8;
  for (const Whole& each : traced)
    EXPECT_TRUE(std::any_of(logged.begin(), logged.end(),
                            [&](const Whole& other) {
                              return std::labs(each.after - other.after) <= kMost &&
                                     (of.name == "Shenandoah" || std::labs(each.before - other.before) <= kMost);
                            }))
        << each.before << " -> " << each.after << "\n"
        << all << read_file(jvm.process().in_working_folder("gc.log")).value_or("");
}

TEST_P(EachCollectorsCauses, AFullMetaspaceIsOne) {
  const CollectorOf& of = GetParam();
  TracedJvm jvm(of.jdk, "Workload", {"--events", "gc"}, options_of(of, {"-Xmx100m", "-XX:MetaspaceSize=6m"}));
  const std::size_t before = logged_by(jvm.process(), of).size();
  jvm.ask_each({"load 4000", "load 4000", "load 4000"});
  const TraceDocument trace = jvm.finish_valid();
  std::vector<Pause> traced = traced_in(trace), logged = logged_by(jvm.process(), of);
  logged = logged_beside(logged, traced, before);
  // JDK 8 does not count these: after a collection with this cause they may be remark, or a stop without a collection.
  const auto is_uncounted = [](const Pause& pause) { return pause.kind.empty() || pause.kind == "concurrent"; };
  if (of.jdk.version < 9 && of.name == "G1") {
    std::erase_if(traced, is_uncounted);
    std::erase_if(logged, is_uncounted);
  }
  compare(of, traced, logged);
  // Shenandoah does not say it; CMS collects when it sees fit.
  if (of.name == "Shenandoah" || of.name == "Cms") return;
  int found = 0;
  for (const Pause& pause : traced) found += pause.cause == "Metadata GC Threshold";
  EXPECT_GT(found, 0) << both(traced, {});
}

// From outside, by the counters alone: each explicit collection is seen, with its cause, or counted as missed.
TEST_P(EachCollectorsCauses, AreSeenByAPollToo) {
  const CollectorOf& of = GetParam();
  if (of.name.starts_with("Z") && of.jdk.version < 17) GTEST_SKIP() << "this collector counts no collections";
  const auto jvm = must(JvmProcess::start(of.jdk, "Workload", options_of(of, {"-Xmx160m"})));
  ScratchDir folder("jtrace-poll");
  const std::string path = folder.file("poll.xml");
  const auto poll =
      must(BackgroundCommand::start({hsperf_binary(), "poll", jvm->pid_text(), "-o", path, "--gc-interval", "1ms"}));
  while (read_file(path).value_or("").find("<traceEnd") == std::string::npos && poll->alive()) ::usleep(10'000);
  constexpr int kCollections = 12;  // on a busy machine several may fall between two looks
  for (int i = 0; i < kCollections; ++i) {
    must(jvm->ask("gc 1"));
    ::usleep(20'000);  // so that a look falls between two
  }
  poll->signal(SIGINT);
  EXPECT_EQ(must(poll->wait_exit()), 0) << poll->err();
  const TraceDocument trace = must(TraceDocument::read(path));
  std::map<std::string, int> kinds, causes;
  for (const TraceElement* finish : trace.all("gcFinish")) ++kinds[finish->get("kind")], ++causes[finish->get("cause")];
  if (of.name == "Shenandoah") {
    EXPECT_TRUE(kinds.empty()) << "its counters are not those of pauses: " << ::testing::PrintToString(kinds);
    EXPECT_THAT(poll->err(), ::testing::HasSubstr("no pauses are written"));
    return;
  }
  EXPECT_GE(causes["System.gc()"], 3) << ::testing::PrintToString(causes) << ::testing::PrintToString(kinds);
  EXPECT_EQ(causes.size() - causes.count(""), 1u) << ::testing::PrintToString(causes);
  if (of.name == "Serial" || of.name == "G1") {
    EXPECT_GE(kinds["full"], 3) << ::testing::PrintToString(kinds);
    EXPECT_LE(kinds["full"], kCollections) << ::testing::PrintToString(kinds);
  }
}

class Causes : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(Causes);

// Without counters nothing is known, and nothing is reported.
TEST_P(Causes, AreNotKnownWithoutCounters) {
  const CollectorOf of = {GetParam(), "G1", {"-XX:+UseG1GC"}};
  TracedJvm jvm(of.jdk, "Workload", {"--events", "gc"}, options_of(of, {"-XX:-UsePerfData"}));
  jvm.ask("gc 2");
  const TraceDocument trace = jvm.finish_valid();
  EXPECT_GE(trace.count("gcFinish"), 2u);
  for (const TraceElement* finish : trace.all("gcFinish")) {
    EXPECT_FALSE(finish->has("cause"));
    EXPECT_FALSE(finish->has("kind"));
    EXPECT_FALSE(finish->has("usedObjectSpaceBefore"));
  }
}

}  // namespace
}  // namespace jtrace::test
