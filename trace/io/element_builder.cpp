#include "trace/io/element_builder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <unordered_map>

#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

constexpr std::uint64_t kNanosPerSecond = 1'000'000'000;
// values.h uses 2^64-1 for "absent".
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint64_t>::max() - 1;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const auto number = parse_decimal<std::uint64_t>(text);
  return number && *number <= kMaxNumber ? number : std::nullopt;
}

using Setter = bool (*)(void* element, std::string_view text, TextArena& arena);

bool parse_into(Text& member, std::string_view text, AttributeType type, TextArena& arena) {
  if (type == AttributeType::kMethodName) {
    if (text == "-init-") text = "<init>";
    if (text == "-clinit-") text = "<clinit>";
  }
  member = arena.copy(text);
  return true;
}
bool parse_into(Number& member, std::string_view text, AttributeType, TextArena&) {
  const auto number = parse_number(text);
  if (number) member = *number;
  return number.has_value();
}
bool parse_into(WordList& member, std::string_view text, AttributeType, TextArena&) {
  const auto number = parse_words(text);
  if (number) member = *number;
  return number.has_value();
}
bool parse_into(Time& member, std::string_view text, AttributeType, TextArena&) {
  const auto ns = parse_time(text);
  if (ns) member = Time(*ns);
  return ns.has_value();
}
bool parse_into(Boolean& member, std::string_view text, AttributeType, TextArena&) {
  if (text != "true" && text != "false") return false;
  member = text == "true";
  return true;
}
template <class Kind>
bool parse_into(TypedId<Kind>& member, std::string_view text, AttributeType, TextArena&) {
  const auto number = parse_number(text);
  if (number) member = TypedId<Kind>(*number);
  return number.has_value();
}
bool parse_into(ObjectId& member, std::string_view text, AttributeType, TextArena&) {
  if (text == "-1") member = ObjectId::sleep();
  else if (text == "-Unavailable-") member = ObjectId::unavailable();
  else if (const auto number = parse_number(text)) member = ObjectId(*number);
  else return false;
  return true;
}

template <class Element, std::size_t Index>
bool set_member(void* element, std::string_view text, TextArena& arena) {
  return parse_into(static_cast<Element*>(element)->*kMember<Element, Index>, text, Schema<Element>::infos[Index].type,
                    arena);
}
template <class Element, std::size_t Index>
bool has_member(const void* element) {
  return is_present(static_cast<const Element*>(element)->*kMember<Element, Index>);
}

struct Field {
  std::string_view name;
  Setter set;
  bool (*has)(const void* element);
};
template <class Element>
struct Fields {
  template <std::size_t... I>
  static constexpr auto make(std::index_sequence<I...>) {
    return std::array<Field, sizeof...(I)>{
        Field{Schema<Element>::infos[I].name, set_member<Element, I>, has_member<Element, I>}...};
  }
  static constexpr auto table = make(std::make_index_sequence<Schema<Element>::infos.size()>());
};

template <class Element>
void* emplace(Event& event) {
  return &event.emplace<Element>();
}
struct Maker {
  void* (*emplace)(Event& event);
  std::span<const Field> fields;
};
constexpr std::array<Maker, kElementCount> kMakers = {{
#define JTRACE_ELEMENT(Struct, name, content, description) {emplace<Struct>, Fields<Struct>::table},
#include "trace/elements.def"
}};
const Maker& maker(ElementKind kind) { return kMakers[static_cast<std::size_t>(kind)]; }

// Other spellings: those of the original DTD's comments, where they differ from its declarations
// (docs/trace_format.md).
struct Alias {
  std::string_view written;
  std::string_view declared;
};
constexpr Alias kAliases[] = {
    {"signatureNotation", "signitureNotation"},      {"transientClassIdRef", "transcientClassIdRef"},
    {"transcientClassIdRef", "transientClassIdRef"}, {"transientObjIdRef", "transcientObjIdRef"},
    {"transcientObjIdRef", "transientObjIdRef"},     {"threadIdRef", "threadId"},
    {"transientThreadId", "transientThreadIdRef"},   {"transientThreadIdRef", "transientThreadId"},
};

