// hsperf serve --naming: the values under others' names against the platform MXBeans of the same JVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <map>
#include <thread>

#include "base/file.h"
#include "base/strings.h"
#include "coreinspect/tools/inner_figures.h"
#include "tests/live/metrics_server.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Bean {
  std::string kind, name;
  std::vector<double> numbers;
};

std::vector<Bean> beans_of(JvmProcess& jvm) {
  std::vector<Bean> beans;
  const std::string answer = must(jvm.ask("beans"));
  for (const std::string_view each : split(answer, ';')) {
    const std::vector<std::string_view> parts = split(each, '|');
    if (parts.size() < 2) continue;
    Bean& bean = beans.emplace_back(Bean{std::string(parts[0]), std::string(parts[1]), {}});
    for (std::size_t i = 2; i < parts.size(); ++i) bean.numbers.push_back(std::stod(std::string(parts[i])));
  }
  return beans;
}

class Page {
 public:
  Page(const std::string& text, const JvmProcess& jvm) {
    for (const std::string_view line : split(text, '\n')) {
      const std::size_t space = line.rfind(' ');
      if (line.starts_with('#') || space == line.npos) continue;
      std::string series(line.substr(0, space));
      const std::string own = "pid=\"" + jvm.pid_text() + "\",main=\"Beans\"";
      const std::size_t at = series.find(own);
      if (at == series.npos) continue;
      series.erase(at, own.size());
      values_[series] = std::stod(std::string(line.substr(space + 1)));
    }
  }
  const double* find(const std::string& series) const {
    const auto found = values_.find(series);
    return found == values_.end() ? nullptr : &found->second;
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::map<std::string, double> values_;
};

// What is given is right; returns how many values were.
int expect_equal(const Page& page, const std::string& series, double value, double slack = 0) {
  const double* const found = page.find(series);
  if (found == nullptr) return 0;
  EXPECT_NEAR(*found, value, slack) << series;
  return 1;
}

int compare(const Page& page, const Bean& bean) {
  // The answer itself allocates: a space that fills may have grown since.
  constexpr double kFilled = 4 << 20;
  static const char* const kSizes[] = {"used", "committed", "max"};
  int found = 0;
  for (std::size_t i = 0; i < 3 && (bean.kind == "pool" || bean.kind == "heap"); ++i) {
    const bool pool = bean.kind == "pool";
    found += expect_equal(page,
                          std::string("jvm_memory_") + (pool ? "pool_" : "") + kSizes[i] + "_bytes{" +
                              (pool ? ",pool=\"" + bean.name + "\"}" : ",area=\"heap\"}"),
                          bean.numbers[i], i == 0 ? kFilled : 0);
  }
  if (bean.kind == "gc") {
    const std::string labels = "{,gc=\"" + bean.name + "\"}";
    found += expect_equal(page, "jvm_gc_collection_seconds_count" + labels, bean.numbers[0]);
    found += expect_equal(page, "jvm_gc_collection_seconds_sum" + labels, bean.numbers[1] / 1e3, 0.0021);
  }
  if (bean.kind == "threads") {
    found += expect_equal(page, "jvm_threads_current{}", bean.numbers[0]);
    found += expect_equal(page, "jvm_threads_daemon{}", bean.numbers[1]);
    found += expect_equal(page, "jvm_threads_peak{}", bean.numbers[2]);
    found += expect_equal(page, "jvm_threads_started_total{}", bean.numbers[3]);
  }
  if (bean.kind == "classes") {
    found += expect_equal(page, "jvm_classes_loaded_total{}", bean.numbers[0]);
    found += expect_equal(page, "jvm_classes_unloaded_total{}", bean.numbers[1]);
    found += expect_equal(page, "jvm_classes_currently_loaded{}", bean.numbers[0] - bean.numbers[1]);
  }
  return found;
}

class Naming : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(Naming);

// A collection between the two looks, or a thread that starts, is no fault: asked again.
TEST_P(Naming, ValuesAreThoseOfTheBeansForEachCollector) {
  const auto server = must(Server::start({"--naming", "client_java"}));
  for (const CollectorChoice& choice : collector_choices(GetParam())) {
    SCOPED_TRACE(choice.name);
    std::vector<std::string> flags = choice.flags;
    flags.insert(flags.begin(), "-Xmx200m");
    const auto jvm = must(JvmProcess::start(GetParam(), "Beans", {.flags = flags}));
    std::vector<Bean> before, after = beans_of(*jvm);
    std::string text;
    const auto steady = [](const std::vector<Bean>& beans) {
      std::vector<double> numbers;
      for (const Bean& each : beans)
        if (each.kind != "pool" && each.kind != "heap")
          numbers.insert(numbers.end(), each.numbers.begin(), each.numbers.end());
      return numbers;
    };
    for (int i = 0; i < 100 && (i == 0 || steady(before) != steady(after) || text.find(jvm->pid_text()) == text.npos);
         ++i) {
      before = std::move(after);
      text = server->metrics();
      after = beans_of(*jvm);
      if (text.find(jvm->pid_text()) == text.npos) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const Page page(text, *jvm);
    int found = 0;
    for (const Bean& each : after) found += compare(page, each);
    EXPECT_GE(found, 8) << text;  // threads, classes, and something of the heap
    EXPECT_NE(page.find("process_resident_memory_bytes{}"), nullptr);
  }
}

// Of the JVM's own structures: with its collector nothing of them is another.
TEST_P(Naming, WhatIsInsideIsThatOfTheBeansToo) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Beans", {.flags = {"-Xmx200m", "-XX:+UseSerialGC"}}));
  int code = 0, states = 0, buffers = 0;
  for (int i = 0; i < 50 && (code == 0 || states == 0); ++i) {
    code = states = buffers = 0;
    const std::vector<Bean> before = beans_of(*jvm);
    const auto snap = must(run_hsperf({"snap", jvm->pid_text(), "--naming", "client_java", "--inside"}));
    EXPECT_EQ(snap.status, 0) << snap.err;
    const std::vector<Bean> after = beans_of(*jvm);
    // What is compiled in between, or a thread that comes, is no fault: asked again.
    const auto same = [&](std::string_view kind) {
      const auto of = [&](const std::vector<Bean>& beans) {
        std::vector<double> numbers;
        for (const Bean& each : beans)
          if (each.kind == kind) numbers.insert(numbers.end(), each.numbers.begin(), each.numbers.end());
        return numbers;
      };
      return of(before) == of(after);
    };
    const Page page(snap.out, *jvm);
    for (const Bean& each : after) {
      const std::string pool = "_bytes{,pool=\"" + each.name + "\"}";
      if (each.kind == "code" && same("code")) {
        code += expect_equal(page, "jvm_memory_pool_used" + pool, each.numbers[0]);
        code += expect_equal(page, "jvm_memory_pool_committed" + pool, each.numbers[1]);
        code += expect_equal(page, "jvm_memory_pool_max" + pool, each.numbers[2]);
      }
      if (each.kind == "state" && same("state") && same("threads"))
        states += expect_equal(page, "jvm_threads_state{,state=\"" + each.name + "\"}", each.numbers[0]);
      if (each.kind != "buffers") continue;
      buffers += expect_equal(page, "jvm_buffer_pool_used_buffers{,pool=\"" + each.name + "\"}", each.numbers[0]);
      buffers += expect_equal(page, "jvm_buffer_pool_used" + pool, each.numbers[1]);
      buffers += expect_equal(page, "jvm_buffer_pool_capacity" + pool, each.numbers[2]);
    }
  }
  EXPECT_GE(code, 3) << "a pool of code";
  EXPECT_EQ(states, 6) << "each state";
  EXPECT_EQ(buffers, 3) << "the direct buffers";
}

// The same text once, without a server.
TEST_P(Naming, ASnapIsThePageOfServe) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Idle", {.flags = {"-Xmx100m", "-XX:+UseSerialGC"}}));
  // Its series without numbers: JVM and hsperf go on.
  const auto shape = [&](const std::string& text) {
    std::string names;
    for (const std::string_view line : split(text, '\n'))
      if (line.find("pid=\"" + jvm->pid_text() + "\"") != line.npos)
        names += std::string(line.substr(0, line.rfind(' '))) + "\n";
    return names;
  };
  for (const char* naming : {"otel", "micrometer", "client_java"}) {
    const auto server = must(Server::start({"--naming", naming}));
    const auto snap = must(run_hsperf({"snap", jvm->pid_text(), "--naming", naming}));
    EXPECT_EQ(snap.status, 0) << snap.err;
    EXPECT_EQ(shape(snap.out), shape(server->metrics()));
    const ScratchDir folder;
    const std::string path = folder.file("page.prom");
    const auto open =
        must(run_hsperf({"snap", jvm->pid_text(), "--naming", naming, "--format", "openmetrics", "-o", path}));
    EXPECT_EQ(open.status, 0) << open.err;
    EXPECT_EQ(open.out, "");
    EXPECT_EQ(shape(must(read_file(path))), shape(server->metrics("application/openmetrics-text; version=1.0.0")));
  }
}

