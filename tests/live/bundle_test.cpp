// `jtrace diagnose -o`: bundles of real JVMs, read by another program and by jtrace, and made under hard conditions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSecret = "geheim4711";

class Bundle : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    jvm_ = must(JvmProcess::start(
        GetParam(), "Ailing",
        {.flags = {"-Xmx64m", "-XX:+UseSerialGC", std::string("-Ddb.password=") + kSecret, "-Dhost.ip=10.9.8.7"}}));
  }
  CommandOutput diagnose(std::vector<std::string> words, const CommandOptions& options = {}) {
    words.insert(words.begin(), {"diagnose", jvm_->pid_text(), "--interval", "0.3"});
    return must(run_jtrace(words, options));
  }
  std::string path() const { return folder_.file("app.zip"); }
  // Each member, as Python reads the archive; it checks the checksums.
  json members() const {
    const auto done =
        must(run_command({"python3", "-c",
                          "import json, sys, zipfile\nz = zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n"
                          "json.dump({n: z.read(n).decode('latin-1') for n in z.namelist()}, sys.stdout)",
                          path()}));
    EXPECT_EQ(done.status, 0) << done.err;
    return json::parse(done.out, nullptr, false);
  }
  static std::string browser() {
    const auto found = must(run_command({"sh", "-c", "command -v chromium chromium-browser google-chrome"}));
    return found.out.substr(0, found.out.find('\n'));
  }
  // The elements of the page after its script has run.
  std::string shown_by_browser(const std::string& page) const {
    const std::string file = folder_.file("report.html");
    std::ofstream(file) << page;
    return must(run_command({browser(), "--headless", "--no-sandbox", "--disable-gpu",
                             "--user-data-dir=" + folder_.file("chromium"), "--dump-dom", "file://" + file},
                            {.timeout = std::chrono::minutes(2)}))
        .out;
  }
  bool is_left() const { return !std::filesystem::is_empty(folder_.path()); }

  ScratchDir folder_;
  std::unique_ptr<JvmProcess> jvm_;
};
JTRACE_ON_EACH_JDK(Bundle);