std::optional<std::size_t> find_field(std::span<const Field> fields, std::string_view name) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return i;
  return std::nullopt;
}
std::optional<std::size_t> find_any_spelling(std::span<const Field> fields, std::string_view name) {
  if (const auto found = find_field(fields, name)) return found;
  for (const Alias& alias : kAliases) {
    if (alias.written != name) continue;
    if (const auto found = find_field(fields, alias.declared)) return found;
  }
  return std::nullopt;
}

// Attributes that the DTD declares as CDATA, and whose text allows only a few words.
struct Words {
  std::string_view attribute;
  std::string_view text;
  std::array<std::string_view, 3> words;
};
constexpr Words kFilterWords[] = {
    {"genericPattern", "none, prefix or suffix", {"none", "prefix", "suffix"}},
    {"methodGenericPattern", "none, prefix or suffix", {"none", "prefix", "suffix"}},
    {"mode", "include or exclude", {"include", "exclude", ""}},
};
const Words* find_words(ElementKind kind, std::string_view attribute) {
  if (kind != ElementKind::kFilter) return nullptr;
  const auto* const found = std::find_if(std::begin(kFilterWords), std::end(kFilterWords),
                                         [&](const Words& each) { return each.attribute == attribute; });
  return found == std::end(kFilterWords) ? nullptr : found;
}
// Other producers write these in capitals.
bool lists(const Words& list, std::string_view value) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return !value.empty() && std::any_of(list.words.begin(), list.words.end(), [&](std::string_view word) {
    return std::equal(word.begin(), word.end(), value.begin(), value.end(),
                      [&](char a, char b) { return a == lower(b); });
  });
}

