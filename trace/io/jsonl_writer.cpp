// Events as JSON lines.
#include "base/json.h"
#include "trace/digits.h"
#include "trace/io/converter.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

class JsonLinesWriter final : public Converter {
 public:
  explicit JsonLinesWriter(ByteSink& bytes) : bytes_(bytes) {}
  Result<> write(const Event& event) override {
    line_.clear();
    JsonWriter json(line_);
    std::visit([&](const auto& element) { put(json, element); }, event);
    line_ += '\n';
    return bytes_.write(line_);
  }
  Result<> finish() override { return bytes_.finish(); }

 private:
  static void value(JsonWriter& json, Text text) { json.value(text.view()); }
  static void value(JsonWriter& json, Number number) { json.value(number.value()); }
  static void value(JsonWriter& json, WordList words) { json.value(words.value()); }
  static void value(JsonWriter& json, Boolean truth) { json.value(*truth); }
  void value(JsonWriter& json, Time time) {
    char text[kMaxDigits];
    char* end = time_.put(text, time.ns());
    json.value(std::string_view(text, static_cast<std::size_t>(end - text)));
  }
  template <class Kind>
  static void value(JsonWriter& json, TypedId<Kind> id) {
    json.value(id.value());
  }
  static void value(JsonWriter& json, ObjectId id) {
    if (id.is_number()) json.value(id.value());
    else if (id == ObjectId::sleep()) json.value(-1);
    else json.value("-Unavailable-");
  }
  template <class Element>
  void put(JsonWriter& json, const Element& element) {
    json.begin_object().member("element", Schema<Element>::name);
    for_each_attribute(element, [&](const AttributeInfo& info, const auto& member) {
      if (!is_present(member)) return;
      json.key(info.name);
      value(json, member);
    });
    if constexpr (requires { element.invocationContext; }) {
      if (element.invocationContext != nullptr) put(json.key("InvocationContext"), *element.invocationContext);
    }
    if constexpr (requires { element.values; }) {
      if (!element.values.empty()) {
        json.key("values").begin_array();
        for (const Value& each : element.values) put(json, each);
        json.end_array();
      }
    }
    if constexpr (requires { element.items; }) {
      json.key("items").begin_array();
      for (const MethodBodyItem& item : element.items)
        std::visit([&](const auto& child) { put(json, child); }, item.element);
      json.end_array();
    }
    if constexpr (requires { element.text; }) {
      if (element.text.present()) json.member("text", element.text.view());
    }
    json.end_object();
  }

  ByteSink& bytes_;
  TimeFormatter time_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Converter> make_jsonl_writer(ByteSink& bytes) { return std::make_unique<JsonLinesWriter>(bytes); }

}  // namespace jtrace::trace::io
