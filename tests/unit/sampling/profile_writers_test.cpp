// Samples merged, and what is written of them.
#include "sampling/profile_writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace jtrace::sampling {
namespace {

using ::testing::HasSubstr;
using json = nlohmann::json;

coreinspect::ThreadReport report(std::vector<std::string> innermost_first, std::string cut = "") {
  coreinspect::ThreadReport report;
  report.name = "main;1";
  for (std::string& name : innermost_first) {
    coreinspect::Frame frame{.kind = coreinspect::FrameKind::kNative};
    frame.name = std::move(name);
    report.walk.frames.push_back(std::move(frame));
  }
  report.walk.stopped = std::move(cut);
  return report;
}

ProfileCounts three_stacks() {
  ProfileCounts counts;
  counts.add(report({"read", "loop", "start"}), 10);
  counts.add(report({"read", "loop", "start"}), 10);
  counts.add(report({"loop", "loop", "start"}), 10);
  counts.add(report({"</script>"}, "lost"), 10);
  return counts;
}

TEST(ProfileWriters, MergeEqualStacks) {
  EXPECT_EQ(collapsed_text(three_stacks()),
            "main,1;[cut stack];</script> 1\nmain,1;start;loop;loop 1\nmain,1;start;loop;read 2\n");
}

TEST(ProfileWriters, CountStacksFromTheOutermostFrame) {
  coreinspect::JavaMethod run;
  run.class_name = "a.B";
  run.name = "run;";
  coreinspect::Frame unnamed{.kind = coreinspect::FrameKind::kNative};
  unnamed.module = "libc.so.6";
  unnamed.module_offset = 0x10;
  coreinspect::ThreadReport thread = report({"read"});
  thread.name = "VM Thread";
  thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kInterpreted, .method = &run});
  thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kEntry, .name = "call_stub"});
  thread.walk.frames.push_back(unnamed);
  ProfileCounts counts;
  counts.add(thread, 10);
  counts.add(thread, 10);
  EXPECT_EQ(collapsed_text(counts), "VM Thread;libc.so.6+0x10;a.B.run,;read 2\n");
}

TEST(ProfileWriters, ShowThatAStackWasCutAtItsRoot) {
  ProfileCounts counts;
  for (const char* cut : {"", "the caller is not known"}) {
    coreinspect::ThreadReport thread = report({"read", "poll"}, cut);
    thread.name = "VM Thread";
    counts.add(thread, 10);
  }
  EXPECT_EQ(collapsed_text(counts), "VM Thread;[cut stack];poll;read 1\nVM Thread;poll;read 1\n");
}

ProfileCounts two_waits() {
  ProfileCounts counts({.waits = true, .cpu = false});
  counts.add(report({"enter"}), 60'000'000, WaitKind::kMonitor, "", {.owner = "holder", .waker = "holder"});
  counts.add(report({"enter"}), 40'000'000, WaitKind::kMonitor, "", {.owner = "[not seen]", .waker = "other"});
  counts.add(report({"nap"}), 10'000'000, WaitKind::kSleep, "", {.owner = "", .waker = "[interrupt]"});
  return counts;
}

TEST(ProfileWriters, ShowWhoHadALockAndWhoEndedTheWait) {
  const std::string table = profile_table(two_waits(), 10);
  EXPECT_THAT(table, HasSubstr("[monitor] enter\n"
                               "                                       owner: holder 60 %, [not seen] 40 %\n"
                               "                                       woken by: holder 60 %, other 40 %\n"));
  EXPECT_THAT(table, HasSubstr("[sleep] nap\n                                       woken by: [interrupt] 100 %\n"));
}

