#include "diagnose/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnose/bundle_diff.h"
#include "diagnose/bundle_file.h"
#include "diagnose/zip_writer.h"
#include "tests/testlib/must.h"

namespace jtrace::diagnose {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Collected collected_of(std::vector<Part> parts) {
  Collected collected;
  collected.facts.target = "0";  // no process has this number
  collected.facts.release = "17.0.1";
  collected.facts.looks.push_back({.ns = 5, .threads = {{.key = 3, .name = "main", .state = "RUNNABLE", .ran_ns = 7}}});
  collected.facts.counters.push_back({.ns = 5, .safepoints = 9});
  collected.parts = std::move(parts);
  collected.steps = {{"threads", {}, {}, ""}, {"view heap", {}, {}, "it is gone"}};
  return collected;
}

BundleFrame frame_of(std::string findings = "{\"data\":[]}", int status = 0) {
  return {
      .tool = "jtrace 1", .text = "Nothing found.\n", .findings = std::move(findings), .status = status, .judged = 1};
}

BundleFile file_of(std::vector<Part> parts, const std::string& findings = "{\"data\":[]}") {
  return must(BundleFile::of(must(bundle_of(collected_of(std::move(parts)), frame_of(findings))), "x.zip"));
}

std::string why_not(const std::vector<Part>& members) {
  ZipWriter zip(0);
  for (const Part& each : members) must(zip.add(each.name, each.content));
  const auto bundle = BundleFile::of(zip.finish(), "x.zip");
  return bundle ? "" : bundle.error().message();
}

TEST(Bundle, HasTheVerdictTheSamplesAndWhatIsMissing) {
  const BundleFile bundle =
      file_of({{"views/info.json", "{}"}, {"views/info.txt", "text"}, {"proc/status", "State: R"}});
  EXPECT_THAT(must(bundle.text("SUMMARY.txt")),
              AllOf(HasSubstr("Nothing found."), HasSubstr("Not in this bundle:\n  view heap: it is gone\n")));
  EXPECT_EQ(must(bundle.text("proc/status")), "State: R");
  EXPECT_EQ(bundle.views(), "info");
  EXPECT_EQ(bundle.manifest()["target"]["version"].text(), "17.0.1");
  EXPECT_EQ(bundle.manifest()["steps"].items().at(1)["why"].text(), "it is gone");
  EXPECT_EQ(must(bundle.json("counters.json"))["samples"].items().at(0)["safepoints"].number(), 9);
  const JsonValue threads = must(bundle.json("threads.json"));
  EXPECT_EQ(threads["samples"].items().at(0)["threads"].items().at(0)["ranNanos"].number(), 7);
}

TEST(Bundle, ThePageHasTheDataAndNoNameInItEndsItsElement) {
  const BundleFile bundle = file_of({{"views/threads.json", R"({"data":[{"name":"</script><b>"}]})"}});
  const std::string page = must(bundle.text("report.html"));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cb>"));
  EXPECT_THAT(page, AllOf(HasSubstr("\"locks\":null"), HasSubstr("\"manifest\":{\"format\"")));
}

TEST(Bundle, LeavesOutTheLargestPartsAndNamesThem) {
  Collected collected = collected_of(
      {{"proc/maps", std::string(2 << 20, 'm')}, {"proc/status", "State: R"}, {"jvm.core", std::string(3 << 20, 'c')}});
  leave_out_largest(collected, 4 << 20);
  EXPECT_EQ(collected.parts.size(), 2u);
  EXPECT_THAT(missing_parts(collected, 1),
              ElementsAre("view heap: it is gone", "jvm.core: left out: it has 3.0 MiB, and a bundle at most 4.0 MiB"));
  leave_out_largest(collected, 4 << 20);
  EXPECT_EQ(collected.parts.size(), 2u);
}

TEST(Bundle, RefusesArchivesThatAreNone) {
  EXPECT_THAT(why_not({}), HasSubstr("it has no manifest.json"));
  EXPECT_THAT(why_not({{"manifest.json", "{}"}}), HasSubstr("of something else"));
  EXPECT_THAT(why_not({{"manifest.json", "{\"format\":"}}), HasSubstr("manifest.json of x.zip"));
  EXPECT_THAT(why_not({{"manifest.json", R"({"format":"jtrace-bundle","version":2,"tool":"jtrace 9"})"}}),
              AllOf(HasSubstr("another version"), HasSubstr("made by jtrace 9")));
}

std::string finding(const std::string& rule, const std::string& sentence, const std::string& confidence) {
  return R"({"rule":")" + rule + R"(","sentence":")" + sentence + R"(","confidence":")" + confidence + "\"}";
}

