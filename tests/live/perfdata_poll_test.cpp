// hsperf poll on every JDK and collector: a valid trace that ends with the JVM and accounts for every pause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <regex>
#include <set>

#include "base/file.h"
#include "tests/live/perfdata_support.h"
#include "tests/testlib/require.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class EachJdkPolled : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdkPolled);

class PollRun {
 public:
  // Returns when the first sample of each JVM is in the file.
  static Result<std::unique_ptr<PollRun>> start(const std::vector<std::string>& words, std::size_t jvms = 1) {
    auto run = std::unique_ptr<PollRun>(new PollRun);
    std::vector<std::string> argv{hsperf_binary(), "poll", "-o", run->path()};
    argv.insert(argv.end(), words.begin(), words.end());
    JTRACE_ASSIGN_OR_RETURN(run->command_, BackgroundCommand::start(argv));
    const auto samples = [&] {
      const auto text = read_file(run->path());
      std::size_t count = 0;
      for (std::size_t at = 0; text && (at = text->find("<traceEnd", at)) != text->npos; ++at) ++count;
      return count;
    };
    // Two traces for each JVM: one of samples, and one of pauses, which stays open.
    while (samples() < jvms)
      if (auto more = wait_for_bytes(run->path(), "<traceEnd", seconds(60), [&] { return run->command_->alive(); });
          !more || !run->command_->alive())
        return fail(ErrorCategory::kRefused, "hsperf poll: " + run->command_->err());
    return run;
  }

  std::string path() const { return folder_.file("poll.xml"); }
  BackgroundCommand& command() { return *command_; }
  std::string text() const { return read_file(path(), std::size_t{1} << 30).value_or(""); }
  Result<TraceDocument> document() const { return TraceDocument::read(path()); }

 private:
  PollRun() = default;
  ScratchDir folder_{"jtrace-poll"};
  std::unique_ptr<BackgroundCommand> command_;
};

// Checked in each trace separately: the traces of samples are within the trace of pauses.
std::vector<std::string> collation_faults_by_trace(const TraceDocument& document) {
  std::vector<std::string> faults;
  std::map<std::string, std::uint64_t> last;
  for (const TraceElement& element : document.events()) {
    if (!element.has("collationValue")) continue;
    const std::string trace = element.get(element.name == "traceStart" ? "traceId" : "traceIdRef");
    if (element.number("collationValue") != ++last[trace])
      faults.push_back(element.name + " " + element.get("collationValue") + " of " + trace);
  }
  return faults;
}

// Values that equal the one before: after the first sample a value is written only if it has changed.
std::vector<std::string> repeated_values(const TraceDocument& document) {
  std::vector<std::string> faults;
  std::map<std::string, std::string> agents, values;
  for (const TraceElement* start : document.all("traceStart")) agents[start->get("traceId")] = start->get("agentIdRef");
  for (const TraceElement* value : document.all("value")) {
    const std::string whose = agents[value->get("traceIdRef")] + value->get("name");
    const auto [known, added] = values.try_emplace(whose, value->get("value"));
    if (!added && known->second == value->get("value")) faults.push_back(value->get("name"));
    known->second = value->get("value");
  }
  return faults;
}

// By how much the invocations of all collectors grew between the first sample and the last.
long collections_between(const TraceDocument& document) {
  std::map<std::string, std::pair<long, long>> values;
  for (const TraceElement* value : document.all("value")) {
    const std::string name = value->get("name");
    if (!name.starts_with("sun.gc.collector.") || !name.ends_with(".invocations")) continue;
    const long number = std::stol(value->get("value"));
    values.try_emplace(name, number, number).first->second.second = number;
  }
  long sum = 0;
  for (const auto& [name, range] : values) sum += range.second - range.first;
  return sum;
}

long number_before(const std::string& text, const std::string& word) {
  std::smatch found;
  return std::regex_search(text, found, std::regex("([0-9]+) " + word)) ? std::stol(found[1]) : 0;
}

// The last line of a poll, which it prints when everything is written.
std::string summary_of(BackgroundCommand& command) {
  for (;;) {
    const auto line = command.wait_err_line("", seconds(60));
    if (!line || line->find(" sample") != line->npos) return line.value_or("no summary");
  }
}

void expect_a_sound_series(const TraceDocument& document) {
  EXPECT_TRUE(none(document.id_faults()));
  EXPECT_TRUE(none(document.time_faults()));
  EXPECT_TRUE(none(collation_faults_by_trace(document)));
  EXPECT_TRUE(none(repeated_values(document)));
  EXPECT_EQ(document.count("traceStart"), document.count("traceEnd"));
  EXPECT_EQ(document.count("agentCreate"), document.count("agentDestroy"));
  EXPECT_EQ(document.count("gcStart"), document.count("gcFinish"));
  EXPECT_EQ(document.option("jtrace.kind"), "snapshot");
  EXPECT_NE(document.option("jtrace.clock"), "");
}

