// Threads with equal frames: what is shown of what they wait for.
#include "coreinspect/tools/thread_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Walk kWalk;

ThreadGroups empty_groups() {
  return ThreadGroups([](Address lock) { return lock < 0x100 ? "Stock" : "Row"; });
}
GroupMember member(const std::string& name, std::string_view state, std::vector<std::string> frames,
                   const Wait* wait = nullptr, const Walk& walk = kWalk) {
  GroupMember out{.thread = {.name = name}, .state = state, .frames = std::move(frames), .walk = &walk, .wait = wait};
  for (std::size_t i = 0; i < walk.frames.size(); ++i) out.places.push_back(i);
  return out;
}
std::string json_of(const ThreadGroups& groups) {
  std::string out;
  JsonWriter json(out);
  groups.write(
      json, [](JsonWriter& to, const GroupMember&) { to.begin_array().end_array(); }, [](JsonWriter&, const Wait&) {});
  return out;
}

TEST(ThreadGroups, SayWhatTheirThreadsWaitFor) {
  const Wait monitor{.kind = "monitor", .class_name = "Stock", .object = 0x10, .owner = "main", .owner_id = 1};
  const Wait again = monitor;
  ThreadGroups groups = empty_groups();
  groups.add(member("a", "BLOCKED", {"    at f\n"}, &monitor));
  groups.add(member("b", "BLOCKED", {"    at f\n"}, &again));
  EXPECT_EQ(groups.text(),
            "2 threads BLOCKED: \"a\", \"b\"\n"
            "    - waiting to lock <0x10> (a Stock) owned by \"main\" #1\n    at f\n\n");
}

TEST(ThreadGroups, CountTheirThreadsByWhatTheyWaitFor) {
  std::vector<Wait> waits(6, {.kind = "park", .class_name = "Lock"});
  for (std::size_t i = 0; i < waits.size(); ++i) waits[i].object = 0x100 + i;
  ThreadGroups groups = empty_groups();
  groups.add(member("x", "WAITING", {"    at f\n"}, nullptr));
  groups.add(member("y", "WAITING", {"    at f\n"}, &waits[0]));
  for (const Wait& wait : waits) groups.add(member("z", "WAITING", {"    at f\n"}, &wait));
  EXPECT_THAT(groups.text(), AllOf(HasSubstr("2 of them: parking to wait for <0x100> (a Lock)\n"),
                                   HasSubstr("1 of them: parking to wait for <0x103> (a Lock)\n"),
                                   Not(HasSubstr("<0x104>")), HasSubstr("and for 2 more: --format json has all")));
}

// Both have the Stock, each its own Row.
TEST(ThreadGroups, SayWhichLocksTheirFramesHold) {
  Walk one, other;
  one.frames.resize(2), other.frames.resize(2);
  one.frames[0].locks = {0x100};
  other.frames[0].locks = {0x200};
  one.frames[1].locks = other.frames[1].locks = {0x10};
  ThreadGroups groups = empty_groups();
  const std::vector<std::string> frames = {"    at f\n", "    at g\n"};
  groups.add(member("a", "RUNNABLE", frames, nullptr, one));
  groups.add(member("b", "RUNNABLE", frames, nullptr, other));
  groups.add(member("c", "RUNNABLE", frames));
  EXPECT_EQ(groups.text(),
            "3 threads RUNNABLE: \"a\", \"b\", \"c\"\n    at f\n"
            "    - 2 of them: locked, 2 different ones (each a Row)\n    at g\n"
            "    - 2 of them: locked <0x10> (a Stock)\n\n");
  EXPECT_THAT(json_of(groups),
              HasSubstr(R"("locked":[{"frame":0,"class":"Row","threads":2,"objects":["0x100","0x200"]},)"));
}

// The other thread is in a stub, which is not shown.
TEST(ThreadGroups, CompareWhatIsShown) {
  Walk plain, in_stub;
  plain.frames.resize(1), in_stub.frames.resize(2);
  plain.frames[0].locks = in_stub.frames[1].locks = {0x10};
  ThreadGroups groups = empty_groups();
  groups.add(member("a", "RUNNABLE", {"    at f\n"}, nullptr, plain));
  GroupMember other = member("b", "RUNNABLE", {"    at f\n"}, nullptr, in_stub);
  other.places = {1};
  groups.add(other);
  EXPECT_EQ(groups.text(), "2 threads RUNNABLE: \"a\", \"b\"\n    at f\n    - locked <0x10> (a Stock)\n\n");
  EXPECT_THAT(json_of(groups), HasSubstr(R"("locked":[{"frame":0,"class":"Stock","threads":2,"objects":["0x10"]}])"));
}

