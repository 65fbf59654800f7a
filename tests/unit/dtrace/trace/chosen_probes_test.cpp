// The probes that are chosen, those that are off, and the events that a trace's filters include.
#include "dtrace/trace/chosen_probes.h"

#include <gtest/gtest.h>

#include "dtrace/trace/class_filter.h"

namespace jtrace::dtrace {
namespace {

Libjvm libjvm_with(std::initializer_list<const char*> names) {
  std::vector<ProbeSite> sites;
  for (const char* name : names) {
    ProbeSite site;
    site.provider = "hotspot";
    site.name = name;
    sites.push_back(site);
  }
  Libjvm libjvm;
  libjvm.has_notes = true;
  libjvm.probes = group_probes(std::move(sites));
  return libjvm;
}

TEST(ChosenProbes, EachOnceWhateverNamesIt) {
  const Libjvm libjvm = libjvm_with({"gc__begin", "gc__end", "vm__shutdown"});
  const auto chosen = choose_probes(libjvm, {"gc__*", "gc__end"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->size(), 2u);
  EXPECT_FALSE(choose_probes(libjvm, {"gc__*", "no__such"}));
  EXPECT_FALSE(choose_probes(Libjvm(), {}));
}

TEST(ChosenProbes, ThoseWhoseFlagIsOffAreReported) {
  Libjvm libjvm = libjvm_with({"gc__begin", "method__entry", "method__return", "object__alloc"});
  libjvm.load_base = 0x1000;  // of a running JVM
  libjvm.flags = {{"DTraceMethodProbes", {.on = false}}, {"DTraceAllocProbes", {.on = true}}};
  const auto chosen = choose_probes(libjvm, {"hotspot"});
  ASSERT_TRUE(chosen);
  const OffProbes off = off_in(libjvm, *chosen);
  EXPECT_EQ(off.count, 2u);
  EXPECT_EQ(off.names, "method__entry, method__return");
  EXPECT_EQ(off.options, "-XX:+DTraceMethodProbes");
  EXPECT_EQ(flags_to_hold(libjvm, *chosen, off.flags),
            (std::vector<std::string>{"DTraceMethodProbes", "DTraceAllocProbes"}));
  EXPECT_EQ(off_in({"java", "-XX:+DTraceAllocProbes", "Main"}, *chosen).names, "method__entry, method__return");
  EXPECT_EQ(off_in({"java", "-XX:+ExtendedDTraceProbes", "Main"}, *chosen).count, 0u);
}

TEST(ChosenProbes, MethodProbesCopyNoStacks) {
  const Libjvm libjvm = libjvm_with({"gc__begin", "method__entry"});
  const auto method = choose_probes(libjvm, {"method__entry"});
  ASSERT_TRUE(method);
  EXPECT_FALSE(choose_sites(libjvm, *method, false, true));
  EXPECT_TRUE(choose_sites(libjvm, *method, false, false));
  const auto both = choose_probes(libjvm, {"method__entry", "gc__begin"});
  ASSERT_TRUE(both);
  EXPECT_TRUE(choose_sites(libjvm, *both, false, true));
}

TEST(ClassFilter, TheFirstRuleThatMatchesDecides) {
  const std::vector<session::FilterRule> rules = {
      {"java.util.HashMap", "get", true}, {"java.util.*", "*", false}, {"*Test", "*", false}};
  EXPECT_TRUE(is_wanted(rules, "java/util/HashMap", "get"));
  EXPECT_FALSE(is_wanted(rules, "java/util/HashMap", "put"));
  EXPECT_TRUE(is_wanted(rules, "java/util/HashMap", "")) << "a method of it is included";
  EXPECT_FALSE(is_wanted(rules, "java/util/TreeMap", ""));
  EXPECT_FALSE(is_wanted(rules, "MyTest", "run"));
  EXPECT_TRUE(is_wanted(rules, "My", "run"));
  EXPECT_TRUE(is_wanted({}, "My", ""));
}

}  // namespace
}  // namespace jtrace::dtrace
