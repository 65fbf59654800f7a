// `jtrace inspect histogram`, `regions` and `heap` on every JDK and collector, live and on a core: for each class equal
// to the JVM's own count, and with --no-stop equal to the count of a stopped JVM.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "tests/live/core_folder.h"
#include "tests/live/heap_peers.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

json inspected(const std::string& target, std::vector<std::string> words, int status = 0) {
  words.insert(words.begin(), {"inspect", target});
  words.insert(words.end(), {"--format", "json"});
  const auto done = run_jtrace(words);
  EXPECT_TRUE(succeeded(done));
  if (!done) return json::object();
  EXPECT_EQ(done->status, status) << words[2] << ": " << done->err;
  if (!json::accept(done->out)) {
    ADD_FAILURE() << words[2] << ": " << done->out.substr(0, 2000) << done->err;
    return json::object();
  }
  return json::parse(done->out);
}

JvmOptions small_heap(const Jdk& jdk, std::vector<std::string> flags) {
  flags.insert(flags.end(), {"-Xms96m", "-Xmx96m", "-XX:ReservedCodeCacheSize=24m"});
  return attachable(jdk, flags);
}

// A stop may take long on a machine that runs other tests too.
const std::vector<std::string> kPatient = {"histogram", "--max-stop", "20000"};

std::string first_differences(const Histogram& ours, const Histogram& theirs) {
  std::ostringstream text;
  int count = 0;
  const auto tell = [&](const std::string& name) {
    const auto a = ours.find(name), b = theirs.find(name);
    const Counted mine = a == ours.end() ? Counted() : a->second, other = b == theirs.end() ? Counted() : b->second;
    if (!(mine == other) && ++count <= 10) text << "\n  " << name << ": ours " << mine << ", the JVM's " << other;
  };
  for (const auto& [name, counted] : theirs) tell(name);
  for (const auto& [name, counted] : ours)
    if (!theirs.contains(name)) tell(name);
  return text.str();
}

// For JVMs whose own histogram has only reachable objects: jtrace's has all of these, with at least their counts.
std::string missing_of_live(const Histogram& ours, const Histogram& theirs) {
  std::ostringstream text;
  for (const auto& [name, counted] : theirs) {
    const auto found = ours.find(name);
    if (found == ours.end() || found->second.instances < counted.instances)
      text << "\n  " << name << ": ours " << (found == ours.end() ? Counted() : found->second) << ", reachable "
           << counted;
    else if (name.starts_with("HeapZoo") && !(found->second == counted))
      text << "\n  " << name << ": ours " << found->second << ", all of them reachable: " << counted;
  }
  return text.str();
}

class EachHeap : public ::testing::TestWithParam<HeapCase> {
 protected:
  // The JVM's own threads may allocate between the two histograms: one equal pair is enough.
  std::string compare(const JvmProcess& jvm, const std::vector<std::string>& words, json& document, int status = 0) {
    std::string differences = "never asked";
    for (int i = 0; i < 5 && !differences.empty(); ++i) {
      const auto asked = run_jtrace({"cmd", jvm.pid_text(), "inspectheap", "-all"});
      if (!asked || asked->status != 0) return "inspectheap: " + (asked ? asked->err : asked.error().message());
      const Histogram theirs = without_fillers(parse_class_histogram(asked->out));
      document = inspected(jvm.pid_text(), words, status);
      if (!document.contains("data")) return "no histogram";
      const Histogram ours = without_fillers(histogram_of_json(document));
      if (theirs.size() < 100) return "the JVM's histogram is too short: " + asked->out;
      differences = GetParam().live_only ? missing_of_live(ours, theirs) : first_differences(ours, theirs);
    }
    return differences;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachHeap);
INSTANTIATE_TEST_SUITE_P(Heaps, EachHeap, ::testing::ValuesIn(heap_cases()),
                         [](const auto& heap) { return heap.param.jdk.name + "_" + heap.param.name; });

void expect_whole(const json& document) {
  EXPECT_EQ(document["complete"], true) << document["missing"];
  EXPECT_EQ(document["heap"]["unparsableBytes"], 0) << document["heap"];
  EXPECT_EQ(document["heap"]["unreadableBytes"], 0) << document["heap"];
}

TEST_P(EachHeap, CountsEachClassAsTheJvmDoes) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const HeapCase& heap = GetParam();
  const std::string no_core = why_no_kernel_core();  // asked first: the JVM inherits the limit
  const auto jvm = must(JvmProcess::start(heap.jdk, "HeapZoo", small_heap(heap.jdk, heap.flags)));
  // Large arrays, then a collection, so that there are objects in old regions, then some in eden.
  for (const char* command : {"big 2", "gc", "fill 3000"}) must(jvm->ask(command));

