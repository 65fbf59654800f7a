// What objects hold and who refers to them, where it is known: live, in a core, in a dump of ours, and in one that the
// JVM wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "base/strings.h"
#include "tests/live/heap_peers.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/scratch_dir.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"

namespace jtrace::test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Contents : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    jvm_ = must(JvmProcess::start(GetParam(), "Contents", attachable(GetParam(), {"-Xmx64m", "-XX:+UseSerialGC"})));
  }
  // What a frame holds may lead into a file that the JVM has mapped (lib/modules), which a core has not.
  void add_options(const std::string& target, std::vector<std::string>& words) const {
    if (target == jvm_->pid_text()) words.insert(words.end(), {"--max-stop", "20000"});
    if (target.ends_with("/core")) words.insert(words.end(), {"--sysroot", GetParam().root.value_or("/")});
  }
  CommandOutput ask(const std::string& target, std::vector<std::string> words) {
    words.insert(words.begin(), {"inspect", target});
    add_options(target, words);
    return must(run_jtrace(words));
  }
  std::string made(std::vector<std::string> words, const std::string& name) {
    const std::string path = folder_.file(name);
    words.insert(words.end(), {"-o", path, "--max-stop", "20000"});
    const auto done = must(run_jtrace(words));
    EXPECT_EQ(done.status, 0) << done.err;
    return path;
  }
  std::string dumped() {
    std::string path = folder_.file("theirs.hprof");
    take_own_dump(*jvm_, path);
    return path;
  }
  std::vector<std::string> targets() {
    return {jvm_->pid_text(), made({"core", jvm_->pid_text()}, "core"),
            made({"inspect", jvm_->pid_text(), "heapdump"}, "ours.hprof"), dumped()};
  }
  static void expect_answered(const CommandOutput& done, const std::string& target) {
    EXPECT_EQ(done.status, 0) << target << ": " << done.err;
  }
  ScratchDir folder_;
  std::unique_ptr<JvmProcess> jvm_;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Contents);
INSTANTIATE_TEST_SUITE_P(Jdks, Contents, ::testing::ValuesIn(jdks()), NameOf());

// Addresses differ from run to run.
std::string without_addresses(const std::string& text) {
  return std::regex_replace(text, std::regex(" @0x[0-9a-f]+"), "");
}

TEST_P(Contents, OfObjectsAreReadable) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const CommandOutput orders = ask(target, {"instances", "Contents$Order"});
    expect_answered(orders, target);
    const std::string text = without_addresses(orders.out);
    EXPECT_THAT(text, HasSubstr("3 objects of Contents$Order, "));
    for (const char* line : {"\nContents$Order\n",
                             "  id = 7\n",
                             "  id = 8\n",
                             "  id = 9\n",
                             "  city = \"K\u00f6ln\"\n",
                             "  river = \"Wis\u0142a\"\n",
                             "  none = null\n",
                             "  amounts = int[3] [1, -2, 3]\n",
                             "  parts = java.lang.Object[2] [\"wheel\", null]\n",
                             "  rows = java.lang.String[2][] [java.lang.String[1] [\"a\"], java.lang.String[0] []]\n",
                             "  tags = java.util.ArrayList (2) [\"old\", \"blue\"]\n",
                             "  settings = java.util.HashMap (1) {\"db.password\"=********}\n",
                             "  password = ********\n",
                             "  colour = GREEN\n",
                             "  boxed = -17\n",
                             "  letter = '\u00e4'\n",
                             "  price = 1.5\n",
                             "  paid = true\n",
                             "  note = \"\u0142\u00f3d\u017a\"\n",
                             "  next = Contents$Order\n",
                             "  next = null\n",
                             "  weight = 1099511627776  (Contents$Item)\n"})
      EXPECT_THAT(text, HasSubstr(line));
    EXPECT_THAT(orders.out, Not(HasSubstr("hunter2")));
    EXPECT_THAT(orders.err, HasSubstr("9 values are masked: --show-secrets shows them"));
    const CommandOutput shown = ask(target, {"instances", "Contents$Order", "--show-secrets", "--rows", "1"});
    EXPECT_THAT(shown.out, HasSubstr("  password = \"hunter2\"\n"));
    EXPECT_THAT(shown.out, HasSubstr("{\"db.password\"=\"hunter2\"}\n"));
    EXPECT_THAT(shown.out, HasSubstr("\nthe first 1:\n"));
    EXPECT_THAT(shown.err, Not(HasSubstr("masked")));
    const std::string shelf = without_addresses(ask(target, {"instances", "Contents$Shelf"}).out);
    EXPECT_THAT(shelf, HasSubstr("nested = java.util.TreeMap (2) {\"inner\"=java.util.TreeMap (2) {\"one\"=1, "
                                 "\"two\"=2}, \"outer\"=java.util.HashMap (0) {}}\n"));
    EXPECT_THAT(shelf, HasSubstr("  type = class Contents$Order\n"));
  }
}

