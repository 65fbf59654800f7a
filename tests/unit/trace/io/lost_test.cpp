// Every attribute of every element, in every format: an attribute that changes nothing in the output is counted as
// lost.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "trace/io/converter.h"
#include "trace/io/sqlite_writer.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

// Two values of each kind; context() defines the ids.
void fill(Text& member, const AttributeInfo& info, bool other) {
  if (info.name == "traceIdRef") member = other ? "u" : "t";
  else if (info.name == "agentIdRef") member = other ? "b" : "a";
  else if (info.type == AttributeType::kUuid) member = other ? "other-id" : "an-id";
  else member = other ? "other words" : "some words";
}
void fill(Number& member, const AttributeInfo& info, bool other) {
  if (info.name == "isArray") member = other ? 2 : 0;
  else member = other ? 60 : 50;
}
void fill(WordList& member, const AttributeInfo&, bool other) { member = other ? 40 : 30; }
void fill(Boolean& member, const AttributeInfo&, bool other) { member = !other; }
void fill(Time& member, const AttributeInfo&, bool other) { member = Time(other ? 5'000'007'000u : 5'000'000'000u); }
void fill(ObjectId& member, const AttributeInfo&, bool other) { member = ObjectId(other ? 10 : 9); }
template <class Kind>
void fill(TypedId<Kind>& member, const AttributeInfo&, bool other) {
  member = TypedId<Kind>(other ? 8 : 7);
}

// An element with every attribute; one of them (`changed`; -1: none) has the other value.
template <class Element>
Element sample(int changed) {
  Element element{};
  int index = 0;
  for_each_attribute(element, [&](const AttributeInfo& info, auto& member) { fill(member, info, index++ == changed); });
  return element;
}