bool takes(Content content, ElementKind child) {
  switch (content) {
    case Content::kEmpty:
    case Content::kText: return false;
    case Content::kEntry: return child == ElementKind::kInvocationContext || child == ElementKind::kValue;
    case Content::kValues: return child == ElementKind::kValue;
    case Content::kBody:
      return child == ElementKind::kMethodCall || child == ElementKind::kMethodReturn || child == ElementKind::kValue ||
             child == ElementKind::kObjDef || child == ElementKind::kCode;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> parse_time(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto seconds = parse_decimal<std::uint64_t>(text.substr(0, point));
  if (!seconds || *seconds >= kMaxNumber / kNanosPerSecond) return std::nullopt;
  if (point == std::string_view::npos) return *seconds * kNanosPerSecond;
  const std::string_view decimals = text.substr(point + 1);
  if (decimals.empty()) return std::nullopt;
  std::uint64_t ns = 0;
  for (std::size_t i = 0; i < std::max<std::size_t>(decimals.size(), 9); ++i) {
    const char digit = i < decimals.size() ? decimals[i] : '0';
    if (digit < '0' || digit > '9') return std::nullopt;
    if (i < 9) ns = ns * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return *seconds * kNanosPerSecond + ns;
}

std::optional<std::uint64_t> parse_words(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return parse_number(text);
  const auto low = parse_decimal<std::uint32_t>(text.substr(0, comma));
  const auto high = parse_decimal<std::uint32_t>(text.substr(comma + 1));
  if (!low || !high) return std::nullopt;
  const std::uint64_t value = (std::uint64_t{*high} << 32) | *low;
  return value <= kMaxNumber ? std::optional(value) : std::nullopt;
}

std::optional<ElementKind> element_of_any_spelling(std::string_view name) {
  static const auto* const names = [] {
    auto* map = new std::unordered_map<std::string_view, ElementKind>;
    for (const ElementInfo& element : kElements) map->emplace(element.name, element.kind);
    map->emplace("VALUE", ElementKind::kValue);
    map->emplace("invocationContext", ElementKind::kInvocationContext);
    map->emplace("method", ElementKind::kMethodDef);  // the root's model has this name, but nothing declares it
    return map;
  }();
  const auto found = names->find(name);
  return found == names->end() ? std::nullopt : std::optional(found->second);
}

std::string_view TextArena::copy(std::string_view text) {
  if (text.size() > kChunk / 4) {
    larger_.emplace_back(new char[text.size()]);
    std::memcpy(larger_.back().get(), text.data(), text.size());
    return {larger_.back().get(), text.size()};
  }
  if (used_ + text.size() > kChunk || chunks_.empty()) {
    if (!chunks_.empty()) ++chunk_;
    if (chunk_ == chunks_.size()) chunks_.emplace_back(new char[kChunk]);
    used_ = 0;
  }
  char* at = chunks_[chunk_].get() + used_;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return {at, text.size()};
}

void TextArena::reset() {
  chunk_ = 0;
  used_ = 0;
  larger_.clear();
}

bool ElementBuilder::begin(ElementKind kind) {
  if (depth_ == 0) {
    arena_.reset();
    kept_values_.clear();
    kept_contexts_.clear();
    children_ = 0;
  } else if (depth_ == kMaxDepth || !takes(element_info(open_kind()).content, kind) || ++children_ > kMaxChildren) {
    return false;
  }
  Frame& frame = frames_[depth_++];
  frame.kind = kind;
  frame.element = maker(kind).emplace(frame.event);
  frame.values.clear();
  frame.items.clear();
  frame.text.clear();
  last_attribute_ = 0;
  return true;
}

ElementBuilder::Set ElementBuilder::set(std::string_view name, std::string_view value) {
  Frame& frame = frames_[depth_ - 1];
  const std::span<const Field> fields = maker(frame.kind).fields;
  std::uint8_t& expected = next_[static_cast<std::size_t>(frame.kind)][last_attribute_];
  if (expected == 0 || fields[expected - 1u].name != name) {
    const auto found = find_any_spelling(fields, name);
    if (!found) return Set::kUnknown;
    expected = static_cast<std::uint8_t>(*found + 1);
  }
  last_attribute_ = expected;
  if (!fields[expected - 1u].set(frame.element, value, arena_)) return Set::kBad;
  const Words* const listed = find_words(frame.kind, fields[expected - 1u].name);
  return listed == nullptr || lists(*listed, value) ? Set::kDone : Set::kUnlisted;
}

std::string_view ElementBuilder::words_for(std::string_view attribute) const {
  const Words* const listed = find_words(open_kind(), attribute);
  return listed == nullptr ? std::string_view() : listed->text;
}

bool ElementBuilder::add_text(std::string_view text) {
  Frame& frame = frames_[depth_ - 1];
  if (element_info(frame.kind).content != Content::kText) return false;
  frame.text += text;
  return true;
}

const AttributeInfo* ElementBuilder::missing() const {
  const Frame& frame = frames_[depth_ - 1];
  const ElementInfo& info = element_info(frame.kind);
  for (std::size_t i = 0; i < info.attributes.size(); ++i) {
    if (info.attributes[i].presence == Presence::kRequired && !maker(frame.kind).fields[i].has(frame.element))
      return &info.attributes[i];
  }
  return nullptr;
}

// Stores the children collected while the element was open as its members.
void ElementBuilder::attach_children(Frame& frame) {
  std::visit(
      [&](auto& element) {
        if constexpr (requires { element.values; }) {
          if (depth_ == 1) element.values = frame.values;
          else if (!frame.values.empty()) element.values = kept_values_.emplace_back(std::move(frame.values));
        }
        if constexpr (requires { element.items; }) element.items = frame.items;
        if constexpr (requires { element.text; }) {
          if (!frame.text.empty()) element.text = arena_.copy(frame.text);
        }
      },
      frame.event);
}

bool ElementBuilder::add_child(Frame& parent, Frame& child) {
  if (child.kind == ElementKind::kInvocationContext) {
    auto& entry = std::get<MethodEntry>(parent.event);
    entry.invocationContext = &kept_contexts_.emplace_back(std::get<InvocationContext>(child.event));
    return true;
  }
  if (parent.kind != ElementKind::kMethodBody) {
    parent.values.push_back(std::get<Value>(child.event));
    return true;
  }
  std::visit(
      [&](auto& element) {
        if constexpr (requires { MethodBodyItem{element}; }) parent.items.push_back(MethodBodyItem{element});
      },
      child.event);
  return true;
}

const Event* ElementBuilder::end() {
  Frame& frame = frames_[depth_ - 1];
  if (element_info(frame.kind).content != Content::kEmpty) attach_children(frame);
  --depth_;
  if (depth_ == 0) return &frame.event;
  add_child(frames_[depth_ - 1], frame);
  return nullptr;
}

void ElementBuilder::drop() { --depth_; }

}  // namespace jtrace::trace::io