void poll_to_the_end(const Jdk& jdk, const CollectorChoice& choice, bool judge) {
  auto jvm = must(JvmProcess::start(jdk, "Workload", {.flags = choice.flags}));
  auto run = must(PollRun::start({jvm->pid_text(), "-i", "20ms", "--gc-interval", "1ms"}));
  for (const char* command : {"gc 3", "garbage 60", "threads 2"}) must(jvm->ask(command));
  jvm->close_input();
  must(jvm->wait_exit());
  EXPECT_TRUE(run->command().wait_err_line("hsperf: JVM " + jvm->pid_text() + " has ended", seconds(60)));
  const std::string said = summary_of(run->command());
  const auto status = must(run->command().wait_exit());
  EXPECT_EQ(status, 0);
  if (judge) {
    EXPECT_TRUE(valid(run->path()));
  }
  const auto document = must(run->document());
  expect_a_sound_series(document);
  EXPECT_EQ(document.count("agentCreate"), 1U);
  EXPECT_EQ(document.count("runtimeShutdown"), 1U);
  EXPECT_EQ(document.events().back().name, "agentDestroy");
  // Epsilon never collects; the ZGC of JDK 11 counts no collections.
  const bool counted = run->text().find(".invocations\"") != std::string::npos;
  if (counted) {
    EXPECT_GE(collections_between(document), 3);
  }
  EXPECT_EQ(counted, choice.name != "Epsilon" && !(choice.name == "Z" && jdk.version < 15));
  const long pauses = number_before(said, "pause") + number_before(said, "missed");
  if (choice.name == "Shenandoah") EXPECT_EQ(pauses, 0) << "its counters are not those of pauses: " << said;
  else EXPECT_EQ(pauses, collections_between(document)) << said;
  if (choice.name != "CMS") {  // JDK 11 prints that it is deprecated
    EXPECT_EQ(jvm->err(), "");
  }
  record_support(jdk, choice.name, "live", "hsperf: poll to XML with pauses",
                 choice.name == "Shenandoah" ? "this collector counts its concurrent phases with its pauses"
                 : counted                   ? ""
                                             : "this collector counts no collections");
}

TEST_P(EachJdkPolled, APollIsAValidTraceThatEndsWithTheJvmAndAccountsForEveryPause) {
  bool judge = true;
  for (const CollectorChoice& choice : collector_choices(GetParam())) {
    SCOPED_TRACE(choice.name);
    poll_to_the_end(GetParam(), choice, std::exchange(judge, false));
  }
}

// "Pause" lines of the JVM's own log, one per collection of these collectors.
long logged_pauses(const std::string& log) {
  long count = 0;
  for (std::size_t at = 0; (at = log.find("] GC(", at)) != log.npos; ++at) {
    const std::string line = log.substr(at, log.find('\n', at) - at);
    count += line.find(" Pause ") != line.npos && line.ends_with("ms");
  }
  return count;
}

TEST(Pauses, AreAsManyAsTheJvmLogs) {
  const auto jdk = any_jdk(17);
  if (!jdk) JTRACE_SKIP("live", "no JDK 17 or later");
  for (const Collector collector : {Collector::kSerial, Collector::kParallel, Collector::kG1}) {
    SCOPED_TRACE(to_string(collector));
    std::vector<std::string> flags = jdk->collector_flags(collector);
    flags.insert(flags.end(), {"-Xmn8m", "-Xlog:gc:file=gc.log"});
    auto jvm = must(JvmProcess::start(*jdk, "Workload", {.flags = flags}));
    const auto log = [&] { return logged_pauses(read_file(jvm->in_working_folder("gc.log")).value_or("")); };
    const long before = log();
    auto run = must(PollRun::start({jvm->pid_text(), "-i", "1s", "--gc-interval", "500us"}));
    for (const char* command : {"gc 10", "garbage 200"}) must(jvm->ask(command));
    const long logged = log() - before;
    run->command().signal(SIGINT);
    const std::string said = summary_of(run->command());
    const auto status = must(run->command().wait_exit());
    EXPECT_EQ(status, 0);
    EXPECT_GE(logged, 12);
    EXPECT_EQ(number_before(said, "pause") + number_before(said, "missed"), logged) << said;
    EXPECT_GT(number_before(said, "pause"), 0);
  }
}