// The order of fields is not the same in all dumps.
json named(const json& fields, const std::string& name) {
  for (const json& each : fields)
    if (each["name"] == name) return each;
  ADD_FAILURE() << "no field " << name << " in " << fields;
  return json::object();
}

TEST_P(Contents, OfAllObjectsOfAClassAreSummarized) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const CommandOutput done = ask(target, {"instances", "Contents$Order", "--rows", "1"});
    expect_answered(done, target);
    const std::string text = without_addresses(done.out);
    for (const char* line :
         {"  fields of all of them:\n", "    id: 7 in 1, 8 in 1, 9 in 1\n", "    city: \"K\u00f6ln\" in all\n",
          "    none: null in all\n", "    amounts: int[] with 3 elements each\n",
          "    tags: java.util.ArrayList with 2 entries each\n", "    settings: java.util.HashMap with 1 entry each\n",
          "    colour: GREEN in all\n", "    boxed: -17 in all\n", "    letter: '\u00e4' in all\n",
          "    price: 1.5 in all\n", "    paid: true in all\n", "    next: null in 1\n",
          "    weight: 1099511627776 in all\n", "\nthe first 1:\n"})
      EXPECT_THAT(text, HasSubstr(line));
    for (const char* secret : {"    password: ", "    passcode: "})
      EXPECT_THAT(text, HasSubstr(secret + std::string("masked (--show-secrets)\n")));
    const CommandOutput shown = ask(target, {"instances", "Contents$Order", "--rows", "1", "--show-secrets"});
    EXPECT_THAT(shown.out, HasSubstr("    password: \"hunter2\" in all\n"));
    const json document = inspect_heap(target, target == jvm_->pid_text(), {"instances", "Contents$Order"});
    const json id = named(document["fieldSummary"], "id");
    EXPECT_EQ(id["kind"], "number");
    EXPECT_EQ(id["least"], 7);
    EXPECT_EQ(id["most"], 9);
    EXPECT_EQ(id["different"], 3);
    // The address is that of the object.
    for (const json& each : document["data"])
      EXPECT_EQ(each["address"] == id["mostAt"], named(each["fields"], "id")["value"] == "9");
  }
}

TEST_P(Contents, OfCollectionsAreThoseThatTheJvmPrints) {
  const std::string said = must(jvm_->ask("bag"));
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const std::string text = without_addresses(ask(target, {"instances", "Contents$Bag"}).out);
    for (const std::string_view each : split(said, ';')) {
      const std::size_t equal = each.find('=');
      if (equal == each.npos) continue;
      const std::string field = "  " + std::string(each.substr(0, equal)) + " = ";
      const std::size_t line = text.find("\n" + field);
      ASSERT_NE(line, text.npos) << field << text;
      const std::string shown = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
      EXPECT_TRUE(shown.ends_with(") " + std::string(each.substr(equal + 1)))) << shown << "\nis " << each;
    }
  }
}