TEST(ProfileWriters, GiveJsonEachStackWithItsParties) {
  const json file = json::parse(profile_json(two_waits(), {.process = "java", .pid = 7, .no_wakers = "why"}));
  EXPECT_EQ(file["view"], "profile");
  EXPECT_EQ(file["target"]["pid"], 7);
  EXPECT_TRUE(file["complete"]);
  EXPECT_EQ(file["wakersUnknown"], "why");
  ASSERT_EQ(file["data"].size(), 2u);
  const json& enter = file["data"][0];
  EXPECT_EQ(enter["thread"], "main,1");
  EXPECT_EQ(enter["wait"], "monitor");
  EXPECT_EQ(enter["frames"], json::array({"enter"}));
  EXPECT_EQ(enter["samples"], 2);
  EXPECT_EQ(enter["ns"], 100'000'000);
  EXPECT_EQ(enter["longestNs"], 60'000'000);
  EXPECT_EQ(enter["owners"][0], json({{"name", "holder"}, {"times", 1}, {"ns", 60'000'000}}));
  EXPECT_EQ(enter["wakers"][1]["name"], "other");
  EXPECT_FALSE(file["data"][1].contains("owners"));
}

TEST(ProfileWriters, TellInJsonWhatIsMissing) {
  const json file = json::parse(profile_json(three_stacks(), {.lost = 3, .notes = {"user space alone"}}));
  EXPECT_FALSE(file["complete"]);
  EXPECT_EQ(file["missing"], json::array({"3 samples were lost"}));
  EXPECT_EQ(file["notes"], json::array({"user space alone"}));
  const json held = json::parse(profile_json(three_stacks(), {.missing = {"2 threads are not sampled"}}));
  EXPECT_FALSE(held["complete"]);
  EXPECT_EQ(held["missing"], json::array({"2 threads are not sampled"}));
  EXPECT_FALSE(held.contains("notes"));
  std::size_t cut = 0;
  for (const json& row : file["data"]) {
    EXPECT_FALSE(row.contains("longestNs"));
    cut += row.contains("cut") ? 1 : 0;
  }
  EXPECT_EQ(cut, 1u) << file;
}

TEST(ProfileWriters, GiveThePageATableOfWaits) {
  const std::string page = profile_page(two_waits(), {.title = "t"});
  EXPECT_THAT(page, HasSubstr("[\"[monitor] enter\",2,100000000,60000000,\"holder 60 %, [not seen] 40 %\","));
  EXPECT_THAT(profile_page(three_stacks(), {.title = "t"}), ::testing::Not(HasSubstr("\"offCpu\":")));
}

TEST(ProfileWriters, GiveSpeedscopeWeightsThatAddUp) {
  const json file = json::parse(speedscope_json(three_stacks(), {.title = "t"}));
  ASSERT_EQ(file["profiles"].size(), 1u);
  const json& profile = file["profiles"][0];
  EXPECT_EQ(profile["name"], "main,1");
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["endValue"], 40);
  ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
  for (const json& sample : profile["samples"])
    for (const json& frame : sample) EXPECT_LT(frame.get<std::size_t>(), file["shared"]["frames"].size());
}

// The fields of a message of protocol buffers: number, and a number or bytes.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};
std::uint64_t take_number(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.at(0));
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
}
std::vector<Field> fields_of(std::string_view bytes, std::uint64_t wanted = 0) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const std::uint64_t tag = take_number(bytes);
    Field field{.number = tag >> 3, .value = take_number(bytes), .bytes = {}};
    if ((tag & 7) == 2) {
      field.bytes = bytes.substr(0, field.value);
      bytes.remove_prefix(field.value);
    }
    if (wanted == 0 || field.number == wanted) fields.push_back(field);
  }
  return fields;
}

