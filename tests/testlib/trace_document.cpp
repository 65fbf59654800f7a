#include "tests/testlib/trace_document.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/file.h"

namespace jtrace::test {
namespace {

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xF0 << (3 - extra) & 0xFF) | (code >> (6 * extra)));
  for (int i = extra - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

std::string unescape(std::string_view text) {
  static const std::map<std::string_view, char> kNamed{
      {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
  std::string result;
  while (!text.empty()) {
    const std::size_t at = text.find('&');
    const std::size_t end = text.find(';', at);
    result.append(text.substr(0, at));
    if (at == std::string_view::npos || end == std::string_view::npos) break;
    const std::string_view entity = text.substr(at + 1, end - at - 1);
    if (const auto named = kNamed.find(entity); named != kNamed.end()) {
      result += named->second;
    } else if (entity.size() > 1 && entity[0] == '#') {
      const bool hex = entity[1] == 'x';
      std::uint32_t code = 0;
      std::from_chars(entity.data() + (hex ? 2 : 1), entity.data() + entity.size(), code, hex ? 16 : 10);
      append_utf8(result, code);
    }
    text.remove_prefix(end + 1);
  }
  return result;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Reads tags one after the other and keeps the open ones on a stack.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<TraceElement>> parse() {
    open_.emplace_back();
    for (std::size_t at; (at = text_.find('<', position_)) != std::string_view::npos;) {
      position_ = at;
      JTRACE_RETURN_IF_ERROR(tag());
    }
    if (open_.size() != 1) return fault("<" + open_.back().name + "> is not closed");
    return std::move(open_.front().children);
  }

 private:
  Result<> tag() {
    if (text_.substr(position_, 4) == "<!--") return skip_to("-->");
    if (text_.substr(position_, 2) == "<?") return skip_to("?>");
    if (text_.substr(position_, 2) == "<!") return skip_to(">");
    const std::size_t end = text_.find('>', position_);  // jtrace's writers escape '>' in attributes
    if (end == std::string_view::npos) return fault("a tag is cut");
    std::string_view inside = text_.substr(position_ + 1, end - position_ - 1);
    if (inside[0] == '/') {
      JTRACE_RETURN_IF_ERROR(close(inside.substr(1)));
    } else {
      const bool empty = inside.back() == '/';
      if (empty) inside.remove_suffix(1);
      JTRACE_RETURN_IF_ERROR(begin(inside));
      if (empty) JTRACE_RETURN_IF_ERROR(close(open_.back().name));
    }
    position_ = end + 1;
    return {};
  }

  Result<> skip_to(std::string_view end) {
    const std::size_t at = text_.find(end, position_);
    if (at == std::string_view::npos) return fault("'" + std::string(end) + "' is missing");
    position_ = at + end.size();
    return {};
  }

  Result<> begin(std::string_view inside) {
    TraceElement element;
    std::size_t at = 0;
    while (at < inside.size() && !is_space(inside[at])) ++at;
    element.name = inside.substr(0, at);
    while (true) {
      while (at < inside.size() && is_space(inside[at])) ++at;
      if (at >= inside.size()) break;
      const std::size_t equals = inside.find("=\"", at);
      const std::size_t quote = equals == std::string_view::npos ? equals : inside.find('"', equals + 2);
      if (quote == std::string_view::npos) return fault("an attribute of <" + element.name + "> is cut");
      element.attributes.emplace_back(inside.substr(at, equals - at),
                                      unescape(inside.substr(equals + 2, quote - equals - 2)));
      at = quote + 1;
    }
    open_.push_back(std::move(element));
    return {};
  }

  Result<> close(std::string_view name) {
    if (open_.size() < 2 || open_.back().name != name) return fault("</" + std::string(name) + "> closes nothing");
    TraceElement element = std::move(open_.back());
    open_.pop_back();
    open_.back().children.push_back(std::move(element));
    return {};
  }

  tl::unexpected<Error> fault(const std::string& what) const {
    return fail(ErrorCategory::kMalformed, "reading a trace at byte " + std::to_string(position_) + ": " + what);
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<TraceElement> open_;
};

class Faults {
 public:
  void add(const TraceElement& element, std::size_t index, const std::string& what) {
    if (lines_.size() >= 20) return;
    std::string line = "event " + std::to_string(index) + " <" + element.name;
    for (const auto& [key, value] : element.attributes) line += " " + key + "=\"" + value + "\"";
    lines_.push_back(line + ">: " + what);
  }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::vector<std::string> lines_;
};

// Elements without collationValue, by the DTD and jtrace's table of extensions.
bool can_be_collated(const std::string& name) {
  static const std::set<std::string> kNot{"TRACE",         "node",   "processCreate", "agentCreate",
                                          "agentDestroy",  "option", "filter",        "processSuspend",
                                          "processResume", "code",   "tag",           "methodBody"};
  return !kNot.contains(name);
}

struct Rule {
  const char* attribute;
  const char* kind;
};
// Attributes that refer to ids, with the kind of id.
constexpr Rule kReferences[] = {
    {"nodeIdRef", "node"},
    {"processIdRef", "process"},
    {"agentIdRef", "agent"},
    {"traceIdRef", "trace"},
    {"threadIdRef", "thread"},
    {"threadOwner", "thread"},
    {"classIdRef", "class"},
    {"transientClassIdRef", "class"},
    {"transcientClassIdRef", "class"},
    {"methodIdRef", "method"},
    {"objIdRef", "object"},
    {"transientObjIdRef", "object"},
    {"transcientObjIdRef", "object"},
};
struct Definition {
  const char* element;
  const char* attribute;
  const char* kind;
};
constexpr Definition kDefinitions[] = {
    {"node", "nodeId", "node"},          {"processCreate", "processId", "process"}, {"agentCreate", "agentId", "agent"},
    {"traceStart", "traceId", "trace"},  {"threadStart", "threadId", "thread"},     {"classDef", "classId", "class"},
    {"methodDef", "methodId", "method"}, {"objAlloc", "objId", "object"},           {"objDef", "objId", "object"},
};

// The format's words for "no object": none, Thread.sleep, an exception whose object is not known; 0 owns no monitor.
bool refers_to_nothing(const Rule& rule, const std::string& value) {
  if (std::string_view(rule.attribute) == "threadOwner") return value == "0";
  return std::string_view(rule.kind) == "object" && (value == "0" || value == "-1" || value == "-Unavailable-");
}

using Ids = std::map<std::string, std::set<std::string>>;

void check_references(const TraceElement& element, std::size_t index, const Ids& ids, Faults& faults) {
  for (const Rule& rule : kReferences) {
    const std::string value = element.get(rule.attribute);
    if (value.empty() || refers_to_nothing(rule, value)) continue;
    const auto known = ids.find(rule.kind);
    if (known == ids.end() || !known->second.contains(value))
      faults.add(element, index, std::string(rule.attribute) + " " + value + " is not defined before");
  }
  for (const TraceElement& child : element.children) check_references(child, index, ids, faults);
}

// Starts and ends of one kind for one thread: one end more may come first, one start more may come last.
class Pairing {
 public:
  // The fault of this half, or "".
  std::string take(bool start) {
    if (start == open_ && seen_) return start ? "starts while it is open" : "ends what had not started";
    seen_ = true;
    open_ = start;
    return {};
  }

 private:
  bool seen_ = false;
  bool open_ = false;
};

constexpr std::pair<const char*, const char*> kPairs[] = {
    {"monWait", "monWaited"}, {"monContendedEnter", "monContendedEntered"}, {"gcStart", "gcFinish"}};

}  // namespace

bool TraceElement::has(std::string_view attribute) const {
  return std::any_of(attributes.begin(), attributes.end(), [&](const auto& pair) { return pair.first == attribute; });
}

std::string TraceElement::get(std::string_view attribute) const {
  for (const auto& [key, value] : attributes)
    if (key == attribute) return value;
  return {};
}

std::uint64_t TraceElement::number(std::string_view attribute) const {
  return std::strtoull(get(attribute).c_str(), nullptr, 10);
}

Result<TraceDocument> TraceDocument::parse(std::string_view text) {
  TraceDocument document;
  JTRACE_ASSIGN_OR_RETURN(document.events_, Parser(text).parse());
  if (document.events_.size() == 1 && document.events_[0].name == "TRACE") {
    std::vector<TraceElement> children = std::move(document.events_[0].children);
    document.events_ = std::move(children);
  }
  return document;
}

Result<TraceDocument> TraceDocument::read(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_file(path, std::size_t{4} << 30));
  return parse(text);
}

std::size_t TraceDocument::count(std::string_view name) const { return all(name).size(); }

std::vector<const TraceElement*> TraceDocument::all(std::string_view name) const {
  std::vector<const TraceElement*> result;
  for (const TraceElement& element : events_)
    if (element.name == name) result.push_back(&element);
  return result;
}

std::string TraceDocument::option(std::string_view key) const {
  std::string value;
  for (const TraceElement* element : all("option"))
    if (element->get("key") == key) value = element->get("value");
  return value;
}

std::map<std::string, std::size_t> TraceDocument::counts() const {
  std::map<std::string, std::size_t> result;
  for (const TraceElement& element : events_) ++result[element.name];
  return result;
}

std::vector<std::string> TraceDocument::id_faults() const {
  Faults faults;
  Ids ids;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    check_references(events_[i], i, ids, faults);
    for (const Definition& definition : kDefinitions) {
      if (events_[i].name != definition.element || !events_[i].has(definition.attribute)) continue;
      if (!ids[definition.kind].insert(events_[i].get(definition.attribute)).second)
        faults.add(events_[i], i, std::string(definition.attribute) + " is defined a second time");
    }
  }
  return faults.take();
}

std::vector<std::string> TraceDocument::collation_faults() const {
  Faults faults;
  std::uint64_t last = 0;
  bool inside = false;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const TraceElement& element = events_[i];
    if (!can_be_collated(element.name)) continue;
    if (element.name == "traceStart") {
      last = 0;
      inside = true;
    }
    if (!inside) faults.add(element, i, "is outside of traceStart and traceEnd");
    if (element.number("collationValue") != last + 1)
      faults.add(element, i, "collationValue does not follow " + std::to_string(last));
    last = element.number("collationValue");
    if (element.name == "traceEnd") inside = false;
  }
  return faults.take();
}