// As the JVM prints a collection or a map: "[1, 2]", "{a=1}".
std::string printed(const json& entries) {
  const bool is_map = entries["map"];
  std::string list;
  for (const json& row : entries["rows"]) {
    const std::string value = row["value"];
    list += (list.empty() ? "" : ", ") + (is_map ? row["key"].get<std::string>() + "=" + value : value);
  }
  return is_map ? "{" + list + "}" : "[" + list + "]";
}

// The view object lists them by rows, each in a line.
TEST_P(Contents, OfACollectionAreRowsOfTheViewOfIt) {
  const std::string said = must(jvm_->ask("bag"));
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const bool live = target == jvm_->pid_text();  // without a stop: it has no --max-stop
    const std::string bag = ask(target, {"instances", "Contents$Bag"}).out;
    std::size_t compared = 0, moved = 0;
    for (const std::string_view each : split(said, ';')) {
      const std::size_t equal = each.find('=');
      std::smatch found;
      const std::regex line("\n  " + std::string(each.substr(0, equal)) + " = java\\.util\\.\\S+ @(0x[0-9a-f]+) ");
      if (equal == each.npos || !std::regex_search(bag, found, line)) continue;
      const std::vector<std::string> words = {"object", found[1], "--format", "json"};
      const CommandOutput done =
          live ? must(run_jtrace({"inspect", target, "object", found[1], "--format", "json"})) : ask(target, words);
      if (live && (done.status != 0 || !json::parse(done.out)["data"][0].contains("entries"))) {
        ++moved;  // a collection moved it
        continue;
      }
      const json entries = json::parse(done.out)["data"][0].value("entries", json());
      ASSERT_TRUE(entries.is_object()) << each << done.out;
      EXPECT_EQ(entries["leftOut"], 0);
      EXPECT_EQ(printed(entries), each.substr(equal + 1));
      ++compared;
    }
    EXPECT_GE(compared + moved, 12u) << bag;
    EXPECT_GE(compared, live ? 0u : 12u);
  }
}

TEST_P(Contents, OfAClassWithoutObjectsAndOfNoClass) {
  for (const std::string& target : {jvm_->pid_text(), dumped()}) {
    for (const char* view : {"instances", "refs"}) {
      const CommandOutput never = ask(target, {view, "Contents$Never"});
      expect_answered(never, target);
      EXPECT_EQ(never.out, "no object of Contents$Never\n");
      const CommandOutput none = ask(target, {view, "Contents$Ordr"});
      EXPECT_EQ(none.status, 3);
      EXPECT_THAT(none.err, HasSubstr("no class Contents$Ordr"));
      EXPECT_THAT(none.err, HasSubstr("did you mean Contents$Order?"));
    }
  }
}

// One rule for all views: the end of a name after a dot or a dollar.
TEST_P(Contents, OfAClassAreFoundByItsShortName) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    EXPECT_THAT(ask(target, {"instances", "Order"}).out, HasSubstr("3 objects of Contents$Order, "));
    EXPECT_THAT(ask(target, {"refs", "Order"}).out, HasSubstr("3 objects of Contents$Order\n"));
    EXPECT_THAT(ask(target, {"paths", "Order"}).out, HasSubstr("Contents$Order @0x"));
    const CommandOutput part = ask(target, {"paths", "rder"});
    EXPECT_EQ(part.status, 3);
    EXPECT_THAT(part.err, HasSubstr("no class rder"));
  }
}

// By the address that another view printed; of a dump by the graph, as in the shell.
TEST_P(Contents, OfOneObjectAreReadableByItsAddress) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const std::string order = ask(target, {"instances", "Contents$Order", "--rows", "1"}).out;
    const std::size_t at = order.find(" @0x", order.find("\nContents$Order")) + 1;
    ASSERT_NE(at, std::string::npos + 1) << order;
    const std::string address = order.substr(at + 1, order.find('\n', at) - at - 1);
    const bool live = target == jvm_->pid_text();  // without a stop: it has no --max-stop
    const CommandOutput done =
        live ? must(run_jtrace({"inspect", target, "object", address})) : ask(target, {"object", address});
    if (live && done.status == 3) continue;  // a collection moved it
    EXPECT_THAT(done.out,
                AllOf(HasSubstr("Contents$Order at " + address), HasSubstr("  city = \"K\u00f6ln\""),
                      HasSubstr("password = ********"), HasSubstr("  weight = 1099511627776  (Contents$Item)")))
        << done.err;
  }
}