TEST(BundleDiff, SaysWhichFindingsAreNewAndWhichAreGone) {
  const std::string stays = finding("contention", "5 threads wait for \\\"a\\\"", "certain");
  const std::string more = finding("contention", "9 threads wait for \\\"a\\\"", "certain");
  const std::string other = finding("contention", "5 threads wait for \\\"b\\\"", "certain");
  const BundleFile before = file_of({}, "{\"data\":[" + stays + "," + other + "]}");
  const BundleFile after = file_of({}, "{\"data\":[" + more + "," + finding("x", "slow", "hint") + "]}");
  const BundleDiff diff = must(compare(before, after));
  EXPECT_THAT(diff.stay, ElementsAre("9 threads wait for \"a\""));
  EXPECT_THAT(diff.fresh, ElementsAre("slow"));
  EXPECT_THAT(diff.gone, ElementsAre("5 threads wait for \"b\""));
  EXPECT_FALSE(diff.found);  // a hint does not count
  EXPECT_TRUE(must(compare(after, before)).found);
  EXPECT_EQ(diff.missing.size(), 3u);  // threads, memory, histogram
}

TEST(BundleDiff, RefusesFindingsThatAreNone) {
  const BundleFile whole = file_of({});
  for (const char* findings : {R"({"data": 7})", "{}", "[]", "7", R"({"data":{}})", R"({"data":[7]})",
                               R"({"data":[{"rule":"x","sentence":5,"confidence":"hint"}]})"}) {
    const BundleFile broken = file_of({}, findings);
    for (const auto& diff : {compare(broken, whole), compare(whole, broken)}) {
      ASSERT_FALSE(diff) << findings;
      EXPECT_EQ(exit_status(diff.error()), ExitStatus::kMalformed);
      EXPECT_THAT(diff.error().message(), HasSubstr("findings.json of x.zip"));
    }
  }
}

TEST(BundleDiff, ComparesThreadsByKindMemoryByPartAndClasses) {
  const auto parts = [](const std::string& threads, const std::string& heap, const std::string& bytes) {
    return std::vector<Part>{{"views/threads.json", "{\"data\":[" + threads + "]}"},
                             {"views/memory.json", R"({"data":[{"part":"Java heap","resident":)" + heap + "}]}"},
                             {"views/histogram.json", R"({"data":[{"class":"A","bytes":)" + bytes + "}]}"},
                             {"views/flags.json", R"({"data":[{"name":"MaxHeapSize","value":)" + bytes + "}]}"}};
  };
  const BundleFile before = file_of(parts(R"({"name":"main"},{"name":"w-1"})", "1048576", "5000000"));
  const BundleFile after = file_of(parts(R"({"name":"main"},{"name":"w-12"},{"name":"w-7"})", "9437184", "5000001"));
  const BundleDiff diff = must(compare(before, after));
  EXPECT_THAT(diff.missing, IsEmpty());
  EXPECT_EQ(diff.threads.grown(), 1);
  ASSERT_EQ(diff.names.size(), 1u);
  EXPECT_EQ(diff.names[0].name, "w-N");
  ASSERT_EQ(diff.memory.size(), 1u);
  EXPECT_EQ(diff.memory[0].grown(), 8 << 20);
  EXPECT_THAT(diff.classes, IsEmpty());  // a byte more is no news
  EXPECT_THAT(text_of(diff), HasSubstr("MaxHeapSize: 5000000 -> 5000001"));
  EXPECT_THAT(text_of(diff), AllOf(HasSubstr("+8.0 MiB"), HasSubstr("Nothing was found in either")));
}

// docs/architecture.md, "JSON answers".
TEST(BundleDiff, TheJsonFollowsTheContractOfAnswers) {
  const BundleFile before = file_of({}, "{\"data\":[" + finding("x", "slow", "certain") + "]}");
  const BundleDiff diff = must(compare(before, file_of({{"views/flags.json", R"({"data":[]})"}}, "{\"data\":[]}")));
  const JsonValue all = must(JsonValue::parse(json_of(diff)));
  EXPECT_EQ(all["view"].text(), "diagnose diff");
  for (const char* side : {"target", "before"}) {
    EXPECT_EQ(all[side]["kind"].text(), "bundle") << side;
    EXPECT_TRUE(all[side].has("path")) << side;
  }
  EXPECT_FALSE(all["complete"].truth());
  EXPECT_EQ(all["missing"].items().size(), 3u);
  ASSERT_EQ(all["data"].items().size(), 1u);
  EXPECT_EQ(all["data"].items()[0]["change"].text(), "gone");
  EXPECT_EQ(all["data"].items()[0]["sentence"].text(), "slow");
  EXPECT_THAT(json_of(diff), ::testing::StartsWith(R"({"view":"diagnose diff","target":{"kind":"bundle",)"));
}

TEST(BundleDiff, WhatTheManifestDoesNotSayIsAbsent) {
  ZipWriter zip(0);
  must(zip.add("manifest.json", R"({"format":"jtrace-bundle","version":1,"target":{}})"));
  must(zip.add("findings.json", "{\"data\":[]}"));
  const BundleFile bare = must(BundleFile::of(zip.finish(), "x.zip"));
  const BundleDiff diff = must(compare(bare, file_of({})));
  const JsonValue all = must(JsonValue::parse(json_of(diff)));
  EXPECT_EQ(all["before"]["path"].text(), "x.zip");
  for (const char* name : {"pid", "host", "created"}) EXPECT_FALSE(all["before"].has(name)) << name;
  EXPECT_THAT(text_of(diff), HasSubstr("Before: a process of x.zip\n"));
}

}  // namespace
}  // namespace jtrace::diagnose
