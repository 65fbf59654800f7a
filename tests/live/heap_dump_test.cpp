// `jtrace inspect heapdump` on every JDK: read by two independent parsers (the test's, and VisualVM's library if it is
// installed), and compared with the JVM's own dump: counts, values, stacks, roots. Also `object`, `refs` and `events
// --heap`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "tests/live/heap_peers.h"
#include "tests/live/hprof_parser.h"
#include "tests/testlib/background_command.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/java_programs.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr std::uint8_t kJniGlobal = 1, kJavaFrame = 3, kSticky = 5, kThread = 8;

CommandOutput jtrace(const std::vector<std::string>& words) {
  const auto done = run_jtrace(words);
  return done ? *done : CommandOutput{.err = done.error().message()};
}

json rows(const std::vector<std::string>& words) {
  std::vector<std::string> all = words;
  all.insert(all.end(), {"--format", "json"});
  const CommandOutput done = jtrace(all);
  EXPECT_EQ(done.status, 0) << done.err;
  return json::accept(done.out) ? json::parse(done.out)["data"] : json::array();
}

HprofFile read_dump(const std::string& path) {
  auto bytes = read_file(path, 1u << 30);
  EXPECT_TRUE(succeeded(bytes));
  auto file = HprofFile::parse(bytes ? std::move(*bytes) : "");
  EXPECT_TRUE(succeeded(file)) << path;
  return file ? std::move(*file) : HprofFile();
}

// The JVM leaves out the mirrors of classes that are in its archive and not loaded; objects may refer to them.
template <class Map>
Map without_fillers(Map counts) {
  for (const char* name : {"[I", "java/lang/Object", "java/lang/Class", "[Ljdk/internal/vm/FillerElement;",
                           "jdk/internal/vm/FillerObject"})
    counts.erase(name);
  return counts;
}

std::string differences(const std::map<std::string, std::uint64_t>& ours,
                        const std::map<std::string, std::uint64_t>& theirs) {
  std::string text;
  const auto value = [](const auto& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? std::string("none") : std::to_string(found->second);
  };
  for (const auto* map : {&ours, &theirs})
    for (const auto& [name, count] : *map)
      if (value(ours, name) != value(theirs, name) && text.size() < 1000)
        text += "\n  " + name + ": ours " + value(ours, name) + ", the JVM's " + value(theirs, name);
  return text;
}

class EachDump : public ::testing::TestWithParam<Jdk> {
 protected:
  // The JVM's own dump of all objects, reachable or not; returns its path as this process sees it.
  static std::string own_dump(const JvmProcess& jvm) {
    const std::string inside = "/tmp/jtrace-own-" + jvm.pid_text() + ".hprof";
    const CommandOutput done = jtrace({"cmd", jvm.pid_text(), "dumpheap", inside, "-all"});
    EXPECT_EQ(done.status, 0) << done.err;
    return jvm.inside(inside);
  }
};
JTRACE_ON_EACH_JDK(EachDump);

void expect_same_values(const HprofFile& ours, const HprofFile& theirs, const std::string& name) {
  const std::uint64_t klass = ours.class_of(name);
  std::size_t compared = 0;
  for (const auto& [address, object] : theirs.objects()) {
    if (object.kind != 0x21 || object.type != klass) continue;
    const auto mine = ours.objects().find(address);
    ASSERT_TRUE(mine != ours.objects().end()) << name;
    ASSERT_EQ(ours.values(mine->second), theirs.values(object)) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0u) << name;
}

void expect_same_arrays(const HprofFile& ours, const HprofFile& theirs) {
  std::size_t compared = 0, different = 0;
  for (const auto& [address, object] : theirs.objects()) {
    if (object.kind == 0x21) continue;
    const auto mine = ours.objects().find(address);
    if (mine == ours.objects().end()) continue;
    ++compared;
    different += mine->second.content != object.content || mine->second.type != object.type;
  }
  EXPECT_GT(compared, 20'000u);
  EXPECT_LE(different, compared / 1000);  // allocation buffers of JVM threads that ran in the meantime
}

void expect_same_roots(const Jdk& jdk, const HprofFile& ours, const HprofFile& theirs) {
  EXPECT_EQ(ours.roots(kSticky).size(), theirs.roots(kSticky).size());
  EXPECT_EQ(ours.roots(kThread), theirs.roots(kThread));
  // JDK 8 and 11 include variables of the VM, which no table describes.
  if (jdk.version > 11) {
    EXPECT_EQ(ours.roots(kJniGlobal).size(), theirs.roots(kJniGlobal).size());
  } else {
    EXPECT_GE(ours.roots(kJniGlobal).size(), 4u);
    EXPECT_LE(ours.roots(kJniGlobal).size(), theirs.roots(kJniGlobal).size());
  }
  // Roots of frames: which object by which thread. The thread that made the JVM's dump is in other frames by now.
  const std::set<std::pair<std::uint64_t, std::uint64_t>> mine(ours.roots(kJavaFrame).begin(),
                                                               ours.roots(kJavaFrame).end());
  const std::set<std::pair<std::uint64_t, std::uint64_t>> other(theirs.roots(kJavaFrame).begin(),
                                                                theirs.roots(kJavaFrame).end());
  std::size_t found = 0;
  for (const auto& root : other) found += mine.contains(root);
  EXPECT_GE(other.size(), 30u);
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(other.size())) << found << " of " << other.size();
  for (const int kind : {0x01, 0x02, 0x03, 0x05, 0x07, 0x08})
    for (const auto& [object, thread] : ours.roots(static_cast<std::uint8_t>(kind)))
      EXPECT_TRUE(ours.objects().contains(object) || ours.classes().contains(object)) << kind;
}