// A list with what each element holds, and --depth 1 with the elements in full, not the array that has them.
TEST_P(Contents, OfAListAreItsElements) {
  const std::string core = made({"core", jvm_->pid_text()}, "core");
  const std::string order = ask(core, {"instances", "Contents$Order", "--rows", "1"}).out;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(order, found, std::regex("\nContents\\$Order @(0x[0-9a-f]+)"))) << order;
  const std::string held = ask(core, {"refs", found[1]}).out;
  ASSERT_TRUE(std::regex_search(held, found, std::regex("element \\[\\d\\] of java.lang.Object\\[\\]@(0x[0-9a-f]+)")))
      << held;
  const std::string list = ask(core, {"refs", found[1]}).out;
  ASSERT_TRUE(std::regex_search(list, found, std::regex("field elementData of java.util.ArrayList@(0x[0-9a-f]+)")))
      << list;
  const CommandOutput shown = ask(core, {"object", found[1], "--depth", "1"});
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("    \\[0\\] = Contents\\$Order@0x[0-9a-f]+ \\{id=7, city=\"K"));
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("password=\\*\\*\\*"));
  EXPECT_THAT(shown.out, ::testing::ContainsRegex("\n  Contents\\$Order at 0x[0-9a-f]+, [0-9]+ bytes\n    "));
  EXPECT_THAT(shown.out, Not(HasSubstr("\n  java.lang.Object[] at")));
}

TEST_P(Contents, OfAClassTheAddressTellsWhich) {
  const std::string core = made({"core", jvm_->pid_text()}, "core");
  const std::string way = ask(core, {"paths", "Contents$Order", "--rows", "1"}).out;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(way, found, std::regex("class Contents @(0x[0-9a-f]+)"))) << way;
  EXPECT_THAT(ask(core, {"find", found[1]}).out, HasSubstr("an object of class java.lang.Class: that of Contents\n"));
}

json row(const json& document, const std::string& kind, const std::string& of, const std::string& field) {
  for (const json& each : document["data"])
    if (each["kind"] == kind && each["class"] == of && each["field"] == field) return each;
  ADD_FAILURE() << "no " << kind << " " << of << "." << field << " in " << document;
  return {{"references", 0}, {"holders", 0}};
}

TEST_P(Contents, OfStringsAreFoundByText) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const bool live = target == jvm_->pid_text();
    const json labels = inspect_heap(target, live, {"strings", "label of an \u00f6rd?r"});
    ASSERT_EQ(labels["data"].size(), 1u) << labels;
    const json& row = labels["data"][0];
    EXPECT_EQ(row["text"], "label of an \u00f6rder");
    EXPECT_GE(row["strings"], 3);
    EXPECT_LE(row["strings"], 4) << "and that of the class file";
    EXPECT_EQ(row["holder"], "Contents$Order.label");
    const json pins = inspect_heap(target, live, {"strings", "pin of 8"});
    ASSERT_EQ(pins["data"].size(), 1u) << pins;
    EXPECT_EQ(pins["data"][0]["text"], "********") << pins;
    EXPECT_EQ(pins["masked"], 1);
    EXPECT_EQ(inspect_heap(target, live, {"strings", "pin of 8", "--show-secrets"})["data"][0]["text"], "pin of 8");
    const auto texts_of = [&](std::vector<std::string> more) {
      more.insert(more.begin(), {"instances", "java.lang.String", "--rows", "100000"});
      std::map<std::string, int> texts;
      const json document = inspect_heap(target, live, more);
      for (const json& each : document["data"])
        if (each["held"] != "garbage") ++texts[each.value("contents", "")];
      return texts;
    };
    auto hidden = texts_of({}), shown = texts_of({"--show-secrets"});
    EXPECT_EQ(hidden["\"pin of 8\""], 0);
    EXPECT_GE(hidden["********"], 3);
    EXPECT_GE(hidden["\"label of an \u00f6rder\""], 3);
    EXPECT_EQ(shown["\"pin of 8\""], 1);
    const CommandOutput none = ask(target, {"strings", "there is no such text"});
    expect_answered(none, target);
    EXPECT_EQ(none.out, "0 reachable strings, 0 different texts\n");
  }
}

