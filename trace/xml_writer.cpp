#include "trace/xml_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "trace/xml_escape.h"

namespace jtrace::trace {

// Formats one element: the room it needs at most, and its text. `out` has that room.
struct XmlFormat {
  XmlWriter& writer;
  // Copied: otherwise the compiler would read the writer's members again after every character written.
  const bool strict = writer.strict_;
  const bool single_trace = writer.options_.single_trace;

  // Indices of the attributes in the order in which they are written.
  template <class Element>
  static constexpr auto written_order() {
    constexpr auto infos = Schema<Element>::infos;
    std::array<std::size_t, infos.size()> order{};
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto group = [&](std::size_t i) {
      if (infos[i].presence == Presence::kExtension) return 2;
      return infos[i].rank == 0 ? 1 : 0;
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(group(a), infos[a].rank, a) < std::tuple(group(b), infos[b].rank, b);
    });
    return order;
  }

  template <std::size_t N>
  static char* put(char* out, const std::array<char, N>& text) {
    std::memcpy(out, text.data(), N);
    return out + N;
  }
  static char* put(char* out, std::string_view text) {
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
  }

  template <class Element>
  static constexpr auto element_start() {
    constexpr std::string_view name = Schema<Element>::name;
    std::array<char, name.size() + 1> text{'<'};
    std::copy(name.begin(), name.end(), text.begin() + 1);
    return text;
  }

  // ` name="` as an array, so that copying it takes a store or two.
  template <class Element, std::size_t Index>
  static constexpr auto attribute_start() {
    constexpr std::string_view name = Schema<Element>::infos[Index].name;
    std::array<char, name.size() + 3> text{};
    text[0] = ' ';
    std::copy(name.begin(), name.end(), text.begin() + 1);
    text[name.size() + 1] = '=';
    text[name.size() + 2] = '"';
    return text;
  }

  // -- room
  // ------------------------------------------------------------------------------------------------------------

  static std::size_t text_room(Text text) { return text.present() ? text.view().size() * kEscapeGrowth : 0; }

  // Names, quotes and everything else that is not text.
  template <class Element>
  static constexpr std::size_t fixed_room() {
    std::size_t room = 2 * Schema<Element>::name.size() + 16;  // <name ... ></name>, newline
    for (const AttributeInfo& info : Schema<Element>::infos) room += info.name.size() + 4 + kMaxDigits;
    return room;
  }

  template <class Element>
  static std::size_t room(const Element& element) {
    std::size_t size = fixed_room<Element>();
    for_each_attribute(element, [&](const AttributeInfo&, const auto& member) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, Text>) size += text_room(member);
    });
    if constexpr (requires { element.invocationContext; })
      size += element.invocationContext ? room(*element.invocationContext) : fixed_room<InvocationContext>();
    if constexpr (requires { element.values; })
      for (const Value& value : element.values) size += room(value);
    if constexpr (requires { element.items; })
      for (const MethodBodyItem& item : element.items)
        size += std::visit([](const auto& child) { return room(child); }, item.element);
    if constexpr (requires { element.text; }) size += text_room(element.text);
    return size;
  }

  // -- text
  // ------------------------------------------------------------------------------------------------------------

  char* put_value(char* out, Text text, AttributeType type) const {
    std::string_view view = text.view();
    if (type == AttributeType::kMethodName && writer.options_.names == XmlNames::kClassic) {
      if (view == "<init>") view = "-init-";
      if (view == "<clinit>") view = "-clinit-";
    }
    return put_escaped(out, view);
  }
  char* put_value(char* out, Number number, AttributeType) const { return put_number(out, number.value()); }
  char* put_value(char* out, Boolean truth, AttributeType) const { return put(out, *truth ? "true" : "false"); }
  char* put_value(char* out, Time time, AttributeType) const { return writer.time_.put(out, time.ns()); }
  char* put_value(char* out, WordList words, AttributeType) const { return put_word_list(out, words.value()); }
  template <class Kind>
  char* put_value(char* out, TypedId<Kind> id, AttributeType) const {
    return put_number(out, id.value());
  }
  char* put_value(char* out, ObjectId id, AttributeType) const {
    if (id.is_number()) [[likely]]
      return put_number(out, id.value());
    return put(out, id == ObjectId::sleep() ? "-1" : "-Unavailable-");
  }

  template <class Element, std::size_t Index>
  [[gnu::always_inline]] char* put_attribute(char* out, const Element& element) const {
    constexpr const AttributeInfo& info = Schema<Element>::infos[Index];
    static constexpr auto start = attribute_start<Element, Index>();
    if constexpr (info.presence == Presence::kExtension) {
      if (strict) return out;
    }
    if constexpr (info.presence != Presence::kRequired && info.name == "traceIdRef") {
      if (single_trace) return out;
    }
    const auto& member = element.*kMember<Element, Index>;
    // Attributes with a rank are usually present, the others usually absent: the fast path is for that.
    if (__builtin_expect(is_present(member), info.rank != 0) == 0) {
      if constexpr (info.presence == Presence::kRequired) writer.missing_ = &info;
      return out;
    }
    if constexpr (info.name == "collationValue") out = writer.collation_.put_list(put(out, start), member.value());
    else out = put_value(put(out, start), member, info.type);
    *out = '"';
    return out + 1;
  }

  // `out` is passed by value: through a reference, every character written might change it.
  template <class Element, std::size_t... I>
  char* put_attributes(char* out, const Element& element, std::index_sequence<I...>) const {
    static constexpr auto order = written_order<Element>();
    ((out = put_attribute<Element, order[I]>(out, element)), ...);
    return out;
  }

  // Writes the children of an element, after `>` if there are any.
  template <class Element>
  char* put_children(char* out, const Element& element) const {
    if constexpr (requires { element.invocationContext; }) {
      if (!element.invocationContext && !strict && element.values.empty()) return out;
      *out++ = '>';
      if (element.invocationContext) out = put_element(out, *element.invocationContext);
      else if (strict) out = put_element(out, InvocationContext{});
      for (const Value& value : element.values) out = put_element(out, value);
    } else if constexpr (requires { element.values; }) {
      if (element.values.empty() || strict) return out;
      *out++ = '>';
      for (const Value& value : element.values) out = put_element(out, value);
    } else if constexpr (requires { element.items; }) {
      if (element.items.empty()) return out;
      *out++ = '>';
      for (const MethodBodyItem& item : element.items) out = put_item(out, item);
    } else if constexpr (requires { element.text; }) {
      if (!element.text.present() || element.text.view().empty()) return out;
      *out++ = '>';
      out = put_escaped(out, element.text.view());
    }
    return out;
  }

  // In strict form the values of a call come after it, where the body's content model allows them.
  char* put_item(char* out, const MethodBodyItem& item) const {
    return std::visit(
        [&](const auto& child) {
          out = put_element(out, child);
          if constexpr (requires { child.values; }) {
            if (strict)
              for (const Value& value : child.values) out = put_element(out, value);
          }
          return out;
        },
        item.element);
  }

  template <class Element>
  char* put_element(char* out, const Element& element) const {
    static constexpr auto start = element_start<Element>();
    constexpr std::size_t count = Schema<Element>::infos.size();
    out = put_attributes(put(out, start), element, std::make_index_sequence<count>());
    if constexpr (Schema<Element>::content != Content::kEmpty) {
      char* const before = out;
      out = put_children(out, element);
      if (out != before) {
        out = put(put(out, "</"), Schema<Element>::name);
        *out = '>';
        return out + 1;
      }
    }
    return put(out, "/>");
  }
};

