#include "attach/commands.h"

#include <gtest/gtest.h>

#include "attach/agent_load.h"
#include "attach/request_run.h"

namespace jtrace::attach {
namespace {

TEST(Commands, OfOperationsAndDiagnosticCommandsTheKnownOnesReadOnly) {
  EXPECT_TRUE(reads_only({.operation = "threaddump"}));
  EXPECT_FALSE(reads_only({.operation = "setflag", .arguments = {"A", "1"}}));
  EXPECT_TRUE(reads_only({.operation = "jcmd", .arguments = {"VM.version"}}));
  EXPECT_TRUE(reads_only({.operation = "jcmd"}));
  EXPECT_FALSE(reads_only({.operation = "jcmd", .arguments = {"GC.run"}}));
  EXPECT_FALSE(reads_only({.operation = "nobody.knows"}));
}

TEST(Commands, OfAMisspeltOneTheNearestIsKnown) {
  EXPECT_EQ(nearest_command({.operation = "treaddump"}), "threaddump");
  EXPECT_EQ(nearest_command({.operation = "threaddump"}), "");
  EXPECT_EQ(nearest_command({.operation = "jcmd", .arguments = {"GC.heapinfo -all"}}), "GC.heap_info");
  EXPECT_EQ(nearest_command({.operation = "jcmd", .arguments = {"threaddump"}}), "") << "an operation is no command";
}

TEST(Commands, TheWordsAfterJcmdAreOneArgumentWithBlanksInQuotes) {
  const Request plain = request_of_words({"inspectheap", "-live"});
  EXPECT_EQ(plain.operation, "inspectheap");
  EXPECT_EQ(plain.arguments, std::vector<std::string>{"-live"});
  EXPECT_EQ(request_of_words({"jcmd"}).arguments, std::vector<std::string>{"help"});
  EXPECT_EQ(request_of_words({"jcmd", "GC.heap_dump /a b"}).arguments, std::vector<std::string>{"GC.heap_dump /a b"});
  EXPECT_EQ(request_of_words({"jcmd", "GC.heap_dump", "/a b"}).arguments,
            std::vector<std::string>{"GC.heap_dump \"/a b\""});
  EXPECT_EQ(request_of_words({"jcmd", "X", "say \"a\""}).arguments, std::vector<std::string>{"X 'say \"a\"'"});
}

TEST(Commands, ALongReplyIsWaitedForLonger) {
  using std::chrono::milliseconds;
  EXPECT_EQ(bounds_of({{.operation = "properties"}}, {}, 3).reply_timeout, milliseconds(60'000));
  EXPECT_EQ(bounds_of({{.operation = "properties"}, {.operation = "dumpheap"}}, {}, 3).reply_timeout,
            milliseconds(1'800'000));
  const AttachOptions given = bounds_of({{.operation = "dumpheap"}}, 1.5, 3);
  EXPECT_EQ(given.reply_timeout, milliseconds(1500));
  EXPECT_EQ(given.start_timeout, milliseconds(1500));
  EXPECT_EQ(given.cancel_fd, 3);
  EXPECT_GT(bounds_of({}, 1e300, 3).reply_timeout, milliseconds(0));
}

TEST(AgentLoad, ABareNameIsOneThatTheJvmLooksFor) {
  const auto named = find_agent("no_such_file_here");
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->by_name);
  EXPECT_EQ(load_request(*named, "a=b").arguments, (std::vector<std::string>{"no_such_file_here", "false", "a=b"}));
  const auto library = find_agent("lib/libx.so");
  ASSERT_TRUE(library);
  EXPECT_FALSE(library->by_name);
  EXPECT_TRUE(library->path.starts_with('/'));
  EXPECT_TRUE(library->path.ends_with("/lib/libx.so"));
  EXPECT_EQ(load_request(*library, "").arguments, (std::vector<std::string>{library->path, "true", ""}));
}

TEST(AgentLoad, AJarGoesThroughTheAgentOfJavaInstrument) {
  const auto jar = find_agent("/opt/agent.jar");
  ASSERT_TRUE(jar);
  EXPECT_EQ(load_request(*jar, "port=1").arguments,
            (std::vector<std::string>{"instrument", "false", "/opt/agent.jar=port=1"}));
  EXPECT_EQ(load_request(*jar, "").arguments, (std::vector<std::string>{"instrument", "false", "/opt/agent.jar"}));
}

}  // namespace
}  // namespace jtrace::attach