TEST_P(Contents, AreFoundByValue) {
  struct Case {
    const char* value;
    const char* field;
    std::uint64_t count;
  };
  constexpr Case kCases[] = {{"1099511627776", "Contents$Item.weight", 3}, {"-17", "Contents$Order.boxed", 3},
                             {"1.5", "Contents$Order.price", 3},           {"true", "Contents$Order.paid", 3},
                             {"\u00e4", "Contents$Order.letter", 3},       {"0x9", "Contents$Order.id", 1},
                             {"K\u00f6ln", "Contents$Order.city", 3},      {"Wis*", "Contents$Order.river", 3},
                             {"GREEN", "Contents$Order.colour", 3},        {"GREEN", "static Contents$Colour.GREEN", 1},
                             {"1", "static Contents$Never.used", 1}};
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const bool live = target == jvm_->pid_text();
    for (const Case& each : kCases) {
      SCOPED_TRACE(each.value);
      const json answer = inspect_heap(target, live, {"values", each.value, "--class", "Contents*"});
      std::uint64_t count = 0;
      for (const json& row : answer["data"])
        if (row["field"] == each.field) count = row["count"];
      EXPECT_EQ(count, each.count) << each.field << " in " << answer;
    }
    const CommandOutput csv =
        ask(target, {"values", "1099511627776", "--class", "Contents*", "--rows", "1", "--format", "csv"});
    expect_answered(csv, target);
    EXPECT_THAT(csv.out, testing::StartsWith("field,count,objects\nContents$Item.weight,3,\"[\"\"0x"));
    const std::string database = folder_.file("values.db");
    expect_answered(ask(target, {"values", "GREEN", "--format", "sqlite", "-o", database}), target);
    EXPECT_TRUE(must(read_file(database)).starts_with("SQLite format 3"));
    const json parts = inspect_heap(target, live, {"values", "wheel"});
    std::uint64_t elements = 0;
    for (const json& row : parts["data"])
      if (row["field"] == "elements of java.lang.Object[]") elements = row["count"];
    EXPECT_GE(elements, 3u) << parts;
    const CommandOutput none = ask(target, {"values", "no field has this text"});
    expect_answered(none, target);
    EXPECT_EQ(none.out, "0 places with this value, in 0 fields\n");
    EXPECT_EQ(ask(target, {"values", "true", "--class", "nosuch"}).status, 3);
  }
}

TEST_P(Contents, AreKeptByClass) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const bool live = target == jvm_->pid_text();
    const json rows = inspect_heap(target, live, {"dominators", "--by-class"});
    std::uint64_t orders = 0;
    for (const json& row : rows["data"])
      if (row["class"] == "Contents$Order") orders += row["objects"].get<std::uint64_t>();
    EXPECT_EQ(orders, 3u) << "the next ones too";
    const CommandOutput stacks = ask(target, {"dominators", "--format", "collapsed"});
    expect_answered(stacks, target);
    std::uint64_t sum = 0;
    std::istringstream lines(stacks.out);
    for (std::string line; std::getline(lines, line);) sum += std::stoull(line.substr(line.rfind(' ') + 1));
    const json whole = inspect_heap(target, live, {"retained", "--rows", "1"});
    const auto reachable = whole["reachableBytes"].get<std::uint64_t>();
    // A live JVM may have allocated in between.
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(reachable), live ? 65536 : 0);
    const std::string file = folder_.file("heap.speedscope.json"), page = folder_.file("heap.html");
    expect_answered(ask(target, {"dominators", "--format", "speedscope", "-o", file}), target);
    const CommandOutput made = must(run_jtrace({"report", file, "-o", page}));
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_THAT(must(read_file(page)), HasSubstr("Contents$Order"));
  }
}