XmlWriter::XmlWriter(ByteSink& bytes, XmlWriterOptions options)
    : bytes_(bytes), options_(std::move(options)), strict_(options_.form == XmlForm::kStrictFragments) {}

Result<> XmlWriter::begin() {
  begun_ = true;
  if (options_.form != XmlForm::kDocument) return {};
  std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (!options_.doctype.empty()) {
    head.append("<!DOCTYPE ").append(kRootElement).append(" SYSTEM \"");
    append_xml_escaped(head, options_.doctype);
    head += "\">\n";
  }
  head.append("<").append(kRootElement).append(">\n");
  JTRACE_RETURN_IF_ERROR(bytes_.write(head));
  JTRACE_RETURN_IF_ERROR(bytes_.flush());
  is_open_ = true;
  return {};
}

Result<> XmlWriter::write(const Event& event) {
  if (!begun_) [[unlikely]]
    JTRACE_RETURN_IF_ERROR(begin());
  if (const auto* entry = std::get_if<MethodEntry>(&event)) return write_call(*entry);
  if (const auto* exit = std::get_if<MethodExit>(&event)) return write_call(*exit);
  return std::visit([&](const auto& element) { return write_element(element); }, event);
}

template <class Element>
Result<> XmlWriter::write_call(const Element& element) {
  if (strict_ || !CallLines::has_line(element)) [[unlikely]]
    return write_element(element);
  const Text trace_id = options_.single_trace ? Text() : element.traceIdRef;
  char* const start = bytes_.reserve(CallLines::kRoom + XmlFormat::text_room(trace_id));
  if (start == nullptr) [[unlikely]]
    return bytes_.result();
  char* out = calls_.put(start, element, time_, collation_);
  if (trace_id.present()) out = put_escaped(XmlFormat::put(out, "\" traceIdRef=\""), trace_id.view());
  out = XmlFormat::put(out, "\"/>\n");
  bytes_.commit(static_cast<std::size_t>(out - start));
  return {};
}

template <class Element>
Result<> XmlWriter::write_element(const Element& element) {
  char* const start = bytes_.reserve(XmlFormat::room(element));
  if (start == nullptr) [[unlikely]]
    return bytes_.result();
  char* out = XmlFormat{*this}.put_element(start, element);
  *out++ = '\n';
  if (missing_ != nullptr) [[unlikely]] {
    const std::string_view name = std::exchange(missing_, nullptr)->name;
    return fail(ErrorCategory::kUsage, "cannot write " + std::string(Schema<Element>::name) +
                                           ": its required attribute " + std::string(name) + " is absent");
  }
  bytes_.commit(static_cast<std::size_t>(out - start));
  if constexpr (Schema<Element>::content == Content::kValues) {
    if (strict_) return write_values_after(element.values, element.traceIdRef);
  }
  return {};
}

Result<> XmlWriter::write_values_after(List<Value> values, Text trace_id) {
  for (Value value : values) {
    if (!value.traceIdRef.present()) value.traceIdRef = trace_id;
    JTRACE_RETURN_IF_ERROR(write_element(value));
  }
  return {};
}

Result<> XmlWriter::finish() {
  Result<> begun = begun_ ? Result<>() : begin();
  Result<> closed;
  bytes_.begin_closing();
  if (is_open_) closed = bytes_.write("</" + std::string(kRootElement) + ">\n");
  Result<> finished = bytes_.finish();
  for (Result<>* result : {&begun, &closed})
    if (!*result) return std::move(*result);
  return finished;
}

}  // namespace jtrace::trace