// Each pause that was seen has its cause; all causes together are the collector's bean.
TEST(NamingOfMetrics, PausesHaveTheirCauses) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = {"-XX:+UseSerialGC", "-Xmx200m"}}));
  const auto server = must(Server::start({"--naming", "micrometer"}));
  const std::string start = "{pid=\"" + jvm->pid_text() + "\",application=\"Workload\",gc=\"MarkSweepCompact\",";
  const std::string full = start + "action=\"end of major GC\",cause=\"System.gc()\"} ";
  EXPECT_THAT(server->metrics(), HasSubstr("jvm_gc_pause_seconds_count" + start));
  std::string page;
  for (int i = 0; i < 20 && page.find("seconds_count" + full) == page.npos; ++i) {
    must(jvm->ask("gc 1"));
    page = server->metrics();
  }
  EXPECT_THAT(page, HasSubstr("jvm_gc_pause_seconds_count" + full));
  EXPECT_THAT(page, HasSubstr("jvm_gc_pause_seconds_sum" + full));
  EXPECT_THAT(page, HasSubstr("jvm_gc_pause_seconds_max" + full));
}

TEST(NamingOfMetrics, PausesAreAHistogramOfThoseThatWereSeen) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = {"-XX:+UseSerialGC", "-Xmx200m"}}));
  const auto server = must(Server::start({"--naming", "otel"}));
  const std::string labels =
      "{pid=\"" + jvm->pid_text() + "\",main=\"Workload\",jvm_gc_name=\"Copy\",jvm_gc_action=\"end of minor GC\"";
  EXPECT_THAT(server->metrics(), HasSubstr("jvm_gc_duration_seconds_count" + labels + "} 0\n"));
  must(jvm->ask("heap 100"));
  std::string page;
  for (int i = 0; i < 100 && page.find("jvm_gc_duration_seconds_bucket" + labels + ",le=\"+Inf\"} 0\n") != 0; ++i) {
    page = server->metrics("application/openmetrics-text; version=1.0.0");
    if (page.find("jvm_gc_duration_seconds_count" + labels + "} 0\n") == page.npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_THAT(page, Not(HasSubstr("jvm_gc_duration_seconds_count" + labels + "} 0\n")));
  EXPECT_THAT(page, HasSubstr("hsperf_gc_pauses_missed_total{"));
  EXPECT_THAT(page, HasSubstr("jvm_thread_count{pid=\"" + jvm->pid_text() +
                              "\",main=\"Workload\",jvm_thread_daemon=\"true\"} "));
  EXPECT_TRUE(page.ends_with("# EOF\n"));
}

// But for names that are the conventions' own: gauges that end in _count (OpenTelemetry), _ms (Micrometer).
TEST(NamingOfMetrics, PromtoolFindsNoFault) {
  const auto promtool = run_command({"promtool", "--version"});
  if (!promtool || promtool->status != 0) JTRACE_SKIP("prometheus", "promtool (Debian package prometheus) is not here");
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  for (const char* naming : {"otel", "micrometer", "client_java"}) {
    SCOPED_TRACE(naming);
    const auto server = must(Server::start({"--naming", naming}));
    const auto checked = must(run_command({"promtool", "check", "metrics"}, {.input = server->metrics()}));
    const std::string said = checked.out + checked.err;
    std::string faults;
    for (const std::string_view line : split(said, '\n'))
      if (!line.empty() && line.find("\"_count\" suffix") == line.npos && line.find("abbreviated units") == line.npos)
        faults += std::string(line) + "\n";
    EXPECT_EQ(faults, "");
  }
}

// As a JVM that cannot be read while it starts: this process, which is none, has its number first.
TEST(NamingOfMetrics, WhatCouldNotBeReadInsideIsTriedAgain) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto jvm = must(JvmProcess::start(*jdk, "Idle"));
  coreinspect::InnerFiguresReader reader;
  const auto before = reader.read({{::getpid(), 1}});
  ASSERT_EQ(before.size(), 1u);
  ASSERT_TRUE(before[0].problem);
  EXPECT_THAT(before[0].problem->message(), HasSubstr("not a HotSpot JVM"));
  std::vector<perfdata::InnerFigures> after;
  for (int i = 0; i < 600 && (after.empty() || after[0].problem); ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    after = reader.read({{jvm->pid(), 1}});
  }
  ASSERT_FALSE(after[0].problem) << after[0].problem->message();
  EXPECT_FALSE(after[0].code_heaps.empty());
}

