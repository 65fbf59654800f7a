// Who refers to the objects of a class of a made-up heap, what they hold, and which class a name means.
#include "coreinspect/graph/class_referrers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/graph/class_choice.h"
#include "coreinspect/tools/graph_values.h"
#include "coreinspect/tools/graph_views.h"
#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kObject = 0x1000, kApp = 0x1100, kArray = 0x1200, kString = 0x1300, kPair = 0x1400,
                        kList = 0x1500, kFirst = 0x10000;

class Referrers : public ::testing::Test {
 protected:
  Referrers() {
    heap_.add_class(kObject, "java/lang/Object", 0, {});
    heap_.add_class(kApp, "App", kObject, {}, {.statics = {{"KEPT", kFirst}}});
    heap_.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
    heap_.add_class(kString, "java/lang/String", kObject, {"value"}, {.ints = {"coder"}});
    heap_.add_class(kPair, "shop/Pair", kObject, {"one", "password"}, {.ints = {"number"}});
    heap_.add_class(kList, "java/util/ArrayList", kObject, {"elementData"}, {.ints = {"size"}});
    heap_.add_root(kApp);
    heap_.add_instance(kFirst, kList, {kFirst + 0x100}, {2});
    heap_.add_array(kFirst + 0x100, kArray, {kFirst + 0x200, kFirst + 0x300, 0});
    heap_.add_instance(kFirst + 0x200, kPair, {kFirst + 0x300, kFirst + 0x400}, {7});
    heap_.add_instance(kFirst + 0x300, kPair, {0, 0}, {8});
    heap_.add_instance(kFirst + 0x400, kString, {kFirst + 0x500}, {0});
    heap_.add_text(kFirst + 0x500, "plum");
    heap_.add_instance(kFirst + 0x600, kPair, {kFirst + 0x300, 0}, {9});  // garbage
    text_ = heap_.dump();
    graph_ = test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(text_), "dump")), HeapShape{}));
  }
  HprofBuilder heap_;
  std::string text_;
  std::unique_ptr<ObjectGraph> graph_;
};

TEST_F(Referrers, AreCountedByClassAndField) {
  std::vector<char> wanted(graph_->size(), 0);
  wanted[graph_->find(kFirst + 0x200)] = wanted[graph_->find(kFirst + 0x300)] = 1;
  const auto rows = find_referrers(*graph_, wanted);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kind, "elements");
  EXPECT_EQ(rows[0].references, 2u);
  EXPECT_EQ(rows[0].holders, 1u);
  EXPECT_EQ(rows[1].of + "." + rows[1].field, "shop.Pair.one");
  EXPECT_EQ(rows[1].references, 1u) << "garbage refers to nothing";
}

TEST_F(Referrers, AreStaticFieldsToo) {
  std::vector<char> wanted(graph_->size(), 0);
  wanted[graph_->find(kFirst)] = 1;
  const auto rows = find_referrers(*graph_, wanted);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind + " " + rows[0].of + "." + rows[0].field, "static App.KEPT");
}

// 0x10300 is on the shortest path from the list, and in a field of another pair.
TEST_F(Referrers, OfOneObjectAreNamedByTheFieldsOfTheProgram) {
  ViewOptions options{.arguments = {"0x10300"}};
  EXPECT_EQ(test::must(graph_refs(*graph_, options)).out,
            "1 object of shop.Pair @0x10300\n"
            "  references      holders  by\n"
            "           1            1  elements of java.lang.Object[] of static App.KEPT\n"
            "           1            1  shop.Pair.one\n"
            "     objects  held by which field of the program\n"
            "           1  static App.KEPT\n"
            "           1  shop.Pair.one\n");
  options.json = true;
  const ViewResult json = test::must(graph_refs(*graph_, options));
  EXPECT_THAT(json.out, ::testing::HasSubstr("\"heldBy\":\"static App.KEPT\""));
  EXPECT_THAT(json.members, ::testing::HasSubstr("{\"field\":\"shop.Pair.one\",\"objects\":1}"));
}

TEST_F(Referrers, HoldReadableContents) {
  GraphValues values(*graph_, false);
  EXPECT_EQ(values.text(kFirst), "java.util.ArrayList @0x10000 (2) [shop.Pair @0x10200, shop.Pair @0x10300]");
  const auto fields = values.fields(graph_->find(kFirst + 0x200));
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].value, "shop.Pair @0x10300");
  EXPECT_EQ(fields[1].value, "********");
  EXPECT_EQ(fields[1].reference, 0u) << "nor its object";
  EXPECT_EQ(fields[2].value, "7");
  EXPECT_EQ(values.masked(), 1u);
  EXPECT_EQ(GraphValues(*graph_, true).fields(graph_->find(kFirst + 0x200))[1].value, "\"plum\"");
}

TEST_F(Referrers, ClassesAreFoundByNameThenByPartOfIt) {
  EXPECT_THAT(test::must(choose_classes(*graph_, "shop.Pair")).names, ::testing::ElementsAre("shop.Pair"));
  EXPECT_THAT(test::must(choose_classes(*graph_, "Pair")).names, ::testing::ElementsAre("shop.Pair"));
  EXPECT_THAT(test::must(choose_classes(*graph_, "java.*")).names,
              ::testing::IsSupersetOf({"java.lang.String", "java.util.ArrayList"}));
  const auto none = choose_classes(*graph_, "shop.Pear");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().help, "did you mean shop.Pair?");
}

TEST_F(Referrers, OneObjectIsShownWithWhatItRefersTo) {
  ViewOptions options;
  options.arguments = {hex(kFirst + 0x200)};
  EXPECT_THAT(test::must(graph_object(*graph_, options)).out,
              ::testing::ContainsRegex("shop.Pair at 0x10200, [0-9]+ bytes\n  one = shop.Pair @0x10300\n"
                                       "  password = [*]+\n  number = 7\n"));
  options.arguments = {hex(kFirst + 0x100)};
  options.heap.depth = 1;
  const auto array = test::must(graph_object(*graph_, options));
  EXPECT_THAT(array.out, ::testing::HasSubstr(", 3 elements\n  [0] = shop.Pair @0x10200\n  [1] = shop.Pair @0x10300\n"
                                              "  [2] = null\n  shop.Pair at 0x10200, "));
  options.arguments = {hex(kApp)};
  options.heap.depth = 0;
  EXPECT_THAT(test::must(graph_object(*graph_, options)).out,
              ::testing::HasSubstr("\n  static KEPT = java.util.ArrayList @0x10000 (2) ["));
  options.arguments = {"0x42"};
  const auto none = graph_object(*graph_, options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message(), "no object at 0x42");
}

TEST_F(Referrers, PathsTakeTheShortNameOfAClass) {
  ViewOptions options;
  options.arguments = {"Pair"};
  options.heap.top = 1;
  EXPECT_THAT(test::must(graph_paths(*graph_, options)).out, ::testing::HasSubstr("shop.Pair @0x10200 is held by\n"));
}

// A damaged dump: each of two classes is the superclass of the other.
TEST(ClassChoices, EndWhereSuperclassesAreACircle) {
  HprofBuilder heap;
  heap.add_class(0x100, "A", 0x200, {});
  heap.add_class(0x200, "B", 0x100, {});
  heap.add_class(0x300, "C", 0, {});
  heap.add_root(0x100);
  const std::string dump = heap.dump();
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
  EXPECT_FALSE(test::must(choose_classes(*graph, "C", true)).has_subclasses);
}

}  // namespace
}  // namespace jtrace::coreinspect
