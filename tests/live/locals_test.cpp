// Local variables of frames: what `jtrace stack --locals` and a debugger on `jtrace debug` say of compiled frames is
// what the program says itself, from the same frames, when it goes on (HotSpot gives them to it back, deoptimised or
// not).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/testlib/background_command.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using Values = std::map<std::string, std::string>;  // "METHOD NAME": value

struct Mode {
  const char* name;
  std::vector<std::string> flags;
  bool compiled;
  std::string rounds;
};
void PrintTo(const Mode& mode, std::ostream* out) { *out << mode.name; }
const Mode kModes[] = {{"C1", {"-XX:TieredStopAtLevel=1"}, true, "3000"},
                       {"C2", {"-XX:-TieredCompilation"}, true, "12000"},
                       {"Int", {"-Xint"}, false, "1"}};

// "Locals$Point@0x7f12" and "int[3]@0x.." without the address.
std::string without_address(const std::string& value) {
  const std::size_t at = value.find("@0x");
  return at == value.npos || value.front() == '"' ? value : value.substr(0, at);
}

struct Seen {
  Values values, missing;
  std::set<std::string> apart;               // those that the compiler has taken apart
  std::set<std::string> heap;                // objects of the heap: their fields are not shown
  std::set<std::string> interpreted;         // methods
  std::map<std::string, std::size_t> kinds;  // frames of the program
};

void take(const json& variable, const std::string& name, Seen& seen) {
  if (variable.contains("missing")) {
    seen.missing[name] = variable["missing"].get<std::string>();
    return;
  }
  seen.values[name] = without_address(variable["value"].get<std::string>());
  if (!variable.contains("parts")) {
    if (variable["value"].get<std::string>().find("@0x") != std::string::npos) seen.heap.insert(name);
    return;
  }
  seen.apart.insert(name);
  for (const json& part : variable["parts"]) {
    const auto own = part["name"].get<std::string>();
    take(part, name + (own.starts_with('[') ? "" : ".") + own, seen);
  }
}

Seen seen_by_stack(const JvmProcess& jvm) {
  Seen seen;
  const auto done = must(run_jtrace({"stack", jvm.pid_text(), "--java", "--locals", "--format", "json"},
                                    {.timeout = std::chrono::minutes(2)}));
  EXPECT_EQ(done.status, 0) << done.err;
  if (!json::accept(done.out)) return seen;
  const json document = json::parse(done.out);
  for (const json& thread : document["data"])
    for (const json& frame : thread["frames"]) {
      if (!frame.contains("locals") || frame["class"] != "Locals") continue;
      ++seen.kinds[frame["kind"].get<std::string>()];
      if (frame["kind"] == "interpreted") seen.interpreted.insert(frame["method"].get<std::string>());
      for (const json& variable : frame["locals"])
        take(variable, frame["method"].get<std::string>() + " " + variable["name"].get<std::string>(), seen);
    }
  return seen;
}

// What a debugger sees, as "METHOD NAME VALUE".
Values seen_by_debugger(const JvmProcess& jvm) {
  std::optional<Jdk> client;
  for (const Jdk& jdk : jdks())
    if (!jdk.root && jdk.version >= 17) client = jdk;
  const auto server =
      must(BackgroundCommand::start({jtrace_binary(), "debug", jvm.pid_text(), "--max-stop", "5000", "--once"}));
  const auto line = server->wait_out_line("Listening for transport dt_socket at address: ", seconds(120));
  EXPECT_TRUE(line) << server->err();
  if (!line || !client) return {};
  const auto done =
      must(run_command({client->host_path("bin/java"), "-Xshare:auto", source_folder() + "/tests/apps/JdiLocals.java",
                        "127.0.0.1", line->substr(line->find_last_of(": ") + 1)},
                       {.timeout = seconds(180)}));
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(must(server->wait_exit()), 0) << server->err();
  Values values;
  std::istringstream lines(done.out);
  for (std::string method, name, value; lines >> method >> name && std::getline(lines >> std::ws, value);)
    values[method + " " + name] = value;
  return values;
}