TEST_P(Contents, AreAskedForInAShellOfOneReading) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    std::vector<std::string> words = {"heap", target, "shell"};
    add_options(target, words);
    const std::string lines =
        "values -17 --class 'Contents*'\n\nnope\nvalues 'x\nstrings \"label of an \u00f6rd?r\" --format "
        "csv\nquit\nleaks\n";
    const CommandOutput done = must(run_jtrace(words, {.input = lines}));
    EXPECT_EQ(done.status, 2) << done.err;
    EXPECT_THAT(done.out, testing::StartsWith("3 places with this value, in 1 field\n"));
    EXPECT_THAT(done.out, HasSubstr("3  Contents$Order.boxed; 0x"));
    EXPECT_THAT(done.out, HasSubstr("\ntext,strings,bytes,holder,fields\nlabel of an \u00f6rder,"));
    EXPECT_THAT(done.out, Not(HasSubstr("leak"))) << "after quit";
    EXPECT_THAT(done.err, HasSubstr("jtrace: no view nope"));
    EXPECT_THAT(done.err, HasSubstr("jtrace: a quote is not closed: values 'x"));
  }
}

TEST_P(Contents, AreReferredToByKnownFields) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const json orders = inspect_heap(target, target == jvm_->pid_text(), {"refs", "Contents$Order"});
    EXPECT_EQ(orders["objects"], 3);
    EXPECT_EQ(row(orders, "elements", "java.lang.Object[]", "")["references"], 3);
    EXPECT_EQ(row(orders, "elements", "java.lang.Object[]", "")["holders"], 1);
    EXPECT_EQ(row(orders, "elements", "java.lang.Object[]", "")["heldBy"], "static Contents.ORDERS");
    EXPECT_EQ(orders["heldBy"], json::parse(R"([{"field": "static Contents.ORDERS", "objects": 3},
                                                {"field": "Contents$Order.next", "objects": 2}])"));
    EXPECT_EQ(row(orders, "field", "Contents$Order", "next")["references"], 2);
    EXPECT_EQ(row(orders, "field", "Contents$Order", "next")["holders"], 2);
    const json shelf = inspect_heap(target, target == jvm_->pid_text(), {"refs", "Contents$Shelf"});
    EXPECT_EQ(row(shelf, "static", "Contents", "SHELF")["references"], 1);
    const CommandOutput text = ask(target, {"refs", "Shelf"});
    expect_answered(text, target);
    EXPECT_THAT(text.out, HasSubstr("1 object of Contents$Shelf\n"));
    EXPECT_THAT(text.out, HasSubstr("static Contents.SHELF\n"));
  }
}

TEST_P(Contents, OfSubclassesCountOnRequest) {
  for (const std::string& target : targets()) {
    SCOPED_TRACE(target);
    const auto asked = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"heap", target});
      add_options(target, words);
      const CommandOutput done = must(run_jtrace(words));
      expect_answered(done, target);
      return done.out;
    };
    EXPECT_EQ(asked({"instances", "Contents$Item"}), "no object of Contents$Item\n");
    EXPECT_THAT(asked({"instances", "Contents$Item", "--subclasses"}),
                HasSubstr("3 objects of Contents$Item and its subclasses, "));
    EXPECT_EQ(without_addresses(asked({"instances", "Contents$Order"})),
              without_addresses(ask(target, {"instances", "Contents$Order"}).out));
    EXPECT_THAT(asked({"refs", "Contents$Item", "--subclasses"}),
                AllOf(HasSubstr("3 objects of Contents$Item and its subclasses\n"), HasSubstr("Contents$Order.next\n"),
                      HasSubstr("static Contents.ORDERS\n")));
    EXPECT_THAT(asked({"instances", "java.lang.Runnable", "--subclasses"}),
                HasSubstr("which classes implement an interface is not in a heap dump"));
  }
}

}  // namespace
}  // namespace jtrace::test
