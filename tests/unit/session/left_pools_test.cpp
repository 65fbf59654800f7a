#include "session/left_pools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "session/document/session_text.h"
#include "session/pool_file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "trace/record/layout.h"

namespace jtrace::session {
namespace {

namespace fs = std::filesystem;
using State = LeftPool::State;
using test::must;
using test::ScratchDir;
using ::testing::HasSubstr;

constexpr std::uint64_t kSize = std::uint64_t{2} << 20;

// A process of its own that runs `work` and ends without cleaning up.
pid_t run_and_die(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  return child;
}

std::vector<std::string> pools_of(pid_t pid) {
  std::vector<std::string> found;
  for (const std::string& path : pool_files())
    if (parse_pool_name(path)->pid == pid) found.push_back(path);
  return found;
}

std::string session() { return session_text(TraceIdentity(), TraceOptions(), ClockAnchor(), 1, "/t.xml"); }

// What a jtrace leaves that traced process `pid` and was killed; its path.
std::string left_pool(pid_t pid, std::uint64_t ticks) {
  run_and_die([&] {
    auto pool = new Result<PoolFile>(PoolFile::create(kSize, session(), pid, ticks, "/tmp"));
    if (!*pool) ::_exit(1);
  });
  const auto paths = pools_of(pid);
  return paths.size() == 1 ? paths.front() : "";
}

TEST(LeftPools, AJtraceThatIsKilledWhileItTakesMemoryLeavesNone) {
  // The kernel kills who makes a file larger than it may be, in the call that takes the memory.
  const pid_t killed = run_and_die([] {
    const rlimit none{0, 0}, small{4096, 4096};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &small);
    (void)PoolFile::create(kSize, session(), ::getpid(), 1, "/tmp");
  });
  EXPECT_THAT(pools_of(killed), ::testing::IsEmpty());
}

TEST(LeftPools, OnesInUseAreNotNamed) {
  const auto self = must(target::Process::open(::getpid()));
  auto pool = must(PoolFile::create(kSize, session(), self.pid(), self.start_ticks(), "/tmp"));
  EXPECT_EQ(look_at_pool(pool.path()).state, State::kInUse);
  EXPECT_THAT(note_of_left_pools(self), ::testing::Not(HasSubstr(pool.path())));
  EXPECT_EQ(remove_blank_pool(pool.path()).error().category, ErrorCategory::kRefused);
}

TEST(LeftPools, AreNamedWithTheCommandThatReadsThem) {
  const auto self = must(target::Process::open(::getpid()));
  const std::string path = left_pool(self.pid(), self.start_ticks());
  ASSERT_NE(path, "");
  const LeftPool pool = look_at_pool(path);
  EXPECT_EQ(pool.state, State::kHolds);
  EXPECT_EQ(pool.output, "/t.xml");
  EXPECT_EQ(pool.size, kSize);
  EXPECT_THAT(note_of_left_pools(self), HasSubstr("left 2.0 MiB of ring memory of this JVM: " + path +
                                                  "; `jtrace recover " + path + " -o OUT --remove`"));
  EXPECT_EQ(remove_blank_pool(path).error().category, ErrorCategory::kRefused);
  EXPECT_TRUE(fs::exists(path));
  fs::remove(path);
}

// They stay for days, and every trace would say so.
TEST(LeftPools, AreNamedOnce) {
  const auto self = must(target::Process::open(::getpid()));
  const std::string path = left_pool(self.pid(), self.start_ticks());
  ASSERT_NE(path, "");
  EXPECT_THAT(note_of_left_pools(self), HasSubstr(path));
  EXPECT_THAT(note_of_left_pools(self), ::testing::Not(HasSubstr(path)));
  EXPECT_EQ(look_at_pool(path).state, State::kHolds);
  EXPECT_TRUE(look_at_pool(path).is_told);
  fs::remove(path);
}

TEST(LeftPools, ThoseOfProcessesThatAreGoneAreNamedThoseOfOthersNot) {
  const auto self = must(target::Process::open(::getpid()));
  const pid_t gone = run_and_die([] {});
  std::string note;
  for (int i = 0; i < 50 && note.find("which has ended") == std::string::npos; ++i) {  // another test may be told first
    const std::string of_gone = left_pool(gone, 1);
    ASSERT_NE(of_gone, "");
    note = note_of_left_pools(self);
    fs::remove(of_gone);
  }
  EXPECT_THAT(note, HasSubstr("which has ended"));
  const auto parent = must(target::Process::open(::getppid()));
  const std::string of_parent = left_pool(parent.pid(), parent.start_ticks());
  ASSERT_NE(of_parent, "");
  EXPECT_THAT(note_of_left_pools(self), ::testing::Not(HasSubstr(of_parent)));
  fs::remove(of_parent);
}

TEST(LeftPools, BlankIsWhatHasTheNameAndNoBeginning) {
  const ScratchDir folder;
  const auto state_of = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder.file(name), std::ios::binary) << content;
    return look_at_pool(folder.file(name)).state;
  };
  const std::string name = "jtrace-1-2-0123abcd.pool", zeros(8192, '\0');
  EXPECT_EQ(state_of(name, ""), State::kBlank);
  EXPECT_EQ(state_of(name, zeros), State::kBlank);
  EXPECT_EQ(state_of(name, "text"), State::kNone);
  EXPECT_EQ(state_of(name, std::string("JTRPOOL1\xff\0\0\0", 12)), State::kOtherVersion);
  EXPECT_EQ(state_of("jtrace-1-2-0123abcd.pools", zeros), State::kNone);
  EXPECT_EQ(state_of("jtrace-1-2-0123ab/d.pool", zeros), State::kNone);
  EXPECT_EQ(state_of("jtrace-1-x-0123abcd.pool", zeros), State::kNone);
  EXPECT_TRUE(state_of(name, zeros) == State::kBlank && remove_blank_pool(folder.file(name)));
  EXPECT_FALSE(fs::exists(folder.file(name)));
}

}  // namespace
}  // namespace jtrace::session
