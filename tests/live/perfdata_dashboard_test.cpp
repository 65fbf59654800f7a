// The dashboard of ours, and the names that a dashboard for Micrometer asks for: what their queries need is served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/strings.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using Labels = std::set<std::string>;

// Name of a series -> its labels, on a page of Prometheus.
std::map<std::string, Labels> series_of(const std::string& page) {
  static const std::regex label("([a-z_]+)=\"(?:[^\"\\\\]|\\\\.)*\"");
  std::map<std::string, Labels> series;
  for (const std::string_view each : split(page, '\n')) {
    if (each.starts_with('#') || each.find('{') == each.npos) continue;
    const std::string line(each);
    Labels& labels = series[line.substr(0, line.find('{'))];
    for (std::sregex_iterator at(line.begin(), line.end(), label), end; at != end; ++at) labels.insert((*at)[1]);
  }
  return series;
}

std::vector<std::string> all_of(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// Queries of panels and of variables, each with the labels of its legend.
std::vector<std::pair<std::string, Labels>> queries_of(const json& dashboard) {
  static const std::regex braces(R"(\{\{(\w+)\}\})");
  std::vector<std::pair<std::string, Labels>> queries;
  for (const json& panel : dashboard["panels"])
    for (const json& target : panel.value("targets", json::array())) {
      const auto legend = all_of(target["legendFormat"], braces);
      queries.emplace_back(target["expr"], Labels(legend.begin(), legend.end()));
    }
  for (const json& variable : dashboard["templating"]["list"])
    if (variable["type"] == "query") queries.emplace_back(variable["query"]["query"], Labels());
  return queries;
}

// What is in a query and not on the page.
std::string missing(const std::string& query, Labels labels, const std::map<std::string, Labels>& page) {
  static const std::regex name(R"(\b((?:jvm|hsperf|process)_\w+)(?=[{,]))");
  static const std::regex matched(R"x([{,](\w+)(?:=~|!~|!=|=)")x");
  static const std::regex grouped(R"(by \(([^)]*)\))"), listed(R"(label_values\([^)]*, (\w+)\))");
  Labels there = {"instance", "job"};  // of the scraper
  std::string faults;
  for (const std::string& each : all_of(query, name)) {
    const auto found = page.find(each);
    if (found == page.end()) faults += each + "\n";
    else there.insert(found->second.begin(), found->second.end());
  }
  for (const std::regex* pattern : {&matched, &listed})
    for (const std::string& each : all_of(query, *pattern)) labels.insert(each);
  for (const std::string& group : all_of(query, grouped))
    for (const std::string_view each : split(group, ',')) labels.insert(std::string(trimmed(each)));
  for (const std::string& each : labels)
    if (!there.contains(each)) faults += "label " + each + "\n";
  return faults;
}

class Dashboards : public ::testing::TestWithParam<Jdk> {
 protected:
  std::map<std::string, Labels> page(const std::string& naming) {
    const auto jvm = must(JvmProcess::start(GetParam(), "Beans", {.flags = {"-Xmx200m", "-XX:+UseG1GC"}}));
    std::map<std::string, Labels> series;
    // A thread may come or go at a look; then the states are left out.
    for (int i = 0; i < 20 && !series["jvm_thread_count"].contains("jvm_thread_state") &&
                    !series.contains("jvm_threads_states_threads");
         ++i)
      series = series_of(must(run_hsperf({"snap", jvm->pid_text(), "--naming", naming, "--inside"})).out);
    return series;
  }
};
JTRACE_ON_EACH_JDK(Dashboards);

TEST_P(Dashboards, EachQueryOfOursFindsItsSeriesAndLabels) {
  const auto dashboard = json::parse(must(read_file(source_folder() + "/packaging/grafana/hsperf-otel.json")));
  const auto series = page("otel");
  const auto queries = queries_of(dashboard);
  EXPECT_GT(queries.size(), 15u);
  for (const auto& [query, labels] : queries) EXPECT_EQ(missing(query, labels, series), "") << query;
}

TEST_P(Dashboards, APlantedNameIsSeenToBeMissing) {
  const auto series = page("otel");
  EXPECT_EQ(missing(R"(jvm_no_such_bytes{main=~"$main"})", {}, series), "jvm_no_such_bytes\nlabel main\n");
  EXPECT_EQ(missing(R"(sum by (nothing) (jvm_class_count{wrong="x"}))", {"bad"}, series),
            "label bad\nlabel nothing\nlabel wrong\n");
}

// The names that dashboards for Micrometer have in their panels about the JVM itself (not about its web server and
// logs), but for those that docs/hsperf.md says are left out.
TEST_P(Dashboards, MicrometersNamesAreThere) {
  const std::map<std::string, Labels> needed = {
      {"jvm_memory_used_bytes", {"application", "area", "id"}},
      {"jvm_memory_committed_bytes", {"application", "area", "id"}},
      {"jvm_memory_max_bytes", {"application", "area", "id"}},
      {"jvm_gc_pause_seconds_count", {"application", "action", "cause"}},
      {"jvm_gc_pause_seconds_sum", {"application", "action", "cause"}},
      {"jvm_threads_live_threads", {"application"}},
      {"jvm_threads_daemon_threads", {"application"}},
      {"jvm_threads_peak_threads", {"application"}},
      {"jvm_threads_states_threads", {"application", "state"}},
      {"jvm_classes_loaded_classes", {"application"}},
      {"jvm_classes_unloaded_classes_total", {"application"}},
      {"jvm_buffer_count_buffers", {"application", "id"}},
      {"jvm_buffer_memory_used_bytes", {"application", "id"}},
      {"jvm_buffer_total_capacity_bytes", {"application", "id"}},
      {"process_uptime_seconds", {"application"}},
      {"process_start_time_seconds", {"application"}},
      {"process_files_open_files", {"application"}},
      {"process_files_max_files", {"application"}},
  };
  const auto series = page("micrometer");
  for (const auto& [name, labels] : needed) {
    ASSERT_TRUE(series.contains(name)) << name;
    for (const std::string& each : labels) EXPECT_TRUE(series.at(name).contains(each)) << name << " " << each;
  }
}

// What a Prometheus server would refuse.
TEST(DashboardOfOurs, QueriesAreSound) {
  const auto promtool = run_command({"promtool", "--version"});
  if (!promtool || promtool->status != 0) JTRACE_SKIP("prometheus", "promtool (Debian package prometheus) is not here");
  const auto dashboard = json::parse(must(read_file(source_folder() + "/packaging/grafana/hsperf-otel.json")));
  std::string rules = "groups:\n- name: dashboard\n  rules:\n";
  int number = 0;
  for (const auto& [query, labels] : queries_of(dashboard)) {
    if (query.starts_with("label_values")) continue;
    const std::string expression = std::regex_replace(query, std::regex(R"(\$__rate_interval)"), "5m");
    rules += "  - record: rule" + std::to_string(++number) + "\n    expr: " + json(expression).dump() + "\n";
  }
  const ScratchDir folder;
  const std::string path = folder.file("rules.yml");
  std::ofstream(path) << rules;
  const auto checked = must(run_command({"promtool", "check", "rules", path}));
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

TEST(DashboardOfOurs, TheJobIsOneOfPrometheus) {
  const auto promtool = run_command({"promtool", "--version"});
  if (!promtool || promtool->status != 0) JTRACE_SKIP("prometheus", "promtool (Debian package prometheus) is not here");
  const std::string sources = source_folder() + "/packaging/prometheus/";
  const ScratchDir folder;
  const std::string path = folder.file("prometheus.yml");
  std::ofstream(path) << "scrape_configs:\n"
                      << std::regex_replace(must(read_file(sources + "hsperf.yml")), std::regex("/etc/prometheus/"),
                                            sources);
  const auto checked = must(run_command({"promtool", "check", "config", path}));
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
}

}  // namespace
}  // namespace jtrace::test
