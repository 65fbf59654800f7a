// Objects that the collector moves while the program runs are found at their place, and counted once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;

constexpr int kThreads = 60;
constexpr std::uint64_t kKept = 20'000;
constexpr std::uint64_t kHidden = 100;  // by old objects at the ends of buffers

class MovedObjects : public ::testing::TestWithParam<JdkAndCollector> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    auto flags = GetParam().jdk.collector_flags(GetParam().collector);
    flags.push_back("-Xmx128m");
    jvm_ = must(JvmProcess::start(GetParam().jdk, "Moved", attachable(GetParam().jdk, flags)));
  }
  json ask(const std::vector<std::string>& view) {
    std::vector<std::string> words = {"inspect", jvm_->pid_text(), "--format", "json"};
    words.insert(words.begin() + 2, view.begin(), view.end());
    const auto done = must(run_jtrace(words));
    EXPECT_TRUE(json::accept(done.out)) << done.err;
    return json::accept(done.out) ? json::parse(done.out) : json::object();
  }
  // More often where the collector moves objects while the program runs.
  static int times() {
    return GetParam().collector == Collector::kZ || GetParam().collector == Collector::kShenandoah ? 8 : 3;
  }
  void expect_threads();
  void expect_reachable();
  void expect_counted_once();

  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MovedObjects);
INSTANTIATE_TEST_SUITE_P(Jvms, MovedObjects, ::testing::ValuesIn(jdks_and_collectors()), NameOf());

// The threads of the program whose names an answer lacks.
std::vector<std::string> lost_of(const json& threads) {
  std::set<std::string> names;
  for (const json& thread : threads)
    if (thread["name"].is_string()) names.insert(thread["name"].get<std::string>());
  std::vector<std::string> lost;
  for (int k = 0; k < kThreads; ++k)
    if (const std::string name = "moved-" + std::to_string(k) + "-of-the-crowd"; !names.contains(name))
      lost.push_back(name);
  return lost;
}

// What the answers about threads lacked, and had.
struct Crowd {
  int incomplete = 0;
  std::size_t known = 0, wrong = 0;  // classes of locks
};

// A name is an object to which only its thread refers, by a reference that no code loads.
void check_names(const json& document, Crowd& crowd) {
  const auto lost = lost_of(document["data"]);
  if (lost.empty()) return;
  ++crowd.incomplete;
  EXPECT_FALSE(document["missing"].empty()) << "without a word: " << ::testing::PrintToString(lost);
  std::printf("%s: %s\n", document["missing"].dump().c_str(), document["data"].dump().c_str());
}

// What a frame has locked is an address of the moment of the stop; its class is read later. ZGC updates the addresses
// of frames late: one that leads to a page that was taken again may be shown with another class.
void check_locks(const json& document, bool z, Crowd& crowd) {
  for (const json& thread : document["data"])
    for (const json& lock : thread["locked"]) {
      if (thread["frames"][lock["frame"].get<std::size_t>()]["method"] != "hold") continue;
      const bool right = lock["class"] == "Moved$Held";
      crowd.known += right;
      crowd.wrong += !right;
      EXPECT_TRUE(right || z || (lock["class"] == "?" && !document["missing"].empty())) << lock;
    }
}

// On a machine where the collector's threads wait for a processor all the time, an answer in eight may lack names, and
// says so.
void MovedObjects::expect_threads() {
  const bool z = GetParam().collector == Collector::kZ;
  Crowd crowd;
  for (int i = 0; i < times(); ++i) {
    const json document = ask({"threads"});
    ASSERT_TRUE(document.contains("data"));
    check_names(document, crowd);
    check_locks(document, z, crowd);
  }
  EXPECT_LE(crowd.incomplete, 1);
  EXPECT_GT(crowd.known, 0u);
  if (z) {
    EXPECT_LE(crowd.wrong, crowd.known / 5);
  }
}

// Roots and references lead to the objects of the moment at which the JVM was stopped. With Shenandoah, one
// answer of four may lack some, and says so.
void MovedObjects::expect_reachable() {
  int incomplete = 0;
  for (int i = 0; i < (times() + 1) / 2; ++i) {
    const json document = ask({"histogram", "--reachable", "--max-stop", "20000"});
    ASSERT_TRUE(document.contains("data"));
    const Histogram histogram = histogram_of_json(document);
    const auto found = histogram.find("Moved$Kept");
    const std::uint64_t count = found == histogram.end() ? 0 : found->second.instances;
    if (count == kKept) continue;
    ++incomplete;
    EXPECT_FALSE(document["missing"].empty()) << "without a word: " << count;
    std::printf("%llu: %s\n", static_cast<unsigned long long>(count), document["missing"].dump().c_str());
  }
  EXPECT_LE(incomplete, GetParam().collector == Collector::kShenandoah ? 1 : 0);
}

// From JDK 17 on, the ZGC of a full heap moves the objects of a page within the page. The answer says so.
bool is_compacting(const json& document) {
  return document["missing"].dump().find("being compacted in place") != std::string::npos;
}

void MovedObjects::expect_counted_once() {
  const bool z = GetParam().collector == Collector::kZ;
  // When the heap is full the ZGC of JDK 11 leaves objects in their place, and in the same page the old copies of those
  // that it has moved: garbage from the next cycle on.
  const bool copies_stay = z && GetParam().jdk.version < 17;
  for (int i = 0; i < times(); ++i) {
    const json document = ask({"histogram"});
    ASSERT_TRUE(document.contains("heap"));
    if (document["heap"]["mode"] != "stopped") continue;  // counted while it ran, and reported so
    const std::uint64_t counted = histogram_of_json(document)["Moved$Kept"].instances;
    // Shenandoah's workers have buffers for copies; nothing describes their unfilled ends, whose contents are reported
    // as unparsable, or are old objects that reach over the next copies. The answer says that it may lack some.
    const auto unparsable = document["heap"]["unparsableBytes"].get<std::uint64_t>();
    const bool evacuates = document["missing"].dump().find("being evacuated") != std::string::npos;
    EXPECT_GE(counted + unparsable / 16 + (evacuates ? kHidden : 0), kKept) << document["heap"];
    // A thread that is moving an object may have written the copy and not yet published it. And memory that a thread
    // has just been given (520 bytes) and has not yet written may still show objects from before the last collection.
    if (copies_stay || is_compacting(document)) continue;
    EXPECT_LE(counted, kKept + (z ? 8 : 0) + 520 / 16) << document["heap"] << document["missing"];
  }
}

// One JVM for all: what takes the time is its start.
TEST_P(MovedObjects, AreFoundAtTheirPlaceAndCountedOnce) {
  expect_threads();
  expect_reachable();
  expect_counted_once();
  must(jvm_->ask("calm"));
  record_support(GetParam().jdk, to_string(GetParam().collector), "live", "heap: objects that are just moved");
}

}  // namespace
}  // namespace jtrace::test