TEST_P(EachDump, IsEqualToTheJvmsOwn) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm =
      must(JvmProcess::start(GetParam(), "HeapZoo", attachable(GetParam(), {"-Xmx128m", "-XX:+UseSerialGC"})));
  for (const char* command : {"park 4", "locked", "gc", "fill 100"}) must(jvm->ask(command));
  const ScratchDir folder;
  const std::string path = folder.file("ours.hprof");
  std::string difference = "not asked";
  HprofFile ours, theirs;
  for (int i = 0; i < 4 && !difference.empty(); ++i) {  // threads of the JVM may allocate in between
    const std::string own = own_dump(*jvm);
    theirs = read_dump(own);
    fs::remove(own);
    const CommandOutput done = jtrace({"inspect", jvm->pid_text(), "heapdump", "-o", path, "--max-stop", "20000"});
    ASSERT_EQ(done.status, 0) << done.err;
    ours = read_dump(path);
    difference = differences(without_fillers(ours.counts()), without_fillers(theirs.counts()));
  }
  EXPECT_EQ(difference, "");
  EXPECT_TRUE(ours.has_end());
  EXPECT_GE(ours.counts()["java/lang/Class"], theirs.counts()["java/lang/Class"]);
  EXPECT_EQ(ours.dangling(), 0u);
  for (const char* name :
       {"HeapZoo$Derived", "HeapZoo$Node", "HeapZoo$Target", "java/lang/String", "java/lang/Integer"})
    expect_same_values(ours, theirs, name);
  expect_same_arrays(ours, theirs);
  EXPECT_EQ(ours.classes().at(ours.class_of("HeapZoo")).statics,
            theirs.classes().at(theirs.class_of("HeapZoo")).statics);
  expect_same_roots(GetParam(), ours, theirs);
  // A parked thread's stack is in both.
  std::size_t parked = 0;
  for (const auto& [object, none] : ours.roots(kThread)) {
    const auto stack = ours.stack_of(object);
    if (std::find(stack.begin(), stack.end(), "HeapZoo.deep") == stack.end()) continue;
    ++parked;
    EXPECT_EQ(stack, theirs.stack_of(object));
  }
  EXPECT_EQ(parked, 4u);
  record_support(GetParam(), "Serial", "live", "heap: dump equal to the JVM's own");
}

TEST_P(EachDump, HasParkedVirtualThreadsWithTheirStacks) {
  if (GetParam().version < 21) GTEST_SKIP() << "no virtual threads before JDK 21";
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  const auto jvm = must(JvmProcess::start(GetParam(), "HeapZoo", attachable(GetParam(), {"-Xmx128m"})));
  // After a collection, which rewrites the references in their stack chunks.
  for (const char* command : {"virtual 50", "gc"}) must(jvm->ask(command));
  const ScratchDir folder;
  const std::string path = folder.file("ours.hprof");
  const CommandOutput done = jtrace({"inspect", jvm->pid_text(), "heapdump", "-o", path, "--max-stop", "20000"});
  ASSERT_EQ(done.status, 0) << done.err;
  const HprofFile ours = read_dump(path);
  // The object that only a frame of that thread's stack refers to is a root of the thread.
  std::map<std::uint64_t, std::set<std::uint64_t>> targets;
  const std::uint64_t target = ours.class_of("HeapZoo$Target");
  for (const auto& [object, thread] : ours.roots(kJavaFrame))
    if (const auto found = ours.objects().find(object); found != ours.objects().end() && found->second.type == target)
      targets[thread].insert(object);
  std::size_t parked = 0;
  std::set<std::uint64_t> held;
  for (const auto& [object, none] : ours.roots(kThread)) {
    const auto stack = ours.stack_of(object);
    if (std::count(stack.begin(), stack.end(), "HeapZoo.nested") != 11) continue;
    ++parked;
    EXPECT_EQ(std::count(stack.begin(), stack.end(), "java/lang/VirtualThread.run"), 1);
    EXPECT_FALSE(targets[object].empty());
    held.insert(targets[object].begin(), targets[object].end());
  }
  EXPECT_EQ(parked, 50u);
  EXPECT_EQ(held.size(), 50u);
  record_support(GetParam(), "G1", "live", "heap: dump with virtual threads");
}

