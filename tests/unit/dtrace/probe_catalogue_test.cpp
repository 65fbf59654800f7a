#include "dtrace/probe_catalogue.h"

#include <gtest/gtest.h>

namespace jtrace::dtrace {
namespace {

std::vector<Probe> some_probes() {
  std::vector<ProbeSite> sites;
  const auto add = [&](const char* provider, const char* name) {
    ProbeSite site;
    site.provider = provider;
    site.name = name;
    sites.push_back(site);
  };
  add("hotspot", "gc__end");
  add("hotspot", "gc__begin");
  add("hotspot", "monitor__notify");
  add("hotspot", "monitor__notify");
  add("hotspot_jni", "Throw__entry");
  add("libgcc", "unwind");
  return group_probes(std::move(sites));
}

std::string names(const Result<std::vector<const Probe*>>& chosen) {
  if (!chosen) return chosen.error().message();
  std::string text;
  for (const Probe* probe : *chosen) text += probe->full_name() + " ";
  return text;
}

TEST(ProbeCatalogue, SitesOfOneNameAreOneProbe) {
  const auto probes = some_probes();
  ASSERT_EQ(probes.size(), 5u);
  EXPECT_EQ(probes[2].name, "monitor__notify");
  EXPECT_EQ(probes[2].sites.size(), 2u);
}

TEST(ProbeCatalogue, TextsTakeTwoOperands) {
  const auto description = describe_probe("hotspot", "method__entry", 7);
  EXPECT_TRUE(description.known);
  EXPECT_EQ(description.flag, "DTraceMethodProbes");
  ASSERT_EQ(description.arguments.size(), 4u);
  EXPECT_EQ(description.arguments[3].name, "signature");
  EXPECT_EQ(description.arguments[3].operand, 5u);
  EXPECT_EQ(description.arguments[1].kind, ArgumentKind::kSymbol);
}

TEST(ProbeCatalogue, NamesMatchTheirOwnRow) {
  EXPECT_EQ(describe_probe("hotspot", "monitor__waited", 4).arguments.size(), 3u);
  EXPECT_EQ(describe_probe("hotspot", "monitor__wait", 5).arguments.back().name, "timeout");
  // A number right after a text is not a length.
  EXPECT_EQ(describe_probe("hotspot", "class__initialization__end", 5).arguments[1].kind, ArgumentKind::kAddress);
}

TEST(ProbeCatalogue, FewerOrMoreOperandsThanTheTableAreTakenAsTheyAre) {
  EXPECT_EQ(describe_probe("hotspot", "method__entry", 4).arguments.size(), 3u);  // the last one has no length
  const auto more = describe_probe("hotspot", "gc__begin", 2);
  ASSERT_EQ(more.arguments.size(), 2u);
  EXPECT_EQ(more.arguments[1].name, "arg1");
  EXPECT_FALSE(describe_probe("hotspot_jni", "Throw__entry", 2).known);
}

TEST(ProbeCatalogue, WordsChooseProbes) {
  const auto probes = some_probes();
  EXPECT_EQ(names(select_probes(probes, "gc-begin")), "hotspot:gc__begin ");
  EXPECT_EQ(names(select_probes(probes, "gc__*")), "hotspot:gc__begin hotspot:gc__end ");
  EXPECT_EQ(names(select_probes(probes, "hotspot_jni")), "hotspot_jni:Throw__entry ");
  EXPECT_EQ(names(select_probes(probes, "hotspot_jni:*")), "hotspot_jni:Throw__entry ");
  EXPECT_EQ(names(select_probes(probes, "unwind")), "libgcc:unwind ");
  EXPECT_EQ(names(select_probes(probes, "hotspot:monitor*")), "hotspot:monitor__notify ");
}

TEST(ProbeCatalogue, AnUnknownWordNamesTheNearest) {
  const auto probes = some_probes();
  const auto chosen = select_probes(probes, "gc__begins");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().category, ErrorCategory::kUsage);
  EXPECT_NE(chosen.error().message().find("the nearest is gc__begin"), std::string::npos);
  EXPECT_FALSE(select_probes(probes, "other:gc__begin"));
}

}  // namespace
}  // namespace jtrace::dtrace
