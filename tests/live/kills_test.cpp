// Either side may be killed, ended or stopped at any moment: the JVM works on, and what was written can be read.
//
// Few rounds unless JTRACE_LASTING_KILLS=SECONDS is set. JTRACE_KILLS_SEED=N repeats the choices of a run, not its
// times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using Words = std::vector<std::string>;

class EachJdk : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(EachJdk);

// What runs against the JVM. PID and FILE stand for the process and for a file of the round.
struct Task {
  Words words;
  bool traces = false;  // FILE is a document
};
const std::vector<Task> kTasks = {
    {{"attach", "PID", "--duration", "2", "-o", "FILE", "--events", "threads,classes,gc,monitors,objects"}, true},
    {{"attach", "PID", "--duration", "2", "-o", "FILE", "--events", "methods,exceptions", "--filter", "LastingWork*"},
     true},
    {{"attach", "PID", "--duration", "2", "-o", "FILE", "--events", "threads,gc,monitors,methods", "--filter",
      "LastingWork*", "--max-size", "1M", "--rotate", "3"},
     true},
    {{"attach", "PID", "--duration", "2", "--spill", "FILE", "--events", "methods,allocations", "--filter",
      "LastingWork*", "--ring-memory", "4M"},
     true},
    {{"slow", "PID", "--over", "1ms", "--duration", "2", "--filter", "LastingWork*"}},
    {{"profile", "PID", "--duration", "1", "-o", "FILE.collapsed"}},
    {{"profile", "PID", "--duration", "1", "--ptrace"}},
    {{"stack", "PID"}},
    {{"diagnose", "PID"}},
    {{"inspect", "PID", "histogram", "--max-stop", "5000"}},
    {{"inspect", "PID", "histogram", "--reachable", "--max-stop", "5000"}},
    {{"inspect", "PID", "heapdump", "--max-stop", "5000", "-o", "FILE.hprof"}},
    {{"cmd", "PID", "threaddump"}},
    {{"core", "PID", "-o", "FILE.core", "--max-stop", "5000"}},
};

struct Deed {
  const char* name;
  int signal;
  bool to_jvm;
  bool stopped_before;  // the same side is stopped for a while first
};
const std::vector<Deed> kDeeds = {
    {"jtrace killed", SIGKILL, false, false},
    {"jtrace killed", SIGKILL, false, false},
    {"jtrace ended", SIGTERM, false, false},
    {"jtrace interrupted", SIGINT, false, false},
    {"jtrace stopped, killed", SIGKILL, false, true},
    {"jtrace stopped, interrupted", SIGINT, false, true},
    {"JVM killed", SIGKILL, true, false},
    {"JVM ended", SIGTERM, true, false},
    {"JVM stopped, goes on", SIGCONT, true, true},
    {"JVM stopped, killed", SIGKILL, true, true},
};

std::vector<std::string> pools_of(pid_t pid) {
  std::vector<std::string> pools;
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().starts_with("jtrace-" + std::to_string(pid) + "-"))
      pools.push_back(entry.path());
  return pools;
}

// The threads of the process that are stopped or held by a tracer.
Words held_threads(pid_t pid) {
  Words held;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("State:\tT") || line.starts_with("State:\tt") ||
          (line.starts_with("TracerPid:") && line != "TracerPid:\t0"))
        held.push_back(entry.path().filename().string() + " " + line);
  }
  return held;
}

class Kills {
 public:
  explicit Kills(const Jdk& jdk) : jdk_(jdk) {
    const char* text = ::getenv("JTRACE_KILLS_SEED");
    seed_ = text == nullptr ? std::random_device()() : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
    random_.seed(seed_);
    std::printf("seed %u\n", seed_);
  }

