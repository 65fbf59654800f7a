// What is masked, what is not, and the message about it, on every JDK found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/live/plain_facts.h"

namespace jtrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Masking : public PlainFacts {};
JTRACE_ON_EACH_JDK(Masking);

TEST_P(Masking, HidesSecretsAndNoPlainFacts) {
  auto flags = calm_flags();
  flags.insert(flags.end(), {"-XX:+UnlockDiagnosticVMOptions", "-Dtest.password=hunter2", "-Dtoken.use=true"});
  start(flags);
  // Flags are numbers and booleans, whatever they are called.
  const json all = inspected({"flags", "--all"});
  std::size_t seen = 0;
  for (const json& row : all["data"]) {
    EXPECT_NE(row["value"], "********") << row["name"];
    seen += row["name"] == "VerifyHashTableKeys" || row["name"] == "PrintFlagsFinal";
  }
  EXPECT_GE(seen, 1u);
  const CommandOutput properties = inspect({"properties"});
  EXPECT_THAT(properties.out, AllOf(HasSubstr("test.password = ********"), HasSubstr("token.use = true")));
  EXPECT_THAT(properties.err, HasSubstr("masked: --show-secrets shows"));

  const CommandOutput account = inspect({"object", address_of("ACCOUNT"), "--depth", "3"});
  EXPECT_EQ(account.status, 0) << account.err;
  EXPECT_THAT(account.out, Not(HasSubstr("hunter2")));
  for (const char* line : {"key = \"apple\"", "password = ********", "passwordChars = ********", "apiKey = ********",
                           "accessToken = ********", "tokenCount = 3", "secret = true", "keys = java.util.ArrayList@",
                           "passwordFile = \"/etc/plum\"", "\"pear\""})
    EXPECT_THAT(account.out, HasSubstr(line));
  // A masked value cannot be read through the objects of which it consists.
  EXPECT_THAT(account.out, Not(HasSubstr("[0] = 104"))) << "h";
  EXPECT_THAT(account.err, HasSubstr("4 values are masked: --show-secrets shows them"));

  // A map by its entries, and by the nodes of its table.
  const auto nodes_of = [&](const CommandOutput& map, bool secrets = false) {
    const std::size_t at = map.out.find("[]@0x", map.out.find("table = "));
    std::vector<std::string> words = {"object", map.out.substr(at + 3, map.out.find('\n', at) - at - 3), "--depth",
                                      "3"};
    if (secrets) words.emplace_back("--show-secrets");
    return inspect(words);
  };
  const CommandOutput entries = inspect({"object", address_of("CONFIG"), "--depth", "3"});
  EXPECT_THAT(entries.out, Not(HasSubstr("hunter2")));
  for (const char* line : {"\"db.password\" = ********", "\"colour\" = \"blue\"", "\"token.limit\" = 17"})
    EXPECT_THAT(entries.out, HasSubstr(line));
  const CommandOutput config = nodes_of(entries);
  EXPECT_THAT(config.out, Not(HasSubstr("hunter2")));
  for (const char* line : {"key = \"db.password\"", "value = ********", "key = \"colour\"", "value = \"blue\"",
                           "key = \"token.limit\"", "value = java.lang.Integer@"})
    EXPECT_THAT(config.out, HasSubstr(line));
  const CommandOutput skips = nodes_of(inspect({"object", address_of("SKIPS"), "--depth", "3"}));
  EXPECT_THAT(skips.out, AllOf(HasSubstr("key = \"api.key\""), HasSubstr("val = ********"), Not(HasSubstr("hunter2"))));
  const CommandOutput shown = nodes_of(entries, true);
  EXPECT_THAT(shown.out, HasSubstr("value = \"hunter2\""));
  EXPECT_THAT(shown.err, Not(HasSubstr("masked")));

  const CommandOutput statics = inspect({"statics", "PlainFacts"});
  EXPECT_THAT(statics.out, AllOf(HasSubstr("PASSWORD = ********"), HasSubstr("KEY_LENGTH = 128")));
  EXPECT_THAT(statics.err, HasSubstr("1 value is masked: --show-secrets shows it"));
  EXPECT_EQ(inspected({"statics", "PlainFacts"})["masked"], 1);
}

TEST_P(Masking, HidesTheSecretsOfTheCommandLineInEachView) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  auto flags = calm_flags();
  flags.insert(flags.end(), {"-Ddb.password=hunter2", "-Ddb.url=postgres://u:hunter2@h/d?password=hunter2",
                             "-XX:OnError=curl -u x:hunter2"});
  jvm_ = must(JvmProcess::start(
      GetParam(), "PlainFacts",
      {.flags = std::move(flags),
       .arguments = {"{\"password\":\"hunter2\"}", "--password", "hunter2", "--token=hunter2", "--api-key:hunter2"}}));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"args"}, {"properties"}, {"counters"}, {"flags"}, {"events", "--format", "xml"}}) {
    const CommandOutput done = inspect(words);
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, Not(HasSubstr("hunter2"))) << words.front();
  }
  EXPECT_THAT(inspect({"properties"}).out,
              HasSubstr("{\"password\":\"***\"} --password *** --token=*** --api-key:***\n"));
  EXPECT_THAT(inspect({"properties"}).out, HasSubstr("db.url = postgres://u:***@h/d?password=***\n"));
  EXPECT_THAT(inspect({"args", "--show-secrets"}).out, HasSubstr("--password hunter2 --token=hunter2"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"properties"}, {"agentProperties"}, {"jcmd", "VM.command_line"}, {"jcmd", "VM.system_properties"}}) {
    std::vector<std::string> command = {"cmd", jvm_->pid_text()};
    command.insert(command.end(), words.begin(), words.end());
    const CommandOutput done = must(run_jtrace(command));
    EXPECT_EQ(done.status, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("***"));
    EXPECT_THAT(done.out, Not(HasSubstr("hunter2"))) << words.back();
  }
}

}  // namespace
}  // namespace jtrace::test