  json stopped, running;
  EXPECT_EQ(compare(*jvm, kPatient, stopped), "");
  expect_whole(stopped);
  EXPECT_GT(stopped["heap"]["pauseMicros"], 0);
  const Histogram ours = histogram_of_json(stopped);
  EXPECT_EQ(ours.at("HeapZoo$Node").instances, 23'000u);
  EXPECT_EQ(ours.at("HeapZoo$Derived").instances, 1u);

  // Collectors that move objects while the program runs may do so at any time: the answer says so, and is right here.
  const bool moves = heap.name.starts_with("Z") || heap.name.starts_with("Shenandoah");
  EXPECT_EQ(compare(*jvm, {"histogram", "--no-stop"}, running, moves ? 9 : 0), "");
  if (moves) EXPECT_THAT(running["missing"].dump(), HasSubstr("may have moved"));
  else expect_whole(running);
  EXPECT_EQ(running["heap"]["pauseMicros"], 0);
  record_support(heap.jdk, heap.name, "live", "heap: histogram equal to the JVM's own");

  if (!no_core.empty()) JTRACE_SKIP("live", no_core);
  const json before = inspected(jvm->pid_text(), kPatient);
  const CoreFolder folder(*jvm);
  std::ofstream("/proc/" + jvm->pid_text() + "/coredump_filter") << "0x3f";
  jvm->signal(SIGABRT);
  EXPECT_TRUE(succeeded(jvm->wait_exit()));
  const std::string core = folder.core();
  ASSERT_NE(core, "");
  std::vector<std::string> words = {"histogram"};
  if (heap.jdk.root) words.insert(words.end(), {"--sysroot", *heap.jdk.root});
  const json dumped = inspected(core, words);
  ASSERT_TRUE(dumped.contains("data"));
  expect_whole(dumped);
  EXPECT_EQ(first_differences(without_fillers(histogram_of_json(dumped)), without_fillers(histogram_of_json(before))),
            "");
  std::uint64_t used = 0;
  words[0] = "regions";
  const json regions = inspected(core, words);
  for (const json& region : regions["data"]) used += region["used"].get<std::uint64_t>();
  EXPECT_EQ(used, dumped["heap"]["bytes"].get<std::uint64_t>() + dumped["heap"]["holeBytes"].get<std::uint64_t>() +
                      dumped["heap"]["freeBytes"].get<std::uint64_t>());
  words[0] = "heap";
  const json spaces = inspected(core, words);
  EXPECT_EQ(spaces["data"].back()["space"], "total");
  EXPECT_EQ(spaces["data"].back()["used"], used);
  record_support(heap.jdk, heap.name, "core", "heap: histogram equal to the JVM's own");
}

class Heap : public ::testing::Test {
 protected:
  void start(const std::vector<std::string>& flags) {
    const auto jdk = any_jdk();
    if (!jdk) JTRACE_SKIP("live", "no JDK on this machine");
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    auto jvm = must(JvmProcess::start(*jdk, "HeapZoo", attachable(*jdk, flags)));
    jvm_ = std::move(jvm);
  }
  CommandOutput look(std::vector<std::string> words) {
    words.insert(words.begin(), {"inspect", jvm_->pid_text()});
    const auto done = run_jtrace(words);
    return done ? *done : CommandOutput{.err = done.error().message()};
  }
  std::unique_ptr<JvmProcess> jvm_;
};

TEST_F(Heap, SortsFiltersAndCuts) {
  start({"-Xmx64m", "-XX:+UseSerialGC"});
  if (!jvm_) return;
  const auto rows = [&](std::vector<std::string> words) {
    words.insert(words.begin(), kPatient.begin(), kPatient.end());
    return inspected(jvm_->pid_text(), words)["data"];
  };
  const json largest = rows({"--top", "3"});
  ASSERT_EQ(largest.size(), 3u);
  EXPECT_GE(largest[0]["bytes"], largest[1]["bytes"]);
  EXPECT_GE(largest[1]["bytes"], largest[2]["bytes"]);
  const json most = rows({"--sort", "instances", "--top", "2"});
  EXPECT_GE(most[0]["instances"], most[1]["instances"]);
  const json zoo = rows({"--filter", "HeapZoo$*", "--sort", "name", "--by-loader"});
  ASSERT_GE(zoo.size(), 4u);
  for (const json& row : zoo) {
    EXPECT_THAT(row["class"], ::testing::StartsWith("HeapZoo$"));
    EXPECT_THAT(row["loader"], HasSubstr("AppClassLoader"));
  }
  EXPECT_EQ(rows({"--filter", "?eapZoo$N*"})[0]["instances"], 20'000);
  EXPECT_EQ(rows({"--filter", "no.such.Class"}).size(), 0u);
  const CommandOutput text = look({"histogram", "--filter", "HeapZoo$Node", "--max-stop", "20000"});
  EXPECT_THAT(text.out, HasSubstr("20000"));
  EXPECT_THAT(text.out, HasSubstr("the JVM was stopped for"));
}

TEST_F(Heap, RefusesAStopBeyondTheBoundBeforeItStops) {
  start({"-Xmx64m"});
  if (!jvm_) return;
  const CommandOutput refused = look({"histogram", "--max-stop", "1"});
  EXPECT_EQ(refused.status, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--no-stop"));
  EXPECT_THAT(refused.err, HasSubstr("inspectheap"));
  EXPECT_EQ(look({"histogram", "--no-stop"}).status, 0);
  EXPECT_TRUE(jvm_->alive());
}

TEST_F(Heap, RefusesACopyBeyondHalfTheFreeMemory) {
  start({"-Xmx192m", "-Xms192m"});
  if (!jvm_) return;
  must(jvm_->ask("big 32"));  // 96 MB
  const auto limited = [&](const std::string& more) {
    const auto done = run_command(
        {"sh", "-c",
         "ulimit -v 150000; exec '" + jtrace_binary() + "' inspect " + jvm_->pid_text() + " histogram " + more});
    return done ? *done : CommandOutput{.err = done.error().message()};
  };
  const CommandOutput refused = limited("--max-stop 20000");
  EXPECT_EQ(refused.status, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("more than half of the"));
  EXPECT_THAT(refused.err, HasSubstr("--no-stop"));
  EXPECT_EQ(limited("--no-stop").status, 0);
  EXPECT_TRUE(jvm_->alive());
}

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

struct Stop {
  double took = 0, expected = 0;  // ms, medians
};

Stop median_stop(const JvmProcess& jvm) {
  constexpr int kLooks = 9;
  std::vector<double> took, expected;
  for (int i = 0; i < kLooks; ++i) {
    const json document = inspected(jvm.pid_text(), kPatient);
    if (!document.contains("heap")) return {};
    took.push_back(document["heap"]["pauseMicros"].get<double>() / 1000);
    expected.push_back(document["heap"]["expectedMicros"].get<double>() / 1000);
  }
  std::sort(took.begin(), took.end());
  std::sort(expected.begin(), expected.end());
  return {took[kLooks / 2], expected[kLooks / 2]};
}

// Within a factor of two on a machine that does nothing else. The tests share theirs with others, which are not the
// same when the stop is expected and when it takes place.
constexpr double kTooLow = 4, kTooHigh = 3;

// Five times the bytes: by how much the expected stop must grow at least, though the machine was busier at the first.
constexpr double kGrows = 1.3;

// Two sizes, because a wrong cost of a byte is hidden by the fixed costs of a small heap.
TEST_P(EachJdk, TheStopIsExpectedAsItBecomes) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(JvmProcess::start(GetParam(), "HeapZoo", attachable(GetParam(), {"-Xms700m", "-Xmx700m"})));
  std::vector<Stop> stops;
  for (const char* more : {"big 30", "big 120"}) {  // 90 MB, 450 MB
    must(jvm->ask(more));
    const Stop stop = median_stop(*jvm);
    EXPECT_LT(stop.took, stop.expected * kTooLow) << more << ": expected " << stop.expected << " ms";
    EXPECT_GT(stop.took, stop.expected / kTooHigh) << more << ": expected " << stop.expected << " ms";
    stops.push_back(stop);
  }
  EXPECT_GT(stops[1].expected, stops[0].expected * kGrows);
  record_support(GetParam(), "G1", "live", "heap: the length of a stop is expected");
}

// While threads allocate and collections run, the count of live objects is that of a stopped JVM.
TEST_F(Heap, IsCountedWhileItChanges) {
  start({"-Xmx64m", "-Xmn8m", "-XX:+UseSerialGC"});
  if (!jvm_) return;
  must(jvm_->ask("fill 50000"));
  must(jvm_->ask("gc"));
  must(jvm_->ask("churn 2"));
  double nodes = 0;
  for (int i = 0; i < 3; ++i) {
    const auto done = must(run_jtrace({"inspect", jvm_->pid_text(), "histogram", "--no-stop", "--format", "json"}));
    ASSERT_TRUE(json::accept(done.out)) << done.err;
    const json document = json::parse(done.out);
    nodes = static_cast<double>(histogram_of_json(document)["HeapZoo$Node"].instances);
    EXPECT_NEAR(nodes, 70'000, 700);
    EXPECT_TRUE(nodes == 70'000 || !document["missing"].empty()) << "without a word: " << nodes;
  }
  must(jvm_->ask("calm"));
}

}  // namespace
}  // namespace jtrace::test