void define(EventSink& sink, Text agent, Text trace) {
  (void)sink.write(AgentCreate{.agentId = agent,
                               .processIdRef = agent == Text("a") ? Text("p") : Text("q"),
                               .agentName = "x",
                               .time = Time(1'000)});
  (void)sink.write(TraceStart{.traceId = trace, .agentIdRef = agent, .time = Time(1'000)});
  for (const std::uint64_t id : {7u, 8u}) {
    const std::string name = "name " + std::to_string(id) + std::string(agent.view());
    (void)sink.write(
        ThreadStart{.threadId = ThreadId(id), .time = Time(1'000), .threadName = name, .traceIdRef = trace});
    (void)sink.write(ClassDef{.classId = ClassId(id), .name = name, .traceIdRef = trace});
    (void)sink.write(MethodDef{.name = name, .classIdRef = ClassId(id), .methodId = MethodId(id), .traceIdRef = trace});
    (void)sink.write(ObjDef{.objId = ObjectId(id + 2), .classIdRef = ClassId(15 - id), .traceIdRef = trace});
  }
}
// What an element needs before it to have a meaning.
template <class Element>
void precede(EventSink& sink) {
  const ThreadId thread(7);
  if constexpr (std::is_same_v<Element, MethodExit>) {
    for (const std::uint64_t each : {8u, 7u})
      (void)sink.write(MethodEntry{.threadIdRef = ThreadId(each),
                                   .time = Time(2'000'000'000u),
                                   .methodIdRef = MethodId(each),
                                   .ticket = 30,
                                   .threadCpuTime = 5,
                                   .traceIdRef = "t"});
  } else if constexpr (std::is_same_v<Element, MonContendedEntered>) {
    for (const std::uint64_t each : {8u, 7u})
      (void)sink.write(
          MonContendedEnter{.threadIdRef = ThreadId(each), .time = Time(2'000'000'000u), .traceIdRef = "t"});
  } else if constexpr (std::is_same_v<Element, MonWaited>) {
    for (const std::uint64_t each : {8u, 7u})
      (void)sink.write(MonWait{.threadIdRef = ThreadId(each), .time = Time(2'000'000'000u), .traceIdRef = "t"});
  } else if constexpr (std::is_same_v<Element, GcFinish>) {
    (void)sink.write(GcStart{.threadIdRef = thread, .time = Time(2'000'000'000u), .traceIdRef = "t"});
  }
}
// What comes after it.
template <class Element>
void follow(EventSink& sink) {
  for (const std::uint64_t each : {7u, 8u}) {
    if constexpr (std::is_same_v<Element, MethodEntry>)
      (void)sink.write(MethodExit{.threadIdRef = ThreadId(each),
                                  .time = Time(9'000'000'000u),
                                  .ticket = 30,
                                  .threadCpuTime = 500,
                                  .traceIdRef = "t"});
    if constexpr (std::is_same_v<Element, MonContendedEnter>)
      (void)sink.write(
          MonContendedEntered{.threadIdRef = ThreadId(each), .time = Time(9'000'000'000u), .traceIdRef = "t"});
    if constexpr (std::is_same_v<Element, MonWait>)
      (void)sink.write(MonWaited{.threadIdRef = ThreadId(each), .time = Time(9'000'000'000u), .traceIdRef = "t"});
  }
  if constexpr (std::is_same_v<Element, GcStart>)
    (void)sink.write(GcFinish{.threadIdRef = ThreadId(7), .time = Time(9'000'000'000u), .traceIdRef = "t"});
}

// Elements that show the names and ids that it has defined, while its own are open.
template <class Element>
void use(EventSink& sink) {
  const auto late = [&](Text trace) {
    (void)sink.write(
        ThreadStart{.threadId = ThreadId(7), .time = Time(6'000'000'000u), .threadName = "late", .traceIdRef = trace});
    (void)sink.write(MethodEntry{
        .threadIdRef = ThreadId(7), .time = Time(6'000'000'000u), .methodIdRef = MethodId(7), .traceIdRef = trace});
  };
  if constexpr (std::is_same_v<Element, Node>)
    (void)sink.write(ProcessCreate{.processId = "late", .pid = 9, .nodeIdRef = "an-id", .time = Time(500)});
  if constexpr (std::is_same_v<Element, ProcessCreate>)
    (void)sink.write(AgentCreate{.agentId = "an-id", .processIdRef = "an-id", .agentName = "x", .time = Time(1'000)});
  if constexpr (std::is_same_v<Element, ProcessCreate> || std::is_same_v<Element, AgentCreate>) {
    (void)sink.write(TraceStart{.traceId = "v", .agentIdRef = "an-id", .time = Time(1'000)});
    late("v");
  }
  if constexpr (std::is_same_v<Element, TraceStart>) late("an-id");
  (void)sink.write(ObjAlloc{.threadIdRef = ThreadId(7),
                            .time = Time(6'000'000'000u),
                            .isArray = 0,
                            .objId = ObjectId(99),
                            .size = 32,
                            .classIdRef = ClassId(7),
                            .traceIdRef = "t"});
}
void use_later(EventSink& sink) {
  const Time begin(10'000'000'000u), end(11'000'000'000u);
  (void)sink.write(
      MonContendedEnter{.threadIdRef = ThreadId(7), .time = begin, .objIdRef = ObjectId(9), .traceIdRef = "t"});
  (void)sink.write(MonContendedEntered{.threadIdRef = ThreadId(7), .time = end, .traceIdRef = "t"});
  (void)sink.write(MethodEntry{.threadIdRef = ThreadId(7),
                               .time = begin,
                               .methodIdRef = MethodId(7),
                               .ticket = 99,
                               .threadCpuTime = 600,
                               .traceIdRef = "t"});
  (void)sink.write(ObjAlloc{
      .threadIdRef = ThreadId(7), .time = end, .isArray = 0, .size = 32, .classIdRef = ClassId(8), .traceIdRef = "t"});
  (void)sink.write(
      MethodExit{.threadIdRef = ThreadId(7), .time = end, .ticket = 99, .threadCpuTime = 900, .traceIdRef = "t"});
}

struct Made {
  std::string bytes;
  std::map<std::string, std::uint64_t> lost;
};
using Convert = std::function<Made(const std::function<void(EventSink&)>&)>;

Convert into_bytes(std::function<std::unique_ptr<Converter>(ByteSink&)> make) {
  return [make](const std::function<void(EventSink&)>& write) {
    MemorySink bytes;
    auto writer = make(bytes);
    write(*writer);
    EXPECT_TRUE(writer->finish());
    return Made{bytes.text(), writer->lost()};
  };
}
// The contents of every table.
std::string dump(const std::string& path) {
  std::string all;
  const auto add = [](void* to, int count, char** cells, char**) {
    for (int i = 0; i < count; ++i) static_cast<std::string*>(to)->append(cells[i] == nullptr ? "-" : cells[i]) += '|';
    return 0;
  };
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  for (const char* table : {"node", "process", "agent", "thread", "class", "method", "event", "gc", "wait", "counter",
                            "option", "allocation", "value", "attribute"})
    EXPECT_EQ(sqlite3_exec(db, (std::string("SELECT * FROM ") + table).c_str(), add, &all, nullptr), SQLITE_OK)
        << table;
  sqlite3_close(db);
  return all;
}
Made into_database(const std::function<void(EventSink&)>& write) {
  const std::string path = ::testing::TempDir() + "jtrace_lost_test." + std::to_string(::getpid());
  auto writer = make_sqlite_writer(path);
  EXPECT_TRUE(writer);
  write(**writer);
  EXPECT_TRUE((*writer)->finish());
  Made made{dump(path), (*writer)->lost()};
  ::unlink(path.c_str());
  return made;
}

// `changed`: an attribute, or with_children.
template <class Element>
Made convert(const Convert& format, int changed, const std::function<void(Element&)>& children = {}) {
  return format([&](EventSink& sink) {
    (void)sink.write(Node{.nodeId = "n", .hostname = "h", .ipaddress = ""});
    std::uint64_t pid = 4;
    for (const char* id : {"p", "q", "an-id", "other-id"})
      if (!std::is_same_v<Element, ProcessCreate> || id[1] == '\0')
        (void)sink.write(ProcessCreate{.processId = id, .pid = pid++, .nodeIdRef = "n", .time = Time(500)});
    define(sink, "b", "u");
    define(sink, "a", "t");
    precede<Element>(sink);
    Element element = sample<Element>(changed);
    if (children) children(element);
    (void)sink.write(element);
    use<Element>(sink);
    follow<Element>(sink);
    use_later(sink);
  });
}

template <class Element>
void check(const std::string& format, const Convert& make) {
  const std::string name(Schema<Element>::name);
  const Made plain = convert<Element>(make, -1);
  if (plain.lost.count(name) != 0) return;  // all of it is counted
  const auto counted = [&](const Made& made, const std::string& attribute) {
    return made.lost.count(name + "@" + attribute) != 0;
  };
  for (std::size_t i = 0; i < Schema<Element>::infos.size(); ++i) {
    const std::string attribute(Schema<Element>::infos[i].name);
    const Made changed = convert<Element>(make, static_cast<int>(i));
    EXPECT_TRUE(changed.bytes != plain.bytes || counted(plain, attribute))
        << format << " neither carries nor counts " << name << "@" << attribute;
  }
  const std::vector<Value> values{Value{.name = "x", .type = "INT", .value = "5"}};
  const InvocationContext context = sample<InvocationContext>(-1);
  const auto child = [&](const std::string& of, const std::function<void(Element&)>& add) {
    const Made with = convert<Element>(make, -1, add);
    EXPECT_TRUE(with.bytes != plain.bytes || counted(with, of)) << format << " drops " << name << "@" << of;
  };
  if constexpr (requires(Element e) { e.values; }) child("value", [&](Element& e) { e.values = values; });
  if constexpr (requires(Element e) { e.invocationContext; })
    child("InvocationContext", [&](Element& e) { e.invocationContext = &context; });
  if constexpr (requires(Element e) { e.text; }) child("text", [&](Element& e) { e.text = "inline"; });
  if constexpr (requires(Element e) { e.items; }) {
    const std::vector<MethodBodyItem> items{{Code{.value = "x"}}};
    child("items", [&](Element& e) { e.items = items; });
  }
}

void check_all(const std::string& format, const Convert& make) {
#define JTRACE_ELEMENT(Struct, name, content, description) check<Struct>(format, make);
#include "trace/elements.def"
}

TEST(Lost, JsonLines) { check_all("jsonl", into_bytes(make_jsonl_writer)); }
TEST(Lost, Chrome) { check_all("chrome", into_bytes(make_chrome_writer)); }
TEST(Lost, Speedscope) {
  check_all("speedscope", into_bytes([](ByteSink& bytes) { return make_speedscope_writer(bytes, "x"); }));
}
TEST(Lost, Collapsed) {
  for (const Weight weight : {Weight::kWall, Weight::kCpu, Weight::kAllocation})
    check_all("collapsed", into_bytes([weight](ByteSink& bytes) { return make_collapsed_writer(bytes, weight); }));
}
TEST(Lost, Sddf) { check_all("sddf", into_bytes(make_sddf_writer)); }
TEST(Lost, Sqlite) {
  check_all("sqlite", into_database);
  // Children that were once dropped have a table.
  const std::vector<Value> values{Value{.name = "count", .type = "INT", .value = "12345"}};
  const Made made = convert<MethodEntry>(into_database, -1, [&](MethodEntry& entry) { entry.values = values; });
  EXPECT_NE(made.bytes.find("|count|INT|12345|"), std::string::npos);
  EXPECT_TRUE(made.lost.empty());
}

}  // namespace
}  // namespace jtrace::trace::io
