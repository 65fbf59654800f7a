// Which fields of a made-up heap hold a value, and what a user's words may mean.
#include "coreinspect/graph/value_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kString = 0x1300, kInteger = 0x1400,
                        kCrate = 0x1500, kHeavy = 0x1600, kFirst = 0x10000;

class ValuesOfAHeap : public ::testing::Test {
 protected:
  ValuesOfAHeap() {
    heap_.add_class(kObject, "java/lang/Object", 0, {});
    heap_.add_class(kApp, "App", kObject, {}, {.statics = {{"ALL", kFirst}, {"NAME", kFirst + 0x400}}});
    heap_.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    heap_.add_class(kString, "java/lang/String", kObject, {"value"}, {.ints = {"coder"}});
    heap_.add_class(kInteger, "java/lang/Integer", kObject, {}, {.ints = {"value"}});
    heap_.add_class(kCrate, "Crate", kObject, {"label", "boxed"}, {.ints = {"number", "weight"}});
    heap_.add_class(kHeavy, "Heavy", kCrate, {}, {.ints = {}});
    heap_.add_root(kApp);
    heap_.add_array(kFirst, kArray, {kFirst + 0x100, kFirst + 0x200, kFirst + 0x400, kFirst + 0x700});
    heap_.add_instance(kFirst + 0x100, kCrate, {kFirst + 0x400, kFirst + 0x600}, {7, 8});
    heap_.add_instance(kFirst + 0x200, kHeavy, {kFirst + 0x400, 0}, {static_cast<std::uint32_t>(-7), 7});
    heap_.add_instance(kFirst + 0x300, kCrate, {kFirst + 0x400, 0}, {7, 7});  // garbage
    heap_.add_instance(kFirst + 0x400, kString, {kFirst + 0x500}, {0});
    heap_.add_text(kFirst + 0x500, "plum");
    heap_.add_instance(kFirst + 0x600, kInteger, {}, {7});
    heap_.add_instance(kFirst + 0x700, kString, {kFirst + 0x800}, {0});
    std::string long_text(70'000, 'x');
    heap_.add_text(kFirst + 0x800, long_text.append("-tail"));
    text_ = heap_.dump();
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
  }
  // "field count", sorted.
  std::vector<std::string> found(const std::string& words, const std::string& classes = "") {
    ValueSearch search(*graph_, WantedValue::of(words));
    std::vector<std::string> rows;
    for (const auto& [field, hits] : search.run(classes)) {
      rows.push_back(search.name(field) + " " + std::to_string(hits.count));
      if (!field.is_static) first_ = hits.objects.front();
    }
    return rows;
  }
  HprofBuilder heap_;
  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
  std::uint64_t first_ = 0;
};

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST_F(ValuesOfAHeap, OfNumbersAreFoundInFieldsSuperclassesAndBoxesButNotInGarbage) {
  EXPECT_THAT(found("7"), UnorderedElementsAre("Crate.number 1", "Crate.weight 1", "Crate.boxed 1"));
  EXPECT_THAT(found("-7"), ElementsAre("Crate.number 1"));
  EXPECT_EQ(first_, kFirst + 0x200);
  EXPECT_THAT(found("0x8"), ElementsAre("Crate.weight 1"));
  EXPECT_THAT(found("0xfffffff9"), ElementsAre("Crate.number 1")) << "the bits of -7";
  EXPECT_THAT(found("4294967289"), ElementsAre()) << "-7 as it would be without a sign";
}

TEST_F(ValuesOfAHeap, OfTextsAreFoundInFieldsStaticsAndElements) {
  EXPECT_THAT(found("plum"),
              UnorderedElementsAre("Crate.label 2", "static App.NAME 1", "elements of java.lang.Object[] 1"));
  EXPECT_THAT(found("*-tail"), ElementsAre("elements of java.lang.Object[] 1")) << "as long as it is";
  EXPECT_THAT(found("pl*", "Crate"), ElementsAre("Crate.label 1"));
  EXPECT_THAT(found("plu"), ElementsAre()) << "part of a text";
}

TEST(WantedValue, IsAllThatTheWordsMayMean) {
  EXPECT_EQ(WantedValue::of("-12").whole, -12);
  EXPECT_EQ(WantedValue::of("-12").real, -12.0);
  EXPECT_EQ(WantedValue::of("0xffffffffffffffff").pattern, 0xffffffffffffffff);
  EXPECT_FALSE(WantedValue::of("9223372036854775808").whole) << "no long has it";
  EXPECT_EQ(WantedValue::of("-9223372036854775808").whole, INT64_MIN);
  EXPECT_TRUE(std::isnan(*WantedValue::of("NaN").real));
  EXPECT_EQ(WantedValue::of("1.5").real, 1.5);
  EXPECT_FALSE(WantedValue::of("1.5").whole);
  EXPECT_EQ(WantedValue::of("true").truth, true);
  EXPECT_EQ(WantedValue::of("\u20ac").character, u'\u20ac');
  EXPECT_FALSE(WantedValue::of("12 ").whole);
  EXPECT_FALSE(WantedValue::of("").real);
  EXPECT_FALSE(WantedValue::of("99999999999999999999").whole) << "too large for a long";
}

}  // namespace
}  // namespace jtrace::coreinspect