TEST(Poll, SeveralJvmsAreSeveralAgentsAndEachComesBackByItsPid) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto first = must(JvmProcess::start(*jdk, "Workload", {.arguments = {"one"}}));
  auto second = must(JvmProcess::start(*jdk, "Workload", {.arguments = {"two"}}));
  auto run = must(PollRun::start({first->pid_text(), second->pid_text(), "-i", "50ms"}, 2));
  first->close_input();
  ASSERT_TRUE(run->command().wait_err_line("hsperf: JVM " + first->pid_text() + " has ended", seconds(60)));
  run->command().signal(SIGINT);
  must(run->command().wait_exit());
  EXPECT_TRUE(valid(run->path()));
  const auto document = must(run->document());
  expect_a_sound_series(document);
  EXPECT_EQ(document.count("agentCreate"), 2U);
  EXPECT_EQ(document.count("runtimeShutdown"), 1U);
  const std::string back = run->path() + ".back";
  EXPECT_EQ(run_hsperf({"restore", run->path(), "-o", back})->status, 2);
  EXPECT_EQ(run_hsperf({"restore", run->path(), "-o", back, "--pid", second->pid_text()})->status, 0);
  EXPECT_THAT(run_hsperf({"snap", back, "--filter", "javaCommand"})->out, HasSubstr("Workload two"));
}

TEST(Poll, NamesTheProcessAsTheAgentDoes) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  TracedJvm jvm(*jdk, "Workload");
  const auto polled = must(run_hsperf({"poll", jvm.pid_text(), "-n", "1"}));
  const auto counters = must(TraceDocument::parse(polled.out));
  const TraceDocument agent = jvm.finish();
  for (const auto& [element, attribute] :
       {std::pair("node", "nodeId"), std::pair("processCreate", "processId"), std::pair("processCreate", "pid"),
        std::pair("processCreate", "name"), std::pair("processCreate", "time")})
    EXPECT_EQ(counters.all(element).at(0)->get(attribute), agent.all(element).at(0)->get(attribute)) << attribute;
  EXPECT_EQ(counters.option("jtrace.vm"), agent.option("jtrace.vm"));
}

TEST(Poll, RowsHaveDeltasAndRatesAndOnlyWhatChanged) {
  const auto jdk = any_jdk();
  if (!jdk) JTRACE_SKIP("live", "no JDK");
  auto jvm = must(JvmProcess::start(*jdk, "Workload"));
  const std::vector<std::string> words{hsperf_binary(),
                                       "poll",
                                       jvm->pid_text(),
                                       "-i",
                                       "50ms",
                                       "--format",
                                       "csv",
                                       "--filter",
                                       "java.threads.started|invocations"};
  auto poll = must(BackgroundCommand::start(words));
  ASSERT_TRUE(poll->wait_out_line("time,pid,name,value,units,delta,rate", seconds(60)));
  const auto value_of = [&](const std::string& name, std::smatch& found) {
    const std::regex row("[0-9.]+," + jvm->pid_text() + "," + name + ",([0-9]+),events,([0-9]*),([0-9.e+-]*)\r");
    for (int i = 0; i < 1000; ++i) {
      const auto line = poll->wait_out_line("", seconds(60));
      static std::string kept;
      kept = line.value_or("");
      if (std::regex_search(kept, found, row)) return true;
      if (!line) return false;
    }
    return false;
  };
  std::smatch found;
  ASSERT_TRUE(value_of("java.threads.started", found));
  const long before = std::stol(found[1]);
  EXPECT_EQ(found[2], "");  // nothing before it to differ from
  must(jvm->ask("threads 3"));
  long sum = 0, last = before;
  while (last < before + 3) {
    ASSERT_TRUE(value_of("java.threads.started", found));
    last = std::stol(found[1]);
    sum += std::stol(found[2]);
    EXPECT_GT(std::stod(found[3]), 0);
  }
  EXPECT_EQ(sum, last - before);
}

// A full output ends with what is whole, and says in itself that more is missing.
TEST_P(EachJdkPolled, AnOutputThatIsFullSaysSo) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Workload", {}));
  const ScratchDir folder("jtrace-poll");
  const std::string path = folder.file("poll.xml");
  const auto done = must(run_command({hsperf_binary(), "poll", jvm->pid_text(), "-i", "20ms", "-d", "30s", "--full",
                                      "--max-size", "300K", "-o", path}));
  EXPECT_EQ(done.status, 9) << done.err;
  EXPECT_THAT(done.err, HasSubstr("has reached its limit of 300.0 KiB"));
  EXPECT_EQ(must(run_jtrace({"validate", path})).status, 0);
  const auto read = must(run_jtrace({"convert", path, "-o", folder.file("again.xml")}));
  EXPECT_EQ(read.status, 9) << read.err;
  EXPECT_THAT(read.err, HasSubstr("events of the end are missing"));
}

// The name says the format.
TEST_P(EachJdkPolled, IsCsvWhereTheNameIs) {
  const auto jvm = must(JvmProcess::start(GetParam(), "Workload", {}));
  const ScratchDir folder("jtrace-poll");
  const std::string path = folder.file("poll.csv");
  const auto done = must(run_command({hsperf_binary(), "poll", jvm->pid_text(), "-i", "20ms", "-n", "2", "-o", path}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(read_file(path).value_or("").find('<'), std::string::npos);
}

}  // namespace
}  // namespace jtrace::test
