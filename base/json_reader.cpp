#include "base/json_reader.h"

#include <charconv>

#include "base/utf8.h"

namespace jtrace {

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  Result<JsonValue> all() {
    JsonValue value;
    if (!read(value, 0)) return broken();
    skip_blanks();
    if (at_ != text_.size()) return broken();
    return value;
  }

 private:
  tl::unexpected<Error> broken() const {
    return fail(ErrorCategory::kMalformed, "JSON ends or breaks at byte " + std::to_string(at_));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool read(JsonValue& value, std::size_t depth) {
    skip_blanks();
    if (at_ >= text_.size() || depth > JsonValue::kMaxDepth) return false;
    switch (text_[at_]) {
      case '{': return object(value, depth);
      case '[': return array(value, depth);
      case '"': value.kind_ = JsonValue::Kind::kText; return string(value.text_);
      case 'n': return word("null");
      case 't':
        value.kind_ = JsonValue::Kind::kBool;
        value.number_ = 1;
        return word("true");
      case 'f': value.kind_ = JsonValue::Kind::kBool; return word("false");
      default: value.kind_ = JsonValue::Kind::kNumber; return number(value.number_);
    }
  }
  bool number(double& number) {
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc() || (text_[at_] != '-' && (text_[at_] < '0' || text_[at_] > '9'))) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  bool array(JsonValue& value, std::size_t depth) {
    value.kind_ = JsonValue::Kind::kArray;
    ++at_;
    if (take(']')) return true;
    do {
      if (!read(value.items_.emplace_back(), depth + 1)) return false;
    } while (take(','));
    return take(']');
  }
  bool object(JsonValue& value, std::size_t depth) {
    value.kind_ = JsonValue::Kind::kObject;
    ++at_;
    if (take('}')) return true;
    do {
      skip_blanks();
      if (!string(value.names_.emplace_back()) || !take(':') || !read(value.items_.emplace_back(), depth + 1))
        return false;
    } while (take(','));
    return take('}');
  }
  bool hex(std::uint32_t& code) {
    if (text_.size() - at_ < 4) return false;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, code, 16);
    at_ += 4;
    return error == std::errc() && end == text_.data() + at_;
  }
  bool escape(std::string& out) {
    if (at_ >= text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (const std::size_t i = kFrom.find(c); i != std::string_view::npos) {
      out += kTo[i];
      return true;
    }
    std::uint32_t code = 0, low = 0;
    if (c != 'u' || !hex(code)) return false;
    if (code >= 0xd800 && code < 0xdc00 && word("\\u")) {
      if (!hex(low)) return false;
      code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
    }
    append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    return true;
  }
  bool string(std::string& out) {
    if (!take('"')) return false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] != '\\') {
        out += text_[at_++];
        continue;
      }
      ++at_;
      if (!escape(out)) return false;
    }
    return at_ < text_.size() && text_[at_++] == '"';
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

Result<JsonValue> JsonValue::parse(std::string_view text) { return JsonReader(text).all(); }

const JsonValue* JsonValue::find(std::string_view name) const {
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (names_[i] == name) return &items_[i];
  return nullptr;
}

const JsonValue& JsonValue::operator[](std::string_view name) const {
  static const JsonValue none;
  const JsonValue* found = find(name);
  return found == nullptr ? none : *found;
}

}  // namespace jtrace
