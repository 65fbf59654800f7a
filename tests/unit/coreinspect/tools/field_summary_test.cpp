// What the fields of the sessions of a made-up heap hold, all of them together.
#include "coreinspect/tools/field_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/graph/value_counts.h"
#include "coreinspect/tools/field_summary_text.h"
#include "coreinspect/tools/graph_views.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kString = 0x1300, kInteger = 0x1400,
                        kEnum = 0x1500, kState = 0x1600, kList = 0x1700, kSession = 0x1800, kVip = 0x1900,
                        kBase = 0x1a00, kMap = 0x1b00, kSet = 0x1c00, kAll = 0x10000, kActive = 0x11000,
                        kGone = 0x11100, kBoxes = 0x12000, kTexts = 0x20000, kLists = 0x30000, kFirst = 0x40000,
                        kShared = 0x13000;
constexpr std::uint64_t kSessions = 20;

std::uint64_t session(std::uint64_t i) { return kFirst + 0x100 * i; }

// Session 0 .. 19: number i, level i % 2, a text of its own; 3 are GONE; 7 has a list of 5 elements; 4 has a box of -9;
// the last one is a Vip. One more is garbage.
std::string sessions_dump(bool redacted = false) {
  HprofBuilder heap;
  if (redacted) heap.text(kRedactedMark);
  heap.add_class(kObject, "java/lang/Object", 0, {});
  heap.add_class(kApp, "shop/App", kObject, {}, {.statics = {{"ALL", kAll}}});
  heap.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
  heap.add_class(kString, "java/lang/String", kObject, {"value"}, {.ints = {"coder"}});
  heap.add_class(kInteger, "java/lang/Integer", kObject, {}, {.ints = {"value"}});
  heap.add_class(kEnum, "java/lang/Enum", kObject, {"name"});
  heap.add_class(kState, "shop/State", kEnum, {});
  heap.add_class(kList, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size"}});
  heap.add_class(kMap, "java/util/HashMap", kObject, {"table"}, {.ints = {"size"}});
  heap.add_class(kSet, "java/util/HashSet", kObject, {"map"});
  heap.add_class(kBase, "java/util/Observable", kObject, {"observers"});
  heap.add_class(kSession, "shop/Session", kBase,
                 {"user", "state", "boxed", "basket", "tags", "tenant", "manager", "own", "password", "any", "parts"},
                 {.ints = {"number", "level"}});
  heap.add_class(kVip, "shop/Vip", kSession, {"gift"});
  heap.add_root(kApp);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < kSessions; ++i) all.push_back(session(i));
  heap.add_array(kAll, kArray, all);
  const auto text = [&](std::uint64_t at, const std::string& bytes) {
    heap.add_instance(at, kString, {at + 0x80}, {0});
    heap.add_text(at + 0x80, bytes);
  };
  for (const auto& [constant, name] : {std::pair(kActive, "ACTIVE"), {kGone, "GONE"}}) {
    heap.add_instance(constant, kState, {constant + 0x10});
    text(constant + 0x10, name);
  }
  heap.add_instance(kShared, kObject, {});
  heap.add_instance(kShared + 0x10, kSet, {kShared + 0x20});
  heap.add_instance(kShared + 0x20, kMap, {0}, {2});
  heap.add_array(kShared + 0x40, kArray, {0, 0, 0});
  for (std::uint64_t i = 0; i < kSessions; ++i) {
    text(kTexts + 0x100 * i, "user" + std::to_string(i));
    heap.add_instance(kBoxes + 0x10 * i, kInteger, {}, {i == 4 ? static_cast<std::uint32_t>(-9) : 1});
    heap.add_instance(kLists + 0x100 * i, kList, {kLists + 0x100 * i + 0x40}, {i == 7 ? 5u : 0u});
    heap.add_array(kLists + 0x100 * i + 0x40, kArray, std::vector<std::uint64_t>(5, 0));
    heap.add_instance(kLists + 0x100 * i + 0x20, kObject, {});
  }
  for (std::uint64_t i = 0; i <= kSessions; ++i) {  // the last one is garbage
    const std::uint64_t k = i % kSessions, of_lists = kLists + 0x100 * k;
    std::vector<std::uint64_t> fields = {kTexts + 0x100 * k,
                                         k < 3 ? kGone : kActive,
                                         kBoxes + 0x10 * k,
                                         of_lists,
                                         kShared + 0x10,
                                         kShared,
                                         k < 15 ? 0 : of_lists + 0x20,
                                         of_lists + 0x20,
                                         kTexts + 0x100 * k,
                                         k == 0   ? kShared
                                         : k == 1 ? kTexts
                                                  : kActive,
                                         kShared + 0x40};
    const bool is_vip = i == kSessions - 1;
    if (is_vip) fields.insert(fields.begin(), 0);
    // The builder has all references first, so the JDK's field above comes after the numbers.
    HprofBuffer& out = heap.segment();
    out.sub(HprofSub::kInstanceDump);
    out.id(session(i));
    out.u4(1);
    out.id(is_vip ? kVip : kSession);
    out.u4(static_cast<std::uint32_t>(8 * fields.size() + 8 + 8));
    for (const std::uint64_t each : fields) out.id(each);
    out.u4(i == kSessions ? 77'777 : static_cast<std::uint32_t>(k));
    out.u4(k % 2);
    out.id(0);
  }
  return heap.dump();
}

class Sessions : public ::testing::Test {
 protected:
  void read(const std::string& dump) {
    text_ = dump;
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
  }
  FieldSummaries summaries(bool secrets = false) {
    std::vector<std::uint32_t> objects;
    for (std::uint64_t i = 0; i <= kSessions; ++i) objects.push_back(graph_->find(session(i)));
    return summarize_fields(*graph_, objects, secrets);
  }
  std::string text(bool secrets = false) { return text_of(summaries(secrets), true); }
  ViewResult view(const std::string& what, std::size_t rows, bool json = false) {
    ViewOptions options{.json = json, .arguments = {what}};
    options.heap.top = rows;
    return test::must(graph_instances(*graph_, options));
  }

  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
};

TEST_F(Sessions, AreSummarizedFieldByField) {
  read(sessions_dump());
  EXPECT_EQ(text(),
            "  fields of the 20 that are reachable:\n"
            "    user: 20 different texts\n"
            "    state: ACTIVE in 17, GONE in 3\n"
            "    boxed: 1 in 19, -9 in 1 @0x40400\n"
            "    basket: java.util.ArrayList with 0 to 5 entries, most in @0x40700\n"
            "    tags: java.util.HashSet with 2 entries each\n"
            "    tenant: one and the same java.lang.Object @0x13000\n"
            "    manager: null in 15\n"
            "    any: shop.State in 18, java.lang.Object in 1, java.lang.String in 1\n"
            "    parts: java.lang.Object[] with 3 elements each\n"
            "    number: 0 @0x40000 to 19 @0x41300, 20 different values\n"
            "    level: 0 in 10, 1 in 10\n"
            "    gift: null in all  (shop.Vip)\n"
            "    password: masked (--show-secrets)\n");
}

TEST_F(Sessions, ShowSecretsOnRequestOnly) {
  read(sessions_dump());
  EXPECT_THAT(text(), HasSubstr("    password: masked (--show-secrets)\n"));
  EXPECT_THAT(text(true), HasSubstr("    password: 20 different texts\n"));
}

TEST_F(Sessions, OfARedactedDumpHaveSizesAndReferencesAlone) {
  read(sessions_dump(true));
  ASSERT_TRUE(graph_->file().is_redacted());
  const std::string shown = text();
  EXPECT_THAT(shown, HasSubstr("    basket: java.util.ArrayList with 0 to 5 entries, most in @0x40700\n"));
  EXPECT_THAT(shown, HasSubstr("    state: 2 different objects of shop.State\n"));
  EXPECT_THAT(shown, HasSubstr("    manager: null in 15\n"));
  for (const char* content : {"user", "number", "level", "ACTIVE", "-9"}) EXPECT_THAT(shown, Not(HasSubstr(content)));
}

TEST_F(Sessions, AreSummarizedBeforeTheyAreListed) {
  read(sessions_dump());
  const std::string some = view("shop.Session", 2).out;
  EXPECT_THAT(some, ::testing::ContainsRegex("^20 objects of shop.Session, [0-9]+ bytes, 1 of them garbage\n"
                                             "  fields of the 19 that are reachable:\n    user: "));
  EXPECT_THAT(
      some,
      HasSubstr(
          "    password: masked (--show-secrets)\n2 of them, those with the extremes first:\nshop.Session @0x40700\n"));
  EXPECT_THAT(view("shop.Session", 100).out, HasSubstr("\neach of them:\nshop.Session @0x40000\n"));
  // Of a few objects, and of those without fields of the program, the list is enough.
  EXPECT_THAT(view("shop.State", 1).out, HasSubstr(" bytes; the first 1:\n"));
  EXPECT_THAT(view("java.lang.Integer", 1).out, HasSubstr(" bytes; the first 1:\n"));
  const std::string members = view("shop.Session", 1, true).members;
  EXPECT_THAT(members, HasSubstr(R"("fieldSummary":[{"name":"user","declaredBy":"shop.Session","kind":"text")"));
  EXPECT_THAT(members, HasSubstr(R"("least":0,"most":5,"leastAt":"0x40000","mostAt":"0x40700")"));
  EXPECT_THAT(members, HasSubstr(R"("maskedFields":["password"])"));
  EXPECT_THAT(members, HasSubstr(R"({"value":"GONE","count":3,"at":"0x40000"})"));
}

TEST(ValueCounts, AreBounded) {
  ValueCounts counts;
  for (std::uint32_t i = 0; i < ValueCounts::kMost; ++i) counts.add(std::uint64_t{i} << 32, i);
  counts.add(7ull << 32, 1);
  EXPECT_EQ(counts.different(), ValueCounts::kMost);
  EXPECT_FALSE(counts.is_full());
  const auto most = counts.most(2);
  ASSERT_EQ(most.size(), 2u);
  EXPECT_EQ(most[0].key, 7ull << 32);
  EXPECT_EQ(most[0].count, 2u);
  EXPECT_EQ(most[0].object, 7u);
  EXPECT_EQ(most[1].object, 0u);
  counts.add(1, 1);
  EXPECT_TRUE(counts.is_full());
  EXPECT_EQ(counts.different(), ValueCounts::kMost);
  EXPECT_TRUE(counts.most(1).empty());
}

}  // namespace
}  // namespace jtrace::coreinspect
