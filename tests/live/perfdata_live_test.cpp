// Every counter of every JDK and collector equals the output of jcmd PerfCounter.print and jstat, and survives a
// conversion to XML and back.
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
JTRACE_ON_EACH_JDK(EachJdk);

std::string printed(const std::vector<std::string>& arguments) {
  const auto done = run_hsperf(arguments);
  if (!done) return done.error().message();
  return done->status == 0 ? done->out : "status " + std::to_string(done->status) + ": " + done->err;
}

// Splits into lines, so that a failure shows a line and not two pages.
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
  const auto theirs = must(oracle.counters(jvm.pid()));
  EXPECT_GT(lines_of(theirs).size(), 120U);
  EXPECT_EQ(sorted_lines_of(printed({"snap", jvm.pid_text(), "--raw", "--show-secrets"})), sorted_lines_of(theirs));
}

void expect_same_views(PerfOracle& oracle, const std::string& file, const std::string& name) {
  for (const std::string_view option : perfdata::jstat_options()) {
    const auto theirs = must(oracle.jstat("-" + std::string(option) + " @" + name));
    EXPECT_EQ(printed({"stat", "-" + std::string(option), file}), theirs);
  }
  // With -t the first column is the reader's clock: everything except its cell is equal.
  const auto without_age = [](std::string text) { return text.replace(text.find('\n') + 1, 15, 15, 'T'); };
  const auto theirs = must(oracle.jstat("-gcutil -t @" + name));
  EXPECT_EQ(without_age(printed({"stat", "-gcutil", "-t", file})), without_age(theirs));
}

std::string entry_text(const perfdata::Snapshot& snapshot, const perfdata::Counter& counter) {
  std::ostringstream text;
  text << counter.name << ' ' << counter.type << ' ' << int(counter.units) << ' ' << int(counter.variability) << ' '
       << int(counter.flags) << ' ' << counter.vector_length << " =";
  // Bytes after a text's NUL are left over from longer texts, and no part of the value.
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
  const auto saved = must(run_hsperf({"snap", file, "--format", "xml", "--show-secrets"}));
  ASSERT_EQ(saved.status, 0) << saved.err;
  const std::string xml = folder.file("snap.xml"), back = folder.file("back");
  auto out = must(open_file(xml, O_WRONLY | O_CREAT, 0600));
  ASSERT_TRUE(write_whole(out.get(), saved.out, xml));
  EXPECT_TRUE(valid(xml));
  EXPECT_EQ(printed({"restore", xml, "-o", back}), "");
  EXPECT_EQ(entries_of(back), entries_of(file));
}

TEST_P(EachJdk, CountersAndViewsAreThoseOfTheJdksOwnToolsWithEveryCollector) {
  auto oracle = PerfOracle::start();
  if (!oracle) JTRACE_SKIP("live", oracle.error().message());
  bool first = true;
  for (const CollectorChoice& choice : collector_choices(GetParam())) {
    SCOPED_TRACE(choice.name);
    std::vector<std::string> flags = choice.flags;
    flags.push_back("-Dsome.password=hidden");
    auto jvm = must(JvmProcess::start(GetParam(), "Workload", {.flags = flags}));
    for (const char* command : {"garbage 40", "gc 1", "threads 3"}) must(jvm->ask(command));
    std::string file;
    {
      const ScopedStop stop(*jvm);
      expect_same_counters(**oracle, *jvm);
      const auto bytes = must(read_file(counter_file(*jvm)));
      auto adopted = must((*oracle)->adopt(bytes, choice.name));
      file = adopted;
    }
    expect_same_views(**oracle, file, choice.name);
    if (first) expect_restored(file);
    first = false;
    jvm->close_input();
    const auto ended = jvm->wait_exit();
    EXPECT_TRUE(ended && *ended == 0);
    for (const char* feature : {"hsperf: counters as PerfCounter.print", "hsperf: the views of jstat"})
      record_support(GetParam(), choice.name, "live", feature);
  }
}

// The line of this pid; "" if there is none.
std::string line_of(const std::string& text, const std::string& pid) {
  for (const std::string& line : lines_of(text))
    if (line == pid || line.starts_with(pid + " ")) return line;
  return {};
}

TEST(List, PrintsTheLinesOfJps) {
  const auto jdk = jdk_of_version(25);
  if (!jdk || jdk->root) JTRACE_SKIP("live", "no JDK 25 outside of a tree: its jps is the judge");
  auto jvm =
      must(JvmProcess::start(*jdk, "Workload", {.flags = {"-Dsome.thing=x"}, .arguments = {"one", "two words"}}));
  for (const char* option : {"-q", "-m", "-lmv"}) {
    const auto theirs = must(run_command({jdk->home + "/bin/jps", option}));
    const std::string line = line_of(theirs.out, jvm->pid_text());
    EXPECT_NE(line, "");
    EXPECT_EQ(line_of(printed({"list", option, "--show-secrets"}), jvm->pid_text()), line);
  }
}

TEST(PerfOracle, PrintsWhatJstatPrints) {
  const auto jdk = jdk_of_version(25);
  if (!jdk || jdk->root) JTRACE_SKIP("live", "no JDK 25 outside of a tree: its jstat is the judge");
  auto oracle = must(PerfOracle::start());
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const auto bytes = must(read_file(counter_file(*jvm)));
  const auto file = must(oracle->adopt(bytes, "frozen"));
  const std::string real_path = std::filesystem::canonical(file).string();
  const auto jstat =
      must(run_command({jdk->home + "/bin/jstat", "-J-Duser.language=en", "-gccause", "file://" + real_path}));
  const auto answer = must(oracle->jstat("-gccause @frozen"));
  EXPECT_EQ(answer, jstat.out);
}

}  // namespace
}  // namespace jtrace::test