TEST(NamingOfMetrics, PagesHaveTheNumberOfJvmsThatCannotBeRead) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  const auto closed = must(JvmProcess::start(*jdk, "Idle", {.flags = {"-XX:-UsePerfData"}}));
  for (const char* naming : {"hotspot", "otel"}) {
    const auto server = must(Server::start({"--naming", naming}));
    const std::string page = server->metrics();
    EXPECT_THAT(page, HasSubstr("\n# TYPE hsperf_jvms_refused gauge\nhsperf_jvms_refused "));
    EXPECT_THAT(page, Not(HasSubstr("\nhsperf_jvms_refused 0\n")));
    EXPECT_THAT(server->command().err(), HasSubstr("process " + closed->pid_text() + " "));
  }
}

TEST(NamingOfMetrics, RefusesWhatItDoesNotKnow) {
  const auto unknown = must(run_hsperf({"serve", "--naming", "spring"}));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown naming 'spring': hotspot, otel, micrometer and client_java are known"));
  const auto counters = must(run_hsperf({"serve", "--naming", "otel", "--counters", "gc"}));
  EXPECT_EQ(counters.status, 2);
  EXPECT_THAT(counters.err, HasSubstr("they need --naming hotspot"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"snap", "1", "--naming", "spring"},
                                             {"snap", "1", "--naming", "hotspot"},
                                             {"snap", "1", "--inside"},
                                             {"snap", "1", "--naming", "otel", "--format", "json"},
                                             {"snap", "1", "--naming", "otel", "--counters", "gc"},
                                             {"serve", "--inside"}})
    EXPECT_EQ(must(run_hsperf(wrong)).status, 2) << wrong.back();
}

}  // namespace
}  // namespace jtrace::test