TEST(ProfileWriters, GivePprofStacksFromTheInnermostFrame) {
  const std::string file = pprof_bytes(three_stacks(), {.title = "t", .process = "java", .start = 7, .elapsed = 40});
  std::vector<std::string> texts;
  for (const Field& text : fields_of(file, 6)) texts.emplace_back(text.bytes);
  ASSERT_FALSE(texts.empty());
  EXPECT_EQ(texts[0], "");
  std::map<std::uint64_t, std::string> functions;
  for (const Field& field : fields_of(file, 5))
    functions[fields_of(field.bytes, 1)[0].value] = texts.at(fields_of(field.bytes, 2)[0].value);
  std::map<std::uint64_t, std::string> locations;
  for (const Field& field : fields_of(file, 4)) {
    const std::string_view line = fields_of(field.bytes, 4)[0].bytes;
    locations[fields_of(field.bytes, 1)[0].value] = functions.at(fields_of(line, 1)[0].value);
  }
  std::map<std::string, std::vector<std::uint64_t>> samples;
  for (const Field& field : fields_of(file, 2)) {
    std::string stack;
    for (std::string_view ids = fields_of(field.bytes, 1)[0].bytes; !ids.empty();)
      stack += locations.at(take_number(ids)) + " ";
    for (std::string_view values = fields_of(field.bytes, 2)[0].bytes; !values.empty();)
      samples[stack].push_back(take_number(values));
  }
  EXPECT_EQ(samples,
            (std::map<std::string, std::vector<std::uint64_t>>{
                {"read loop start ", {2, 20}}, {"loop loop start ", {1, 10}}, {"</script> [cut stack] ", {1, 10}}}));
  EXPECT_EQ(fields_of(file, 9)[0].value, 7u);
  EXPECT_EQ(fields_of(file, 12)[0].value, 10u);
}

TEST(ProfileWriters, CountAFrameOnceInATotal) {
  const std::string table = profile_table(three_stacks(), 10);
  EXPECT_THAT(table, HasSubstr("  50.0 %        2    50.0 %        2  read\n"));
  EXPECT_THAT(table, HasSubstr("  25.0 %        1    75.0 %        3  loop\n")) << "it is twice in one stack";
  EXPECT_THAT(table, HasSubstr(" 100.0 %        4  main,1\n"));
}

TEST(ProfileWriters, SayWhatATableLeavesOut) {
  const std::string table = profile_table(three_stacks(), 1);
  EXPECT_THAT(
      table, HasSubstr("  50.0 %        2    50.0 %        2  read\n  50.0 %        2                     (4 more)\n"));
  EXPECT_THAT(table, HasSubstr(" 100.0 %        4  main,1\n")) << "all threads are there";
  EXPECT_THAT(profile_table(three_stacks(), 10), ::testing::Not(HasSubstr("more)")));
}

// 1000 samples of a.B.run, of which 990 are in a.B.work and one each in ten methods.
ProfileCounts many_small() {
  static std::vector<coreinspect::JavaMethod> methods(12);
  ProfileCounts counts;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    methods[i].class_name = "a.B";
    methods[i].name = i == 0 ? "run" : i == 1 ? "work" : "small" + std::to_string(i);
  }
  for (std::size_t i = 1; i < methods.size(); ++i) {
    coreinspect::ThreadReport thread;
    thread.name = "main";
    for (const std::size_t each : {i, std::size_t{0}})
      thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kCompiled, .method = &methods[each]});
    for (int times = i == 1 ? 990 : 1; times > 0; --times) counts.add(thread, 10);
  }
  return counts;
}

TEST(ProfileWriters, LeaveOutRowsThatSayLittle) {
  const std::string table = profile_table(many_small(), {20, 0.01});
  EXPECT_THAT(table, HasSubstr("  99.0 %      990    99.0 %      990  a.B.work\n"));
  EXPECT_THAT(table, HasSubstr("   0.6 %        6  " + std::string(19, ' ') + "(7 more, each below 1 %)\n"));
  EXPECT_THAT(profile_table(many_small(), 20), HasSubstr("a.B.small11\n"));
}

TEST(ProfileWriters, SumUpWhatMethodsCalled) {
  const std::string table = profile_table(many_small(), {20, 0.01});
  EXPECT_THAT(table, HasSubstr("\n   total  samples  method, with all that it called\n 100.0 %     1000  a.B.run\n"
                               "  99.0 %      990  a.B.work\n"));
}