TEST(ThreadGroups, GiveTheLocksThatAllHave) {
  Walk walk, other;
  walk.frames.resize(1), other.frames.resize(1);
  walk.frames[0].locks = {0x200, 0x100};
  other.frames[0].locks = {0x300};
  ThreadGroups groups = empty_groups();
  groups.add(member("a", "RUNNABLE", {"    at f\n"}, nullptr, walk));
  EXPECT_THAT(groups.text(), HasSubstr("    - locked <0x100>, <0x200> (each a Row)\n"));
  groups.add(member("b", "RUNNABLE", {"    at f\n"}, nullptr, walk));
  EXPECT_THAT(groups.text(), HasSubstr("    - locked <0x100>, <0x200> (each a Row)\n"));
  groups.add(member("c", "RUNNABLE", {"    at f\n"}, nullptr, other));
  EXPECT_THAT(groups.text(), HasSubstr("    - locked, 3 different ones (each a Row)\n"));
}

// Who waits in Object.wait has left its monitor.
TEST(ThreadGroups, GiveTheLocksThatSomebodyWaitsFor) {
  const Wait to_lock{.kind = "monitor", .class_name = "Row", .object = 0x200};
  const Wait in_wait{.kind = "wait", .class_name = "Row", .object = 0x100};
  Walk one, other;
  one.frames.resize(1), other.frames.resize(1);
  one.frames[0].locks = {0x100};
  other.frames[0].locks = {0x200};
  ThreadGroups groups = empty_groups();
  groups.add(member("a", "WAITING", {"    at f\n"}, &in_wait, one));
  groups.add(member("b", "WAITING", {"    at f\n"}, nullptr, other));
  groups.add(member("c", "BLOCKED", {"    at g\n"}, &to_lock));
  EXPECT_THAT(groups.text(), HasSubstr("    - locked, 2 different ones (each a Row); threads wait for <0x200>\n"));
}

TEST(ThreadGroups, KeepWhoCarriesWhom) {
  ThreadGroups groups = empty_groups();
  GroupMember mounted = member("v", "RUNNABLE", {});
  mounted.note = "carried by \"carrier-1\" #30, where its frames are";
  groups.add(mounted);
  EXPECT_EQ(groups.text(),
            "1 thread RUNNABLE without frames: \"v\"\n"
            "    - \"v\" carried by \"carrier-1\" #30, where its frames are\n\n");
}

GroupMember unnamed(std::int64_t id, std::vector<std::string> frames) {
  GroupMember out = member("", "WAITING", std::move(frames));
  out.thread.id = id;
  return out;
}

TEST(ThreadGroups, NumberThreadsWithoutAName) {
  ThreadGroups groups = empty_groups();
  groups.add(unnamed(45, {"    at f\n"}));
  groups.add(unnamed(46, {"    at f\n"}));
  GroupMember mounted = unnamed(47, {"    at f\n"});
  mounted.thread.name = "v";
  groups.add(mounted);
  EXPECT_EQ(groups.text(), "3 threads WAITING: #45, #46, \"v\"\n    at f\n\n");
  EXPECT_THAT(json_of(groups), HasSubstr(R"("threads":["","","v"],"threadIds":[45,46,47],)"));
}

TEST(ThreadGroups, NumberSomeThreadsWithoutANameAndFrames) {
  ThreadGroups groups = empty_groups();
  for (std::int64_t id = 40; id < 46; ++id) groups.add(unnamed(id, {}));
  groups.add(member("VM Thread", "WAITING", {}));
  EXPECT_EQ(groups.text(),
            "7 threads WAITING without frames: 6 without a name (#40, #41, #42, #43, ...), \"VM Thread\"\n\n");
  EXPECT_EQ(name_families({{"", 7}}), std::vector<std::string>{"#7"});
}

TEST(ThreadGroups, NameAllThreadsWithoutFrames) {
  ThreadGroups groups = empty_groups();
  for (int i = 0; i < 12; ++i) groups.add(member("GC Thread#" + std::to_string(i), "", {}));
  for (const char* name : {"VM Thread", "C1 CompilerThread0", "a", "b", "c", "d", "e", "f"})
    groups.add(member(name, "", {}));
  EXPECT_EQ(
      groups.text(),
      "20 threads without frames: 12 \"GC Thread#*\", \"VM Thread\", \"C1 CompilerThread0\", \"a\", \"b\", \"c\", "
      "\"d\", \"e\", \"f\"\n\n");
}

}  // namespace
}  // namespace jtrace::coreinspect