TEST_P(Bundle, HasWhatTheVerdictRestsOnAndIsReadAgain) {
  must(jvm_->ask("monitors"));
  const CommandOutput done = diagnose({"-o", path()});
  EXPECT_EQ(done.status, 1) << done.err;
  struct stat file {};
  ASSERT_EQ(::stat(path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  const json all = members();
  ASSERT_TRUE(all.is_object());
  EXPECT_THAT(all["SUMMARY.txt"].get<std::string>(), ::testing::StartsWith(done.out));
  const json manifest = json::parse(all["manifest.json"].get<std::string>());
  EXPECT_EQ(manifest["target"]["pid"], jvm_->pid());
  for (const json& step : manifest["steps"]) EXPECT_EQ(step["status"], "ok") << step;
  EXPECT_GE(manifest["pauses"]["stops"], 3);
  for (const json& member : manifest["members"])
    EXPECT_EQ(all[member["name"].get<std::string>()].get<std::string>().size(), member["bytes"]) << member;
  for (const char* name :
       {"proc/status", "proc/limits", "proc/cgroup", "proc/smaps_rollup", "threads.json", "counters.json"})
    EXPECT_GT(all[name].get<std::string>().size(), 10u) << name;
  for (const auto& [name, content] : all.items())
    EXPECT_THAT(content.get<std::string>(), Not(HasSubstr(kSecret))) << name;
  for (const char* view :
       {"threads", "locks", "memory", "flags", "histogram", "counters", "safepoint", "info", "args"}) {
    const auto text = must(run_jtrace({"inspect", path(), view}));
    EXPECT_EQ(text.status, 0) << view << text.err;
    EXPECT_EQ(text.out, all["views/" + std::string(view) + ".txt"]);
    const json document = json::parse(must(run_jtrace({"inspect", path(), view, "--format", "json"})).out);
    EXPECT_EQ(document["view"], view);
    EXPECT_FALSE(document["data"].empty()) << view;
  }
  EXPECT_THAT(all["views/locks.txt"].get<std::string>(), HasSubstr("monitor-1"));
  const auto again = must(run_jtrace({"diagnose", path()}));
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.out, all["SUMMARY.txt"]);
}

TEST_P(Bundle, HasAPageThatNeedsNothingElse) {
  must(jvm_->ask("monitors"));
  ASSERT_EQ(diagnose({"-o", path()}).status, 1);
  const std::string page = members()["report.html"];
  for (const char* foreign : {"http:", "https:", "src=", "@import", "url("}) {
    // Values of the JVM, such as the address of its vendor, are in the data.
    const std::string frame = page.substr(0, page.find("id=\"data\"")) + page.substr(page.rfind("<script>"));
    EXPECT_THAT(frame, Not(HasSubstr(foreign)));
  }
  if (browser().empty()) JTRACE_SKIP("chromium", "there is no chromium on the PATH");
  const std::string shown = shown_by_browser(page);
  EXPECT_THAT(shown, HasSubstr("data-state=\"ready\""));
  for (const char* text :
       {"<h1>1 trouble found</h1>", "Deadlock: the threads", "wait for \"monitor-1\"", "java.lang.Object.wait",
        "Java heap, used", "<td class=\"\">java.lang.String</td>",
        // the pictures: of the locks with their circle, of the threads, of the counters
        "class=\"circle\"", "<title>monitor-2</title>", "id=\"timeline\"", "id=\"counters\"", "safepoints: +"})
    EXPECT_THAT(shown, HasSubstr(text));
}

TEST_P(Bundle, HasAPageThatSaysWhereThreadsStandThoughNothingIsFound) {
  if (browser().empty()) JTRACE_SKIP("chromium", "there is no chromium on the PATH");
  jvm_ = must(JvmProcess::start(GetParam(), "Blockages", {.flags = {"-Xmx64m", "-XX:+UseSerialGC"}}));
  must(jvm_->ask("borrow 12"));
  const CommandOutput done = diagnose({"-o", path()});
  const std::string shown = shown_by_browser(members()["report.html"]);
  EXPECT_THAT(shown, HasSubstr("data-state=\"ready\"")) << done.out;
  EXPECT_THAT(shown, HasSubstr(" waiting threads stand in Blockages$Connections.borrow.")) << done.out;
  EXPECT_THAT(shown, HasSubstr("<code>jtrace stack " + jvm_->pid_text() + " --java --group</code>")) << done.out;
}

std::ptrdiff_t findings_that_are(const char* change, const std::string& answer) {
  const json rows = json::parse(answer)["data"];
  return std::count_if(rows.begin(), rows.end(), [&](const json& row) {
    return row.value("kind", "") == "finding" && row.value("change", "") == change;
  });
}

TEST_P(Bundle, IsComparedWithALaterOne) {
  const std::string before = folder_.file("before.zip");
  ASSERT_EQ(diagnose({"-o", before}).status, 0);
  for (const char* words : {"monitors", "contend 6"}) must(jvm_->ask(words));
  ASSERT_EQ(diagnose({"-o", path()}).status, 1);
  const auto done = must(run_jtrace({"diagnose", before, path(), "--format", "json"}));
  EXPECT_EQ(done.status, 1) << done.err;
  const json diff = json::parse(done.out);
  EXPECT_TRUE(diff["sameProcess"]);
  EXPECT_EQ(findings_that_are("new", done.out), 2) << done.out;
  EXPECT_EQ(findings_that_are("gone", done.out), 0) << done.out;
  EXPECT_EQ(diff["threads"]["after"].get<int>() - diff["threads"]["before"].get<int>(), 2 + 7) << done.out;
  const auto back = must(run_jtrace({"diagnose", path(), before, "--format", "json"}));
  EXPECT_EQ(back.status, 0);
  EXPECT_EQ(findings_that_are("gone", back.out), 2) << back.out;
}

TEST_P(Bundle, AnswersFurtherQuestionsByTheCoreInIt) {
  ASSERT_THAT(diagnose({"-o", path(), "--core"}).status, AnyOf(0, 9));
  const auto classes = must(run_jtrace({"inspect", path(), "class", "java.lang.Thread"}));
  EXPECT_THAT(classes.out, HasSubstr("java.lang.Thread")) << classes.err;
}

TEST_P(Bundle, NamesOfMachineAndUserAreReplaced) {
  ASSERT_EQ(diagnose({"-o", path(), "--anonymize"}).status, 0);
  const json all = members();
  const std::string properties = all["views/properties.txt"];
  EXPECT_THAT(properties, Not(HasSubstr("10.9.8.7")));
  EXPECT_THAT(properties, HasSubstr("host.ip = ip-1\n"));
  EXPECT_EQ(json::parse(all["manifest.json"].get<std::string>())["target"]["host"], "HOST");
  for (const auto& [name, content] : all.items())
    EXPECT_TRUE(!name.ends_with(".json") || json::accept(content.get<std::string>())) << name;
}

TEST_P(Bundle, IsWholeOrNotThereWhenJtraceIsKilled) {
  std::mt19937 random(static_cast<unsigned>(GetParam().version));
  for (int i = 0; i < 6; ++i) {
    std::filesystem::remove(path());
    const std::chrono::milliseconds after(i == 0 ? 650 : 300 + random() % 700);
    const int signal = i % 2 == 0 ? SIGKILL : SIGTERM;
    const auto done = diagnose({"-o", path()}, {.once_started = [=](pid_t pid) {
                                 std::this_thread::sleep_for(after);
                                 ::kill(pid, signal);
                               }});
    EXPECT_THAT(done.status, AnyOf(0, 128 + signal)) << done.err;
    EXPECT_TRUE(!std::filesystem::exists(path()) || members().contains("manifest.json"));
    EXPECT_EQ(must(jvm_->ask("busy 1")), must(jvm_->ask("busy 1")));
  }
}

TEST_P(Bundle, TheVerdictIsPrintedWhereTheFileCannotBe) {
  must(jvm_->ask("monitors"));
  for (const std::string where : {"/proc/app.zip", "/dev/full", "/nowhere/app.zip"}) {
    const auto done = diagnose({"-o", where});
    EXPECT_THAT(done.out, HasSubstr("Deadlock: ")) << where;
    EXPECT_THAT(done.err, HasSubstr(where));
    EXPECT_NE(done.status, 0);
  }
  const auto small = diagnose({"-o", path()}, {.in_child = [] {
                                const rlimit limit{4096, 4096};
                                ::setrlimit(RLIMIT_FSIZE, &limit);
                                ::signal(SIGXFSZ, SIG_IGN);
                              }});
  EXPECT_THAT(small.out, HasSubstr("Deadlock: "));
  EXPECT_THAT(small.err, HasSubstr("app.zip")) << small.status;
  EXPECT_FALSE(is_left());
}

TEST_P(Bundle, IsMadeWhenAConditionHolds) {
  const auto now = diagnose({"-o", path(), "--watch", "--when", "rss > 1M"});
  EXPECT_EQ(now.status, 0) << now.err;
  EXPECT_THAT(members()["SUMMARY.txt"].get<std::string>(), ::testing::StartsWith("Taken because: rss > 1M: "));
  std::filesystem::remove(path());
  const auto counters = diagnose({"-o", path(), "--watch", "--when", "threads.live > 2"});
  EXPECT_EQ(counters.status, 0) << counters.err;
  EXPECT_THAT(members()["SUMMARY.txt"].get<std::string>(), HasSubstr("threads.live > 2: threads.live="));
  const auto wrong = diagnose({"-o", path(), "--watch", "--when", "no.such > 2"});
  EXPECT_EQ(wrong.status, 2) << wrong.err;
}

TEST_P(Bundle, AWatchEndsWithTroubleTheJvmOrASignal) {
  const auto after = [](std::function<void(pid_t)> deed) {
    return CommandOptions{.once_started = [deed](pid_t pid) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      deed(pid);
    }};
  };
  const auto stopped =
      diagnose({"-o", path(), "--watch", "--every", "0.5"}, after([](pid_t pid) { ::kill(pid, SIGINT); }));
  EXPECT_EQ(stopped.status, 0);
  EXPECT_THAT(stopped.err, HasSubstr("there is no bundle"));
  EXPECT_FALSE(is_left());
  const auto trouble =
      diagnose({"-o", path(), "--watch", "--every", "0.5"}, after([this](pid_t) { must(jvm_->ask("monitors")); }));
  EXPECT_EQ(trouble.status, 1) << trouble.err;
  EXPECT_THAT(members()["views/locks.txt"].get<std::string>(), HasSubstr("monitor-1"));
  std::filesystem::remove(path());
  const auto ended =
      diagnose({"-o", path(), "--watch", "--when", "rss > 900G"}, after([this](pid_t) { jvm_->signal(SIGKILL); }));
  EXPECT_EQ(ended.status, 3) << ended.err;
  EXPECT_FALSE(is_left());
}

TEST_P(Bundle, IsMadeOfAStoppedJvm) {
  jvm_->signal(SIGSTOP);
  const auto done = diagnose({"-o", path()});
  jvm_->signal(SIGCONT);
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("[stopped, certain]"));
  EXPECT_THAT(members()["views/threads.txt"].get<std::string>(), HasSubstr("\"main\""));
}

TEST_P(Bundle, OfAJvmThatDiesMeanwhileHasWhatWasThere) {
  const auto done = diagnose({"-o", path()}, {.once_started = [this](pid_t) {
                               std::this_thread::sleep_for(std::chrono::milliseconds(450));
                               jvm_->signal(SIGKILL);
                             }});
  EXPECT_THAT(done.status, AnyOf(1, 3, 9)) << done.err;
  if (done.out.empty()) return;  // it died before it could be opened
  const json all = members();
  EXPECT_THAT(all["SUMMARY.txt"].get<std::string>(), HasSubstr("Not in this bundle:"));
  EXPECT_TRUE(json::accept(all["threads.json"].get<std::string>()));
}

}  // namespace
}  // namespace jtrace::test