  // False: a fault that leaves nothing to go on with.
  bool round() {
    const Task& task = kTasks[pick(kTasks.size())];
    const Deed& deed = kDeeds[pick(kDeeds.size())];
    const auto delay = std::chrono::microseconds(pick(4) == 0 ? pick(40'000) : pick(1'500'000));
    if (!jvm_ && !start_jvm()) return false;
    folder_ = std::make_unique<ScratchDir>("jtrace-kills");
    const std::string what = task.words[0] + " " + task.words[2] + ", " + deed.name + " after " +
                             std::to_string(delay.count()) + " us, seed " + std::to_string(seed_) + ", round " +
                             std::to_string(rounds_);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, what);
    ++rounds_;
    auto tool = must(BackgroundCommand::start(words_of(task)));
    ::usleep(static_cast<useconds_t>(delay.count()));
    const bool ran = tool->alive();
    do_it(deed, *tool);
    const auto status = tool->wait_exit(std::chrono::seconds(90));
    if (!status) {
      ADD_FAILURE() << "jtrace does not end: " << tool->err();
      return false;
    }
    ++statuses_[std::string(deed.name) + (ran ? "" : " (too late)")][task.words[0] + "=" + std::to_string(*status)];
    check_status(task, deed, ran, *status, tool->err());
    if (deed.to_jvm && deed.signal != SIGCONT) end_jvm();
    else if (!check_jvm(*status == 137)) return false;
    recover_pools(*status == 137);
    if (task.traces) check_documents(*status == 137, task.words[2] == "--spill" || task.words[4] == "--spill");
    return true;
  }

  void report() const {
    for (const auto& [deed, counts] : statuses_) {
      std::printf("%-32s", deed.c_str());
      for (const auto& [status, count] : counts) std::printf(" %s x%d", status.c_str(), count);
      std::printf("\n");
    }
    std::printf("%d rounds, %d JVMs, %d documents sound, %d recovered\n", rounds_, jvms_, documents_, recovered_);
  }

  // After the last round: one more trace of the last JVM, whole.
  void finish() {
    if (!jvm_) return;
    const ScratchDir folder;
    const auto done = must(run_jtrace({"attach", jvm_->pid_text(), "--duration", "0.3", "-o", folder.file("t.xml")}));
    EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
    EXPECT_EQ(must(run_jtrace({"validate", folder.file("t.xml")})).status, 0);
    remove_left_pools(jvm_->pid());
  }

 private:
  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  bool start_jvm() {
    JvmOptions options = attachable(jdk_, {"-Xmx200m", "-XX:-CreateCoredumpOnCrash"});
    if (jdk_.version < 9) options.flags.pop_back();
    options.arguments = {"2"};
    jvm_ = must(JvmProcess::start(jdk_, "LastingWork", options));
    ++jvms_;
    return jvm_ != nullptr;
  }

  void end_jvm() {
    EXPECT_TRUE(succeeded(jvm_->wait_exit(std::chrono::seconds(60))));
    EXPECT_EQ(jvm_->crash_report(), "");
    last_pid_ = jvm_->pid();
    jvm_.reset();
  }

  Words words_of(const Task& task) const {
    Words words = {jtrace_binary()};
    for (std::string word : task.words) {
      if (word == "PID") word = jvm_->pid_text();
      if (word.starts_with("FILE")) word = file() + word.substr(4);
      words.push_back(word);
    }
    return words;
  }
  std::string file() const { return folder_->file("t.xml"); }

  void do_it(const Deed& deed, const BackgroundCommand& tool) {
    const auto send = [&](int number) { deed.to_jvm ? jvm_->signal(number) : tool.signal(number); };
    if (deed.stopped_before) {
      send(SIGSTOP);
      ::usleep(static_cast<useconds_t>(pick(700'000)));
    }
    send(deed.signal);
    if (deed.stopped_before && deed.signal == SIGINT) send(SIGCONT);
  }

  static void check_status(const Task& task, const Deed& deed, bool ran, int status, const std::string& err) {
    if (!deed.to_jvm && ran && deed.signal == SIGKILL) {
      EXPECT_THAT(status, ::testing::AnyOf(137, 0, 9)) << err;
      return;
    }
    std::vector<int> allowed = {0, 9, 130, 143};
    if (err.find("interrupted") != std::string::npos) allowed.push_back(1);  // before it traced
    if (deed.to_jvm) allowed.insert(allowed.end(), {1, 3, 4, 5, 6, 7});
    if (task.words[0] == "diagnose") allowed.push_back(1);
    EXPECT_THAT(allowed, ::testing::Contains(status)) << err;
    if (status != 0 && status != 130 && status != 143 && task.words[0] != "diagnose") {
      EXPECT_NE(err, "");
    }
  }

  // It runs, answers, has written nothing, and is not held.
  bool check_jvm(bool killed) {
    if (!jvm_->alive()) {
      ADD_FAILURE() << "the JVM is dead: " << jvm_->crash_report();
      return false;
    }
    // A child of a jtrace that was killed is ended by the kernel, a moment later.
    for (int i = 0; i < 200 && killed && !held_threads(jvm_->pid()).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(held_threads(jvm_->pid()), Words());
    const auto answer = jvm_->ask("rounds", std::chrono::seconds(60));
    if (!answer) {
      ADD_FAILURE() << answer.error().message();
      return false;
    }
    EXPECT_EQ(jvm_->err(), "");
    const std::string request = "/tmp/.attach_pid" + jvm_->pid_text();
    EXPECT_TRUE(killed || !fs::exists(request)) << request;
    std::error_code ignored;
    fs::remove(request, ignored);
    return true;
  }

  void recover_pools(bool killed) {
    const pid_t pid = jvm_ ? jvm_->pid() : last_pid_;
    for (const std::string& pool : pools_of(pid)) {
      EXPECT_TRUE(killed) << "left though jtrace was not killed: " << pool;
      recover(pool);
    }
  }

  // A whole trace is sound as it is.
  void check_documents(bool killed, bool spilled) {
    if (killed || !fs::exists(file())) return;
    Words words = {"validate"};
    if (spilled) {
      const std::string document = folder_->file("converted.xml");
      const auto done = must(run_jtrace({"convert", file(), "-o", document}, {.timeout = std::chrono::minutes(5)}));
      EXPECT_THAT(done.status, ::testing::AnyOf(0, 9)) << done.err;
      fs::rename(document, file());
    }
    for (int i = 3; i > 0; --i)
      if (const std::string part = file() + "." + std::to_string(i); fs::exists(part)) words.push_back(part);
    words.push_back(file());
    const auto sound = must(run_jtrace(words, {.timeout = std::chrono::minutes(5)}));
    EXPECT_EQ(sound.status, 0) << sound.out << sound.err;
    documents_ += sound.status == 0;
  }

  // The agent of a killed jtrace leaves a moment later; until then its pool is in use.
  void recover(const std::string& pool) {
    const std::string path = folder_->file("recovered.xml");
    CommandOutput done;
    for (const auto end = steady_clock::now() + std::chrono::seconds(40); steady_clock::now() < end;) {
      done = must(run_jtrace({"recover", pool, "-o", path, "--remove"}));
      if (done.err.find("in use") == std::string::npos) break;
      ::usleep(100'000);
    }
    EXPECT_THAT(done.status, ::testing::AnyOf(0, 1, 9)) << done.err;
    if (done.status == 1) {
      EXPECT_THAT(done.err, ::testing::HasSubstr("nothing was recorded"));
      EXPECT_EQ(must(run_jtrace({"recover", pool, "--remove"})).status, 0);
    } else {
      const auto sound = must(run_jtrace({"validate", path}));
      EXPECT_EQ(sound.status, 0) << sound.out << sound.err;
      recovered_ += sound.status == 0;
    }
    EXPECT_FALSE(fs::exists(pool));
  }

  Jdk jdk_;
  unsigned seed_ = 0;
  std::mt19937 random_;
  std::unique_ptr<JvmProcess> jvm_;
  std::unique_ptr<ScratchDir> folder_;
  pid_t last_pid_ = 0;
  int rounds_ = 0, jvms_ = 0, documents_ = 0, recovered_ = 0;
  std::map<std::string, std::map<std::string, int>> statuses_;
};

TEST_P(EachJdk, OutlivesDeathsAtAnyMoment) {
  Kills kills(GetParam());
  const char* text = ::getenv("JTRACE_LASTING_KILLS");
  const auto end = steady_clock::now() + std::chrono::seconds(text == nullptr ? 20 : std::atoi(text));
  for (int i = 0; text != nullptr || i < 8; ++i)
    if (steady_clock::now() > end || !kills.round()) break;
  kills.finish();
  kills.report();
}

}  // namespace
}  // namespace jtrace::test