// Stacks of Java methods, the innermost first.
ProfileCounts counts_of(const std::vector<std::pair<std::vector<const char*>, int>>& stacks) {
  static std::map<std::string, coreinspect::JavaMethod> methods;
  ProfileCounts counts;
  for (const auto& [names, times] : stacks) {
    coreinspect::ThreadReport thread;
    thread.name = "main";
    for (const std::string name : names) {
      coreinspect::JavaMethod& method = methods[name];
      method.class_name = name.substr(0, name.rfind('.'));
      method.name = name.substr(name.rfind('.') + 1);
      thread.walk.frames.push_back({.kind = coreinspect::FrameKind::kCompiled, .method = &method});
    }
    for (int i = 0; i < times; ++i) counts.add(thread, 10);
  }
  return counts;
}

TEST(ProfileWriters, SayWhichMethodOfTheProgramIsHotAndFromWhere) {
  const std::string table = profile_table(
      counts_of({{{"java.lang.Character.toLowerCase", "shop.Folding.fold", "shop.Rank$$Lambda$3/0x01.compare",
                   "java.util.TimSort.sort", "shop.Rank.top", "shop.Main.run"},
                  55},
                 {{"shop.Folding.fold", "shop.Folding.fold", "shop.Index.rebuild", "shop.Main.run"}, 10},
                 {{"shop.Sums.of", "shop.Main.run"}, 34},
                 {{"java.lang.Thread.run"}, 1}}),
      {20, 0.02});
  EXPECT_THAT(table,
              HasSubstr("\n   share  samples  method of the program, with what it called of the JDK; from where\n"
                        "  65.0 %       65  shop.Folding.fold\n"
                        "  55.0 %       55      from shop.Rank.top\n"
                        "  10.0 %       10      from shop.Index.rebuild\n"
                        "  34.0 %       34  shop.Sums.of\n"
                        "  34.0 %       34      from shop.Main.run\n\n"));
}

TEST(ProfileWriters, GiveThePageATableOfMethods) {
  const std::string page = profile_page(many_small(), {.title = "t"});
  EXPECT_THAT(page, HasSubstr("\"sampled\":{\"samples\":1000,\"all\":12,\"rows\":[[\"a.B.work\",990,990],"));
  EXPECT_THAT(page, HasSubstr("[\"a.B.run\",0,1000]"));
  EXPECT_THAT(profile_page(two_waits(), {.title = "t"}), ::testing::Not(HasSubstr("\"sampled\":")));
}

TEST(ProfileWriters, PutTheDataIntoThePageSafely) {
  const std::string page = profile_page(three_stacks(), {.title = "profile of 7", .process = "java", .pid = 7});
  EXPECT_THAT(page, HasSubstr("profile of 7"));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>")) << "a name cannot end the script";
  EXPECT_EQ(page.find("@DATA@"), page.npos);
  EXPECT_THAT(page, HasSubstr("\"kinds\":[0,0,2,2,2,0,2]")) << "all, thread, three native ones, cut stack, native";
}

// The numbers of the names that the page's nodes have; 0 is the root.
std::set<std::size_t> names_on(const std::string& page) {
  const std::size_t at = page.find("\"nodes\":[") + 8;
  const json nodes = json::parse(page.substr(at, page.find(']', at) + 1 - at));
  std::set<std::size_t> names;
  for (std::size_t i = 1; i < nodes.size(); i += 7) names.insert(nodes[i].get<std::size_t>());
  return names;
}

// There are more nodes than a page shows: those with the least time go, not those with the fewest waits.
TEST(ProfileWriters, KeepTheLongestWaitsOnThePage) {
  for (const bool waits : {true, false}) {
    ProfileCounts counts({.waits = waits});
    counts.add(report({"once"}), 1'000'000'000);
    for (std::uint64_t i = 0; i < 21'000; ++i)
      for (int time = 0; time < 2; ++time) counts.add(report({"often " + std::to_string(i)}), 1'000 + i);
    const auto once = std::find(counts.names().begin(), counts.names().end(), "once") - counts.names().begin();
    EXPECT_EQ(names_on(profile_page(counts, {})).contains(static_cast<std::size_t>(once) + 1), waits);
  }
}

}  // namespace
}  // namespace jtrace::sampling
