// The table of views: the columns of each row are consistent.
#include "coreinspect/tools/views.h"

#include <gtest/gtest.h>

#include <set>

namespace jtrace::coreinspect {
namespace {

TEST(Views, EachHasANameOfItsOwnAndSomethingToShow) {
  std::set<std::string_view> names;
  for (const View& view : views()) {
    EXPECT_TRUE(names.insert(view.name).second) << view.name;
    EXPECT_EQ(find_view(view.name), &view);
    EXPECT_TRUE(view.run != nullptr || view.parts != nullptr) << view.name;
  }
  EXPECT_EQ(find_view("none"), nullptr);
}

TEST(Views, AWalkOverTheHeapCanBeBoundedAndShared) {
  for (const View& view : views()) {
    if (!view.is(fact::kWalksHeap)) continue;
    for (const ViewOption option : {ViewOption::kMaxStop, ViewOption::kNoStop, ViewOption::kThreads})
      EXPECT_TRUE(view.has(option)) << view.name;
  }
}

TEST(Views, OfABundleNeedNoArgumentAndShowNoValues) {
  EXPECT_FALSE(views_that(fact::kInBundle).empty());
  for (const View& view : views()) {
    if (view.is(fact::kInBundle)) {
      EXPECT_TRUE(view.argument.empty() && view.run != nullptr) << view.name;
      EXPECT_FALSE(view.is(fact::kWritesDump | fact::kIsPage | fact::kGivesValues)) << view.name;
    }
    if (view.is(fact::kFirstInBundle)) {
      EXPECT_TRUE(view.is(fact::kInBundle) && !view.is(fact::kWalksHeap)) << view.name;
    }
    if (view.is(fact::kKeptWithAll)) {
      EXPECT_TRUE(view.has(ViewOption::kAll)) << view.name;
    }
  }
}

TEST(Views, TheArgumentIsTheOneOfTheSnapshot) {
  ViewOptions options;
  options.arguments = {"java.lang.String.charAt(I)C"};
  EXPECT_EQ(find_view("method")->parts(options).class_names, std::vector<std::string>{"java.lang.String"});
  options.arguments = {"0x1000"};
  EXPECT_EQ(find_view("object")->parts(options).objects, options.arguments);
  EXPECT_TRUE(stack_view().parts(options).frames);
  EXPECT_FALSE(find_view("threads")->parts(options).frames);
  options.heap.in_events = true;
  EXPECT_TRUE(find_view("events")->parts(options).class_totals);
}

}  // namespace
}  // namespace jtrace::coreinspect