// The program's own words. `kind`: 'V', or 'D' for what it does not need any more.
Values told(const JvmProcess& jvm, char kind) {
  Values values;
  std::istringstream lines(jvm.out());
  for (std::string line; std::getline(lines, line);) {
    if (line.size() < 3 || line[0] != kind || line[1] != ' ') continue;
    const std::size_t method = line.find(' ', 2), name = line.find(' ', method + 1);
    values[line.substr(2, name - 2)] = line.substr(name + 1);
  }
  return values;
}

// Whether it is a part of an object of the heap, which is not shown.
bool is_within(const std::string& name, const std::set<std::string>& heap) {
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((name[i] == '.' || name[i] == '[') && heap.contains(name.substr(0, i))) return true;
  return false;
}

using Case = std::tuple<Jdk, Mode>;
class LocalsOnEachJdk : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto& [jdk, mode] = GetParam();
    JvmOptions options;
    options.flags = mode.flags;
    for (const char* flag :
         {"-Xbatch", "-Xmx64m", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Locals.stand"})
      options.flags.emplace_back(flag);
    options.arguments = {mode.rounds};
    jvm_ = must(JvmProcess::start(jdk, "Locals", options));
  }
  bool compiled() const { return std::get<1>(GetParam()).compiled; }

  std::unique_ptr<JvmProcess> jvm_;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  return NameOf()(::testing::TestParamInfo<Jdk>(std::get<0>(info.param), info.index)) + "_" +
         std::get<1>(info.param).name;
}
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LocalsOnEachJdk);
INSTANTIATE_TEST_SUITE_P(Jdks, LocalsOnEachJdk,
                         ::testing::Combine(::testing::ValuesIn(jdks()), ::testing::ValuesIn(kModes)), name_of);

// One mode of each JDK will do.
class LocalsInADebugger : public LocalsOnEachJdk {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LocalsInADebugger);
INSTANTIATE_TEST_SUITE_P(Jdks, LocalsInADebugger,
                         ::testing::Combine(::testing::ValuesIn(jdks()), ::testing::Values(kModes[1])), name_of);

TEST_P(LocalsOnEachJdk, AreWhatTheProgramSays) {
  const Seen seen = seen_by_stack(*jvm_);
  ASSERT_EQ(must(jvm_->ask("go")), "told");
  std::size_t live = 0, found = 0;
  for (const auto& [name, value] : told(*jvm_, 'V')) {
    if (const auto known = seen.values.find(name); known != seen.values.end()) {
      EXPECT_EQ(known->second, value) << name;
      ++found, ++live;
      continue;
    }
    if (is_within(name, seen.heap)) continue;
    ++live;
    const auto why = seen.missing.find(name);
    std::printf("not found: %s: %s\n", name.c_str(), why == seen.missing.end() ? "?" : why->second.c_str());
  }
  // A slot of an interpreted frame that is dead has what is there: 0, where compiled code was given up.
  for (const auto& [name, value] : told(*jvm_, 'D')) {
    const auto known = seen.values.find(name);
    if (known == seen.values.end() || seen.interpreted.contains(name.substr(0, name.find(' ')))) continue;
    EXPECT_EQ(known->second, value) << name;
  }
  std::printf("%zu of %zu live variables found, %zu objects taken apart\n", found, live, seen.apart.size());
  EXPECT_GE(live, 60u);
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(live));
  const std::size_t interpreted = seen.kinds.contains("interpreted") ? seen.kinds.at("interpreted") : 0;
  std::size_t frames = 0;
  for (const auto& [kind, count] : seen.kinds) frames += count;
  if (compiled()) {
    EXPECT_LT(interpreted, frames - 7) << "of " << frames << " frames";
  }
}

class LocalsAsText : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(LocalsAsText);