std::vector<std::string> TraceDocument::balance_faults() const {
  Faults faults;
  std::map<std::string, Pairing> pairings;
  std::set<std::string> ended;
  std::map<std::string, int> spans;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const TraceElement& element = events_[i];
    ++spans[element.name];
    if (element.name == "threadEnd" && !ended.insert(element.get("threadIdRef")).second)
      faults.add(element, i, "the thread ends a second time");
    for (const auto& [start, end] : kPairs) {
      if (element.name != start && element.name != end) continue;
      const std::string who =
          std::string(start) + (element.name.rfind("mon", 0) == 0 ? element.get("threadIdRef") : "");
      const std::string wrong = pairings[who].take(element.name == start);
      if (!wrong.empty()) faults.add(element, i, wrong);
    }
  }
  for (const auto& [start, end] : {std::pair("agentCreate", "agentDestroy"), std::pair("traceStart", "traceEnd")})
    if (spans[start] != 1 || spans[end] != 1)
      faults.add({}, events_.size(),
                 std::string(start) + " " + std::to_string(spans[start]) + " times, " + end + " " +
                     std::to_string(spans[end]) + " times");
  return faults.take();
}

std::vector<std::string> TraceDocument::time_faults() const {
  static const std::set<std::string> kTimed{"threadEnd", "gcStart",  "gcFinish",          "monWait",
                                            "monWaited", "objAlloc", "monContendedEnter", "monContendedEntered"};
  Faults faults;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    if (!kTimed.contains(events_[i].name)) continue;
    const std::uint64_t time = nanoseconds_of(events_[i].get("time"));
    if (time < last) faults.add(events_[i], i, "is earlier than the event before it");
    last = time;
  }
  return faults.take();
}

std::vector<std::string> TraceDocument::faults() const {
  std::vector<std::string> result;
  for (const auto& some : {id_faults(), collation_faults(), balance_faults(), time_faults()})
    result.insert(result.end(), some.begin(), some.end());
  return result;
}

std::uint64_t nanoseconds_of(std::string_view time) {
  const std::size_t dot = time.find('.');
  std::string digits(time.substr(0, dot));
  std::string fraction(dot == std::string_view::npos ? "" : time.substr(dot + 1));
  fraction.resize(9, '0');
  return std::strtoull((digits + fraction).c_str(), nullptr, 10);
}

}  // namespace jtrace::test