// VisualVM's jars for reading heap dumps, as a class path; "" if there are none.
TEST(HeapDump, IsReadByVisualvm) {
  const std::string jars = visualvm_heap_jars();
  if (jars.empty()) GTEST_SKIP() << "no VisualVM (package visualvm; scripts/setup unpacks it)";
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  JTRACE_NEED_JDK(jdk);
  const ScratchDir folder;
  const auto jvm = must(JvmProcess::start(*jdk, "HeapZoo", attachable(*jdk, {"-Xmx128m"})));
  for (const char* command : {"park 2", "big 1"}) must(jvm->ask(command));
  const std::string path = folder.file("ours.hprof");
  const CommandOutput done =
      jtrace({"inspect", jvm->pid_text(), "heapdump", "-o", path, "--max-stop", "20000", "--format", "json"});
  ASSERT_EQ(done.status, 0) << done.err;
  std::uint64_t objects = 0;
  const json told_by_us = json::parse(done.out);
  for (const json& row : told_by_us["data"])
    for (const char* record : {"instances", "objectArrays", "primitiveArrays"})
      if (row["record"] == record) objects += row["count"].get<std::uint64_t>();
  const std::string told = told_by_visualvm(*jdk, jars, path);
  for (const std::string& line :
       {"instances=" + std::to_string(objects), std::string("dangling=0"), std::string("count.HeapZoo$Node=20000"),
        std::string("count.HeapZoo$Target=3"), std::string("field.HeapZoo$Derived.j=-1234567890123456789"),
        std::string("field.HeapZoo$Derived.d=-2.25"), std::string("field.HeapZoo$Base.hidden=11"),
        std::string("field.HeapZoo$Derived.hidden=22"), std::string("static.counter=4711")})
    EXPECT_THAT(told, HasSubstr("\n" + line + "\n"));
}

// An output has no name before it is whole.
bool has_open_file_in(pid_t pid, const std::string& folder) {
  std::error_code error;
  for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", error)) {
    const std::string file = fs::read_symlink(each.path(), error).string();
    if (!error && file.starts_with(folder)) return true;
  }
  return false;
}

TEST(HeapDump, PackedOrInterruptedIsWholeOrNotThere) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  JTRACE_NEED_JDK(jdk);
  const auto jvm = must(JvmProcess::start(*jdk, "HeapZoo", attachable(*jdk, {"-Xmx512m"})));
  const ScratchDir folder;
  const std::string packed = folder.file("a.hprof.gz");
  ASSERT_EQ(jtrace({"inspect", jvm->pid_text(), "heapdump", "-o", packed, "--max-stop", "20000"}).status, 0);
  const auto unpacked = run_command({"sh", "-c", "gzip -dc '" + packed + "' > '" + folder.file("a.hprof") + "'"});
  ASSERT_EQ(unpacked->status, 0) << unpacked->err;
  const HprofFile file = read_dump(folder.file("a.hprof"));
  EXPECT_EQ(file.counts()["HeapZoo$Node"], 20'000u);
  EXPECT_TRUE(file.has_end());
  fs::remove(packed);
  fs::remove(folder.file("a.hprof"));

  for (int i = 0; i < 2; ++i) must(jvm->ask("fill 1000000", std::chrono::minutes(2)));
  // A command that takes longer than a second shows its progress on a terminal; script(1) is the terminal.
  const auto shown = must(run_command(
      {"script", "-qec",
       "exec '" + jtrace_binary() + "' inspect " + jvm->pid_text() + " heapdump -o '" + packed + "' --max-stop 20000",
       "/dev/null"}));
  EXPECT_EQ(shown.status, 0) << shown.out;
  EXPECT_THAT(shown.out, HasSubstr(" %"));
  fs::remove(packed);

  // A dump that takes a while, compressed by one thread, is interrupted as soon as its file exists.
  const auto dump = must(BackgroundCommand::start(
      {jtrace_binary(), "inspect", jvm->pid_text(), "heapdump", "-o", packed, "--max-stop", "20000"}));
  while (dump->alive() && !has_open_file_in(dump->pid(), folder.path())) std::this_thread::yield();
  dump->signal(SIGINT);
  const auto status = must(dump->wait_exit());
  EXPECT_NE(status, 0);
  EXPECT_TRUE(fs::is_empty(folder.path())) << fs::directory_iterator(folder.path())->path();
  EXPECT_TRUE(jvm->alive());
}

