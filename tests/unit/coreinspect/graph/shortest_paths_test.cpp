// Which of several ways to an object is its path.
#include "coreinspect/graph/shortest_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/graph/hprof_builder.h"

namespace jtrace::coreinspect {
namespace {

using ::testing::ElementsAre;

constexpr std::uint64_t kObject = 0x1000, kThread = 0x1100, kArray = 0x1200, kLoaderBase = 0x1300, kAppLoader = 0x1400,
                        kLoaders = 0x1500, kHooks = 0x1600, kWebLoader = 0x1700, kTask = 0x1800, kContext = 0x1900;
constexpr std::uint64_t kApp = 0x2000, kWeb = 0x2100, kClasses = 0x2200, kRunning = 0x2300, kHook = 0x2400,
                        kTaskOfThread = 0x2500, kShared = 0x2600, kSystem = 0x2700;

struct Shape {
  std::uint64_t loader = 0;                   // of the class that has the static field
  const char* context = "shop/Context";       // its name
  std::uint64_t held = kShared, hook = 0;     // by the static field; by the target of a thread that does not run
  std::uint64_t task = kTaskOfThread;         // the target of the thread that runs
  std::uint64_t context_loader = 0, scl = 0;  // of that thread; ClassLoader's
};

// A thread whose task refers to an object; a static field of a class refers to it too.
std::string dump_of(const Shape& shape) {
  HprofBuilder builder;
  builder.add_class(kObject, "java/lang/Object", 0, {});
  builder.add_class(kThread, "java/lang/Thread", kObject, {"target", "contextClassLoader"});
  builder.add_class(kArray, "[Ljava/lang/Object;", kObject, {});
  builder.add_class(kLoaderBase, "java/lang/ClassLoader", kObject, {"classes"}, {.statics = {{"scl", shape.scl}}});
  builder.add_class(kAppLoader, "jdk/internal/loader/ClassLoaders$AppClassLoader", kLoaderBase, {});
  builder.add_class(kLoaders, "jdk/internal/loader/ClassLoaders", kObject, {}, {.statics = {{"APP_LOADER", kApp}}});
  builder.add_class(kHooks, "java/lang/ApplicationShutdownHooks", kObject, {}, {.statics = {{"hooks", kHook}}});
  builder.add_class(kWebLoader, "web/Loader", kLoaderBase, {}, {.loader = kApp});
  builder.add_class(kTask, "shop/Task", kObject, {"of"}, {.loader = kApp});
  builder.add_class(kContext, shape.context, kObject, {},
                    {.loader = shape.loader, .statics = {{"INSTANCE", shape.held}}});
  builder.add_instance(kApp, kAppLoader, {shape.loader == kApp ? kClasses : 0});
  builder.add_instance(kWeb, kWebLoader, {kClasses});
  builder.add_instance(kSystem, kWebLoader, {kClasses});
  builder.add_array(kClasses, kArray, {kContext});
  builder.add_instance(kRunning, kThread, {shape.task, shape.context_loader});
  builder.add_instance(kHook, kThread, {shape.hook, 0});
  builder.add_instance(kTaskOfThread, kTask, {kShared});
  builder.add_bytes(kShared, 10);
  builder.add_thread(kRunning, 1);
  return builder.dump();
}

std::vector<std::string> path_in(const std::string& dump, std::uint64_t address) {
  const auto graph =
      test::must(ObjectGraph::build(test::must(HprofFile::of_view(bytes_of(dump), "dump")), HeapShape{}));
  const ShortestPaths paths(*graph);
  std::vector<std::string> steps;
  for (const auto& step : paths.to(graph->find(address)))
    steps.push_back(steps.empty() ? graph->name(step.object) + " (" + paths.root_name(step.object) + ")" : step.edge);
  return steps;
}

TEST(ShortestPaths, BeginAtStaticsOfClassesThatAreNeverUnloaded) {
  EXPECT_THAT(path_in(dump_of({.loader = kApp}), kShared),
              ElementsAre("class shop.Context (class of the app loader)", "static INSTANCE"));
  EXPECT_THAT(path_in(dump_of({.loader = 0}), kShared),
              ElementsAre("class shop.Context (system class)", "static INSTANCE"));
  EXPECT_THAT(path_in(dump_of({.loader = kSystem, .scl = kSystem}), kShared),
              ElementsAre("class shop.Context (class of the system class loader)", "static INSTANCE"));
  EXPECT_THAT(path_in(dump_of({.loader = kApp, .held = 0}), kShared),
              ElementsAre("java.lang.Thread (thread)", ".target", ".of"));
}

TEST(ShortestPaths, OfStaticsOfOtherLoadersShowWhatHoldsTheLoader) {
  const std::string web = dump_of({.loader = kWeb, .task = 0, .context_loader = kWeb});
  EXPECT_THAT(path_in(web, kShared),
              ElementsAre("java.lang.Thread (thread)", ".contextClassLoader", ".classes", "[0]", "static INSTANCE"));
  const std::string hidden = dump_of({.loader = kApp, .context = "shop/Context$$Lambda/0x0000700000001000", .task = 0});
  EXPECT_THAT(path_in(hidden, kShared), ElementsAre("class jdk.internal.loader.ClassLoaders (system class)",
                                                    "static APP_LOADER", ".classes", "[0]", "static INSTANCE"));
}

TEST(ShortestPaths, NameTheFieldThatHoldsALoaderBeforeItsClasses) {
  EXPECT_THAT(path_in(dump_of({.loader = kApp}), kApp),
              ElementsAre("class jdk.internal.loader.ClassLoaders (system class)", "static APP_LOADER"));
  EXPECT_THAT(path_in(dump_of({.loader = kApp, .held = kApp}), kApp),
              ElementsAre("class shop.Context (class of the app loader)", "static INSTANCE"));
}

// A shutdown hook is held by a static field, and refers to much of a program.
TEST(ShortestPaths, OfStaticsDoNotLeadThroughThreads) {
  EXPECT_THAT(path_in(dump_of({.loader = kApp, .held = 0, .hook = kTaskOfThread}), kShared),
              ElementsAre("java.lang.Thread (thread)", ".target", ".of"));
  EXPECT_THAT(path_in(dump_of({.loader = kApp, .held = 0, .hook = kTaskOfThread, .task = 0}), kShared),
              ElementsAre("class java.lang.ApplicationShutdownHooks (system class)", "static hooks", ".target", ".of"));
}

}  // namespace
}  // namespace jtrace::coreinspect