TEST_P(LocalsAsText, HaveEscapesAndSayWhatIsCut) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(JvmProcess::start(GetParam(), "Debuggee", {.flags = {"-Xint", "-Xmx64m"}}));
  const auto text = must(run_jtrace({"stack", jvm->pid_text(), "--java", "--thread", "stander", "--locals"}));
  EXPECT_EQ(text.status, 0) << text.err;
  const std::string ys(200, 'y');
  EXPECT_THAT(text.out, ::testing::AllOf(HasSubstr("char none = '\\u0000'\n"),
                                         HasSubstr("java.lang.String odd = \"a\\tb\\\"c\\\\\\u0001\"\n"),
                                         HasSubstr("java.lang.String wide = \"" + ys + "\"... (300 characters)\n"),
                                         HasSubstr("java.lang.String text = \"gr\u00fc\u00df dich \U0001f600\"\n")));
  const auto as_json =
      must(run_jtrace({"stack", jvm->pid_text(), "--java", "--thread", "stander", "--locals", "--format", "json"}));
  EXPECT_THAT(as_json.out, HasSubstr("\"value\":\"\\\"" + ys + "\\\"\",\"characters\":300"));
}

TEST_P(LocalsAsText, OfACoreHaveTheFieldsOfObjects) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(JvmProcess::start(GetParam(), "Debuggee", {.flags = {"-Xint", "-Xmx64m"}}));
  const ScratchDir folder;
  const auto written = must(run_jtrace({"core", jvm->pid_text(), "-o", folder.file("core")}));
  ASSERT_THAT(written.status, ::testing::AnyOf(0, 9)) << written.err;
  const std::vector<std::string> stack = {"stack", folder.file("core"), "--java", "--thread", "stander", "--locals"};
  const auto text = must(run_jtrace(stack));
  EXPECT_THAT(text.out, ::testing::ContainsRegex("Debuggee.Colour colour = BLUE [(]Debuggee.Colour@0x[0-9a-f]+[)]\n"))
      << text.err;
  EXPECT_THAT(text.out, HasSubstr(" {x=5, y=8589934592, weight=2.5, ratio=-1.25, small=-300, tiny=-5,"));
  EXPECT_THAT(text.out, Not(::testing::ContainsRegex("ArrayList@0x[0-9a-f]+ [{]"))) << "those of the JDK have none";
  std::vector<std::string> json = stack;
  json.insert(json.end(), {"--format", "json"});
  EXPECT_THAT(must(run_jtrace(json)).out, HasSubstr("\"fields\":{\"x\":\"5\",\"y\":\"8589934592\""));
}

TEST(LocalsWithZ, HaveNoReferencesAndTheRealReason) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  JTRACE_NEED_JDK(jdk);
  JvmOptions options{.flags = {"-Xint", "-Xmx64m", "-XX:+UseZGC"}, .arguments = {"1"}};
  const auto jvm = must(JvmProcess::start(*jdk, "Locals", options));
  const auto done = must(run_jtrace({"stack", jvm->pid_text(), "--java", "--locals"}));
  EXPECT_EQ(done.status, 9);
  EXPECT_THAT(done.err, HasSubstr("with references: ZGC moves objects while threads run; jtrace core"));
  EXPECT_THAT(done.out, HasSubstr("<not available: ZGC moves objects while threads run>"));
  EXPECT_THAT(done.out, Not(HasSubstr("a collection has moved")));
  EXPECT_THAT(done.err, Not(HasSubstr("masked")));
}

TEST_P(LocalsInADebugger, AreTheSame) {
  const Values seen = seen_by_debugger(*jvm_);
  ASSERT_EQ(must(jvm_->ask("go")), "told");
  std::size_t live = 0, found = 0;
  for (const auto& [name, value] : told(*jvm_, 'V')) {
    ++live;
    const auto known = seen.find(name);
    if (known == seen.end() || known->second.starts_with("<not available")) {
      std::printf("not found: %s: %s\n", name.c_str(), known == seen.end() ? "?" : known->second.c_str());
      continue;
    }
    EXPECT_EQ(known->second, value) << name;
    ++found;
  }
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(live)) << found << " of " << live;
}

}  // namespace
}  // namespace jtrace::test
