#include "sampling/jfr_metadata.h"

#include <map>
#include <utility>
#include <vector>

#include "sampling/jfr_bytes.h"

namespace jtrace::sampling::jfr {
namespace {

constexpr std::uint64_t kId = 0x6a7472616365;  // of the metadata; a reader keeps those of one id

// An element of the tree: names and values are numbers of texts.
struct Element {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<Element> children;
};

class Texts {
 public:
  std::uint64_t number_of(const std::string& text) {
    const auto [known, fresh] = numbers_.try_emplace(text, numbers_.size());
    if (fresh) texts_.string(text);
    return known->second;
  }
  void put(JfrBytes& bytes) const { bytes.number(numbers_.size()).raw(texts_.text()); }

 private:
  std::map<std::string, std::uint64_t> numbers_;
  JfrBytes texts_;
};

void put(JfrBytes& bytes, Texts& texts, const Element& element) {
  bytes.number(texts.number_of(element.name)).number(element.attributes.size());
  for (const auto& [name, value] : element.attributes)
    bytes.number(texts.number_of(name)).number(texts.number_of(value));
  bytes.number(element.children.size());
  for (const Element& child : element.children) put(bytes, texts, child);
}

Element annotation(Type type, const std::string& value) {
  return {"annotation", {{"class", std::to_string(type)}, {"value", value}}, {}};
}

enum class Many { kOne, kList };

Element field(const std::string& name, Type type, Many many = Many::kOne) {
  Element element{"field", {{"name", name}, {"class", std::to_string(type)}}, {}};
  const bool pool = type == kThread || type == kClass || type == kFrameType || type == kThreadState ||
                    type == kStackTrace || type == kMethod || type == kSymbol;
  if (pool) element.attributes.push_back({"constantPool", "true"});
  if (many == Many::kList) element.attributes.push_back({"dimension", "1"});
  return element;
}

Element type(Type id, const std::string& name, std::vector<Element> children = {}, const std::string& super = "",
             bool simple = false) {
  Element element{"class", {{"name", name}, {"id", std::to_string(id)}}, std::move(children)};
  if (!super.empty()) element.attributes.push_back({"superType", super});
  if (simple) element.attributes.push_back({"simpleType", "true"});
  return element;
}

Element annotation_type(Type id, const std::string& name) {
  return type(id, name, {field("value", kString)}, "java.lang.annotation.Annotation");
}

Element event(Type id, const std::string& name, const std::string& label, std::vector<Element> further) {
  Element start = field("startTime", kLong);
  start.children = {annotation(kLabel, "Start Time"), annotation(kTimestamp, "TICKS")};
  std::vector<Element> children = {annotation(kLabel, label), std::move(start)};
  for (Element& element : further) children.push_back(std::move(element));
  return type(id, name, std::move(children), "jdk.jfr.Event");
}

Element wait(Type id, const std::string& name, const std::string& label, std::vector<Element> further = {}) {
  Element duration = field("duration", kLong);
  duration.children = {annotation(kLabel, "Duration"), annotation(kTimespan, "TICKS")};
  std::vector<Element> fields = {std::move(duration), field("eventThread", kThread), field("stackTrace", kStackTrace)};
  for (Element& element : further) fields.push_back(std::move(element));
  return event(id, name, label, std::move(fields));
}

std::vector<Element> types() {
  return {
      type(kBoolean, "boolean"),
      type(kInt, "int"),
      type(kLong, "long"),
      type(kString, "java.lang.String"),
      annotation_type(kTimestamp, "jdk.jfr.Timestamp"),
      annotation_type(kTimespan, "jdk.jfr.Timespan"),
      annotation_type(kLabel, "jdk.jfr.Label"),
      type(kSymbol, "jdk.types.Symbol", {field("string", kString)}, "", true),
      type(kFrameType, "jdk.types.FrameType", {field("description", kString)}, "", true),
      type(kThreadState, "jdk.types.ThreadState", {field("name", kString)}, "", true),
      type(kClass, "java.lang.Class", {field("name", kSymbol), field("modifiers", kInt)}),
      type(kThread, "java.lang.Thread",
           {field("osName", kString), field("osThreadId", kLong), field("javaName", kString),
            field("javaThreadId", kLong)}),
      type(kMethod, "jdk.types.Method",
           {field("type", kClass), field("name", kSymbol), field("descriptor", kSymbol), field("modifiers", kInt),
            field("hidden", kBoolean)}),
      type(kStackFrame, "jdk.types.StackFrame",
           {field("method", kMethod), field("lineNumber", kInt), field("bytecodeIndex", kInt),
            field("type", kFrameType)}),
      type(kStackTrace, "jdk.types.StackTrace",
           {field("truncated", kBoolean), field("frames", kStackFrame, Many::kList)}),
      event(kExecutionSample, "jdk.ExecutionSample", "Method Profiling Sample",
            {field("sampledThread", kThread), field("stackTrace", kStackTrace), field("state", kThreadState)}),
      wait(kThreadPark, "jdk.ThreadPark", "Java Thread Park"),
      wait(kMonitorEnter, "jdk.JavaMonitorEnter", "Java Monitor Blocked"),
      wait(kMonitorWait, "jdk.JavaMonitorWait", "Java Monitor Wait"),
      wait(kThreadSleep, "jdk.ThreadSleep", "Java Thread Sleep"),
      wait(kOffCpu, "jtrace.OffCpu", "Off CPU", {field("kind", kString)}),
  };
}

}  // namespace

Type event_of(WaitKind wait) {
  switch (wait) {
    case WaitKind::kNone: return kExecutionSample;
    case WaitKind::kPark: return kThreadPark;
    case WaitKind::kMonitor: return kMonitorEnter;
    case WaitKind::kWait: return kMonitorWait;
    case WaitKind::kSleep: return kThreadSleep;
    default: return kOffCpu;
  }
}

std::string metadata(std::uint64_t time, std::uint64_t duration) {
  const Element root{
      "root", {}, {{"metadata", {}, types()}, {"region", {{"locale", "en_US"}, {"gmtOffset", "0"}}, {}}}};
  Texts texts;
  JfrBytes tree, bytes;
  put(tree, texts, root);
  bytes.number(kMetadata).number(time).number(duration).number(kId);
  texts.put(bytes);
  return bytes.raw(tree.text()).as_event();
}

}  // namespace jtrace::sampling::jfr