TEST(HeapObjects, AreShownFollowedFoundAndDefined) {
  if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  JTRACE_NEED_JDK(jdk);
  const auto jvm = must(JvmProcess::start(*jdk, "HeapZoo", attachable(*jdk, {"-Xmx64m", "-XX:+UseSerialGC"})));
  for (const char* command : {"locked", "gc"}) must(jvm->ask(command));
  const std::string pid = jvm->pid_text();
  std::map<std::string, std::string> statics;
  for (const json& row : rows({"inspect", pid, "statics", "HeapZoo"})) statics[row["name"]] = row["value"];
  const auto address_of = [&](const std::string& name) { return statics[name].substr(statics[name].find('@') + 1); };

  const json derived = rows({"inspect", pid, "object", address_of("DERIVED")});
  ASSERT_EQ(derived.size(), 1u);
  EXPECT_EQ(derived[0]["class"], "HeapZoo$Derived");
  std::map<std::string, std::string> values;
  for (const json& field : derived[0]["fields"])
    values[field["declaredBy"].get<std::string>() + "." + field["name"].get<std::string>()] = field["value"];
  EXPECT_EQ(values["HeapZoo$Derived.j"], "-1234567890123456789");
  EXPECT_EQ(values["HeapZoo$Derived.hidden"], "22");
  EXPECT_EQ(values["HeapZoo$Base.hidden"], "11");
  EXPECT_EQ(values["HeapZoo$Derived.z"], "true");
  EXPECT_EQ(values["HeapZoo$Derived.text"], "\"derived \u20ac\"");
  EXPECT_EQ(values["HeapZoo$Derived.self"], "HeapZoo$Derived@" + address_of("DERIVED"));
  EXPECT_EQ(values["HeapZoo$Derived.nothing"], "null");
  // `--depth` follows: the holder, its array, the array's elements.
  std::set<std::string> types;
  for (const json& object : rows({"inspect", pid, "object", address_of("HOLDER"), "--depth", "2"}))
    types.insert(object["class"]);
  EXPECT_EQ(types, (std::set<std::string>{"HeapZoo$Holder", "HeapZoo$Target", "java.lang.Object[]"}));

  // A static number with the bits of the reference is none.
  const std::uint64_t target = std::stoull(address_of("TARGET"), nullptr, 16);
  ASSERT_LT(target, std::uint64_t{1} << 32) << "references are addresses in a heap that small";
  must(jvm->ask("number " + std::to_string(static_cast<std::int32_t>(target))));
  std::multiset<std::string> found;
  for (const json& row : rows({"inspect", pid, "refs", address_of("TARGET"), "--max-stop", "20000"}))
    found.insert(row["kind"].get<std::string>() + " " + row["where"].get<std::string>());
  EXPECT_EQ(found, (std::multiset<std::string>{"element [0]", "element [1]", "field first", "static HeapZoo.TARGET"}));
  std::set<std::string> kinds;
  for (const json& row : rows({"inspect", pid, "refs", address_of("HOLDER"), "--max-stop", "20000"}))
    kinds.insert(row["kind"]);
  EXPECT_TRUE(kinds.contains("monitor"));
  EXPECT_EQ(jtrace({"inspect", pid, "object", "0x10"}).status, 3);
  // Booleans and numbers of many classes are 1.
  EXPECT_EQ(jtrace({"inspect", pid, "refs", "0x1", "--max-stop", "20000"}).status, 3);
  EXPECT_EQ(jtrace({"inspect", pid, "object", "here"}).status, 2);

  const ScratchDir folder;
  const std::string path = folder.file("events.xml");
  const CommandOutput written = jtrace({"inspect", pid, "events", "--heap", "--object", address_of("TARGET"),
                                        "--format", "xml", "-o", path, "--max-stop", "20000"});
  ASSERT_EQ(written.status, 0) << written.err;
  const auto trace = must(TraceDocument::read(path));
  EXPECT_TRUE(none(trace.faults()));
  EXPECT_TRUE(valid(path));
  std::string totals;
  for (const TraceElement* value : trace.all("value"))
    if (value->get("name") == "HeapZoo$Node") totals = value->get("type") + " " + value->get("serializationFormat");
  EXPECT_THAT(totals, HasSubstr("LONG histogram instances=20000 classId="));
  EXPECT_GE(trace.count("objDef"), 1u);
  EXPECT_GT(trace.all("gcFinish").at(0)->number("usedObjects"), 60'000u);
}

}  // namespace
}  // namespace jtrace::test
