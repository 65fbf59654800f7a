// Every counter of every JDK and collector: as jcmd PerfCounter.print and jstat show them, and there and back through
// XML.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/file.h"
#include "perfdata/counter_source.h"
#include "perfdata/jstat.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

class EachJdk : public ::testing::TestWithParam<Jdk> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, EachJdk, ::testing::ValuesIn(jdks()), NameOf());

std::string printed(const std::vector<std::string>& arguments) {
  const auto done = run_hsperf(arguments);
  if (!done) return done.error().message();
  return done->status == 0 ? done->out : "status " + std::to_string(done->status) + ": " + done->err;
}

// Lines, so that a difference is seen as a line and not as two pages.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> sorted_lines_of(const std::string& text) {
  auto lines = lines_of(text);
  std::sort(lines.begin(), lines.end());
  return lines;
}

void expect_same_counters(PerfOracle& oracle, const JvmProcess& jvm) {
  const auto theirs = oracle.counters(jvm.pid());
  ASSERT_TRUE(succeeded(theirs));
  EXPECT_GT(lines_of(*theirs).size(), 120U);
  EXPECT_EQ(sorted_lines_of(printed({"snap", jvm.pid_text(), "--raw", "--show-secrets"})), sorted_lines_of(*theirs));
}

void expect_same_views(PerfOracle& oracle, const std::string& file, const std::string& name) {
  for (const std::string_view option : perfdata::jstat_options()) {
    const auto theirs = oracle.jstat("-" + std::string(option) + " @" + name);
    ASSERT_TRUE(succeeded(theirs));
    EXPECT_EQ(printed({"stat", "-" + std::string(option), file}), *theirs);
  }
  // With -t the first column is the reader's clock: all but its cell is equal.
  const auto without_age = [](std::string text) { return text.replace(text.find('\n') + 1, 15, 15, 'T'); };
  const auto theirs = oracle.jstat("-gcutil -t @" + name);
  ASSERT_TRUE(succeeded(theirs));
  EXPECT_EQ(without_age(printed({"stat", "-gcutil", "-t", file})), without_age(*theirs));
}

std::string entry_text(const perfdata::Snapshot& snapshot, const perfdata::Counter& counter) {
  std::ostringstream text;
  text << counter.name << ' ' << counter.type << ' ' << int(counter.units) << ' ' << int(counter.variability) << ' '
       << int(counter.flags) << ' ' << counter.vector_length << " =";
  // What lies behind a text's NUL is left over from longer texts: no value.
  if (counter.kind == perfdata::ValueKind::kText) {
    text << snapshot.text_value(counter);
    return text.str();
  }
  for (const std::byte byte : snapshot.raw_value(counter)) text << ' ' << std::to_integer<int>(byte);
  return text.str();
}

std::vector<std::string> entries_of(const std::string& path) {
  const auto source = perfdata::CounterSource::of_file(path);
  if (!source) return {source.error().message()};
  std::vector<std::string> entries;
  for (const auto& counter : source->first().layout().counters())
    entries.push_back(entry_text(source->first(), counter));
  return entries;
}

void expect_restored(const std::string& file) {
  const ScratchDir folder;
  const auto saved = run_hsperf({"snap", file, "--format", "xml", "--show-secrets"});
  ASSERT_TRUE(succeeded(saved));
  ASSERT_EQ(saved->status, 0) << saved->err;
  const std::string xml = folder.file("snap.xml"), back = folder.file("back");
  auto out = open_file(xml, O_WRONLY | O_CREAT, 0600);
  ASSERT_TRUE(succeeded(out));
  ASSERT_TRUE(write_whole(out->get(), saved->out, xml));
  EXPECT_TRUE(valid(xml));
  EXPECT_EQ(printed({"restore", xml, "-o", back}), "");
  EXPECT_EQ(entries_of(back), entries_of(file));
}

TEST_P(EachJdk, counters_and_views_are_those_of_the_JDKs_own_tools_with_every_collector) {
  auto oracle = PerfOracle::start();
  if (!oracle) JTRACE_SKIP("live", oracle.error().message());
  bool first = true;
  for (const CollectorChoice& choice : collector_choices(GetParam())) {
    SCOPED_TRACE(choice.name);
    std::vector<std::string> flags = choice.flags;
    flags.push_back("-Dsome.password=hidden");
    auto jvm = JvmProcess::start(GetParam(), "Workload", {.flags = flags});
    ASSERT_TRUE(succeeded(jvm));
    for (const char* command : {"garbage 40", "gc 1", "threads 3"}) ASSERT_TRUE(succeeded((*jvm)->ask(command)));
    std::string file;
    {
      const ScopedStop stop(**jvm);
      expect_same_counters(**oracle, **jvm);
      const auto bytes = read_file(counter_file(**jvm));
      ASSERT_TRUE(succeeded(bytes));
      auto adopted = (*oracle)->adopt(*bytes, choice.name);
      ASSERT_TRUE(succeeded(adopted));
      file = *adopted;
    }
    expect_same_views(**oracle, file, choice.name);
    if (first) expect_restored(file);
    first = false;
    (*jvm)->close_input();
    const auto ended = (*jvm)->wait_exit();
    EXPECT_TRUE(ended && *ended == 0);
    for (const char* feature : {"hsperf: counters as PerfCounter.print", "hsperf: the views of jstat"})
      record_support(GetParam(), choice.name, "live", feature);
  }
}

// The line of this pid; "" where there is none.
std::string line_of(const std::string& text, const std::string& pid) {
  for (const std::string& line : lines_of(text))
    if (line == pid || line.starts_with(pid + " ")) return line;
  return {};
}

TEST(List, prints_the_lines_of_jps) {
  const auto jdk = jdk_of_version(25);
  if (!jdk || jdk->root) JTRACE_SKIP("live", "no JDK 25 outside of a tree: its jps is the judge");
  auto jvm = JvmProcess::start(*jdk, "Workload", {.flags = {"-Dsome.thing=x"}, .arguments = {"one", "two words"}});
  ASSERT_TRUE(succeeded(jvm));
  for (const char* option : {"-q", "-m", "-lmv"}) {
    const auto theirs = run_command({jdk->home + "/bin/jps", option});
    ASSERT_TRUE(succeeded(theirs));
    const std::string line = line_of(theirs->out, (*jvm)->pid_text());
    EXPECT_NE(line, "");
    EXPECT_EQ(line_of(printed({"list", option, "--show-secrets"}), (*jvm)->pid_text()), line);
  }
}

TEST(PerfOracle, says_what_jstat_says) {
  const auto jdk = jdk_of_version(25);
  if (!jdk || jdk->root) JTRACE_SKIP("live", "no JDK 25 outside of a tree: its jstat is the judge");
  auto oracle = PerfOracle::start();
  ASSERT_TRUE(succeeded(oracle));
  auto jvm = JvmProcess::start(*jdk, "Workload");
  ASSERT_TRUE(succeeded(jvm));
  const auto bytes = read_file(counter_file(**jvm));
  ASSERT_TRUE(succeeded(bytes));
  const auto file = (*oracle)->adopt(*bytes, "frozen");
  ASSERT_TRUE(succeeded(file));
  const std::string real_path = std::filesystem::canonical(*file).string();
  const auto jstat = run_command({jdk->home + "/bin/jstat", "-J-Duser.language=en", "-gccause", "file://" + real_path});
  ASSERT_TRUE(succeeded(jstat));
  const auto answer = (*oracle)->jstat("-gccause @frozen");
  ASSERT_TRUE(succeeded(answer));
  EXPECT_EQ(*answer, jstat->out);
}

}  // namespace
}  // namespace jtrace::test
