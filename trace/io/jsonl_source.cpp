#include "trace/io/jsonl_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/io/element_builder.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kPiece = 64u << 10;
constexpr std::size_t kMaxDepth = 8;

void append_code_point(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const int tails = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLead[tails] | (code >> (6 * tails)));
  for (int i = tails - 1; i >= 0; --i) out += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

class JsonLinesSource final : public EventSource {
 public:
  JsonLinesSource(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults, bool strict)
      : bytes_(std::move(bytes)), name_(std::move(name)), faults_(faults), strict_(strict) {}

  Result<ReadSummary> read(EventSink& sink) override {
    std::vector<char> piece(kPiece);
    std::string rest;
    for (;;) {
      JTRACE_ASSIGN_OR_RETURN(const std::size_t size, bytes_->read(piece.data(), piece.size()));
      std::string_view more(piece.data(), size);
      for (std::size_t end; (end = more.find('\n')) != std::string_view::npos; more.remove_prefix(end + 1)) {
        rest += more.substr(0, end);
        JTRACE_RETURN_IF_ERROR(take(rest, sink));
        rest.clear();
      }
      rest += more;
      if (rest.size() > kMaxJsonLine)
        return fail(fault("a line is longer than " + std::to_string(kMaxJsonLine) + " bytes"));
      if (size == 0) break;
    }
    if (!rest.empty()) {
      // The last line is complete, or the input is cut off in it.
      Result<> taken = take(rest, sink);
      if (!taken && (!cut_ || strict_)) return fail(std::move(taken).error());
      summary_.truncated = !taken;
    }
    summary_.truncated = summary_.truncated || bytes_->truncated();
    return summary_;
  }
  Position position() const override { return {line_, 1}; }

 private:
  Error fault(const std::string& text) const { return malformed_at(name_, {line_, at_ + 1}, text); }
  Result<> add(std::string_view kind, const std::string& name, const std::string& message) {
    return faults_.add(name_, position(), kind, name, message);
  }

  Result<> take(std::string_view line, EventSink& sink) {
    ++line_;
    text_ = line;
    at_ = 0;
    cut_ = false;
    skip_blanks();
    if (at_ == text_.size()) return {};
    JTRACE_ASSIGN_OR_RETURN(const Event* event, object(0));
    skip_blanks();
    if (at_ != text_.size()) return fail(fault("there is text after the object"));
    if (event == nullptr) return {};
    ++summary_.elements;
    return sink.write(*event);
  }

  // -- JSON
  void skip_blanks() {
    while (at_ < text_.size() && std::strchr(" \t\r", text_[at_]) != nullptr && text_[at_] != '\0') ++at_;
  }
  Result<char> next() {
    skip_blanks();
    if (at_ < text_.size()) return text_[at_];
    cut_ = true;
    return fail(fault("the line ends within an object"));
  }
  Result<> expect(char wanted) {
    JTRACE_ASSIGN_OR_RETURN(const char c, next());
    if (c != wanted) return fail(fault(std::string("expected '") + wanted + "', got '" + c + "'"));
    ++at_;
    return {};
  }
  Result<std::uint32_t> hex() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ == text_.size()) break;
      const char c = text_[at_];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return fail(fault("bad \\u in a string"));
      code = code * 16 + static_cast<std::uint32_t>(digit);
    }
    return code;
  }
  Result<std::string> string() {
    JTRACE_RETURN_IF_ERROR(expect('"'));
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) return fail(fault("a control character in a string"));
      if (c != '\\') {
        out += c;
        continue;
      }
      if (at_ == text_.size()) break;
      const char escaped = text_[at_++];
      constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
      if (const std::size_t known = kFrom.find(escaped); known != std::string_view::npos) {
        out += kTo[known];
        continue;
      }
      if (escaped != 'u') return fail(fault("an unknown escape in a string"));
      JTRACE_ASSIGN_OR_RETURN(std::uint32_t code, hex());
      if (code >= 0xd800 && code < 0xdc00 && text_.substr(at_, 2) == "\\u") {
        at_ += 2;
        JTRACE_ASSIGN_OR_RETURN(const std::uint32_t low, hex());
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
      }
      append_code_point(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }
    if (at_ == text_.size()) {
      cut_ = true;
      return fail(fault("a string has no end"));
    }
    ++at_;
    return out;
  }
  // A string, a number, true, false or null, as text.
  Result<std::string> scalar() {
    JTRACE_ASSIGN_OR_RETURN(const char first, next());
    if (first == '"') return string();
    const std::size_t end = std::min(text_.find_first_of(",}] \t\r", at_), text_.size());
    std::string word(text_.substr(at_, end - at_));
    if (word.empty() ||
        (first != '-' && (first < '0' || first > '9') && word != "true" && word != "false" && word != "null"))
      return fail(fault("expected a value"));
    at_ = end;
    return word;
  }

  // -- Elements
  // Null: the value is a child, or is left out.
  Result<const Event*> object(std::size_t depth) {
    if (depth == kMaxDepth) return fail(fault("nested too deep"));
    JTRACE_RETURN_IF_ERROR(expect('{'));
    bool open = false, skipped = false;
    for (bool first = true;; first = false) {
      JTRACE_ASSIGN_OR_RETURN(const char c, next());
      if (c == '}') break;
      if (!first) JTRACE_RETURN_IF_ERROR(expect(','));
      JTRACE_ASSIGN_OR_RETURN(const std::string key, string());
      JTRACE_RETURN_IF_ERROR(expect(':'));
      if (!open && !skipped) {
        if (key != "element") return fail(fault("an object does not begin with its \"element\""));
        JTRACE_ASSIGN_OR_RETURN(const std::string element, scalar());
        JTRACE_ASSIGN_OR_RETURN(open, begin(element));
        skipped = !open;
        continue;
      }
      JTRACE_RETURN_IF_ERROR(member(depth, key, skipped));
    }
    ++at_;
    if (!open) return nullptr;
    return close();
  }
  Result<bool> begin(const std::string& element) {
    const auto known = element_of_any_spelling(element);
    if (known && builder_.begin(*known)) return true;
    JTRACE_RETURN_IF_ERROR(add(known ? "misplaced element" : "unknown element", element,
                               (known ? "misplaced element " : "unknown element ") + element));
    return false;
  }
  Result<const Event*> close() {
    if (const AttributeInfo* missing = builder_.missing()) {
      const std::string element(element_info(builder_.open_kind()).name), attribute(missing->name);
      builder_.drop();
      JTRACE_RETURN_IF_ERROR(
          add("missing attribute", element + "/@" + attribute, element + " without " + attribute + " is left out"));
      return nullptr;
    }
    return builder_.end();
  }
  Result<> member(std::size_t depth, const std::string& key, bool skipped) {
    JTRACE_ASSIGN_OR_RETURN(const char c, next());
    if (c == '{') return child(depth, skipped);
    if (c == '[') {
      ++at_;
      for (bool first = true;; first = false) {
        JTRACE_ASSIGN_OR_RETURN(const char inner, next());
        if (inner == ']') break;
        if (!first) JTRACE_RETURN_IF_ERROR(expect(','));
        JTRACE_RETURN_IF_ERROR(child(depth, skipped));
      }
      ++at_;
      return {};
    }
    JTRACE_ASSIGN_OR_RETURN(const std::string value, scalar());
    if (skipped) return {};
    if (key == "text" && builder_.add_text(value)) return {};
    const auto done = builder_.set(key, value);
    if (done == ElementBuilder::Set::kDone) return {};
    const std::string element(element_info(builder_.open_kind()).name);
    if (done == ElementBuilder::Set::kUnknown)
      return add("unknown attribute", element + "/@" + key, "unknown attribute " + key + " of " + element);
    std::string message = "bad " + key + " '" + value.substr(0, 64) + "' of " + element;
    if (done == ElementBuilder::Set::kUnlisted) message += ": it must be " + std::string(builder_.words_for(key));
    return add("bad value", element + "/@" + key, message);
  }
  Result<> child(std::size_t depth, bool skipped) {
    if (skipped) {
      // Skips it: an "element" inside it would be misplaced.
      return skip_value(depth);
    }
    const auto made = object(depth + 1);
    return made ? Result<>() : Result<>(fail(made.error()));
  }
  Result<> skip_value(std::size_t depth) {
    if (depth == kMaxDepth) return fail(fault("nested too deep"));
    JTRACE_ASSIGN_OR_RETURN(const char c, next());
    if (c != '{' && c != '[') {
      const auto value = scalar();
      return value ? Result<>() : Result<>(fail(value.error()));
    }
    const char end = c == '{' ? '}' : ']';
    ++at_;
    for (bool first = true;; first = false) {
      JTRACE_ASSIGN_OR_RETURN(const char inner, next());
      if (inner == end) break;
      if (!first) JTRACE_RETURN_IF_ERROR(expect(','));
      if (c == '{') {
        const auto key = string();
        if (!key) return fail(key.error());
        JTRACE_RETURN_IF_ERROR(expect(':'));
      }
      JTRACE_RETURN_IF_ERROR(skip_value(depth + 1));
    }
    ++at_;
    return {};
  }

  std::unique_ptr<ByteSource> bytes_;
  std::string name_;
  FaultLog& faults_;
  bool strict_;
  ElementBuilder builder_;
  ReadSummary summary_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 0;
  bool cut_ = false;  // the last fault was that the line ends
};

}  // namespace

std::unique_ptr<EventSource> make_jsonl_source(std::unique_ptr<ByteSource> bytes, std::string name, FaultLog& faults,
                                               bool strict) {
  return std::make_unique<JsonLinesSource>(std::move(bytes), std::move(name), faults, strict);
}

}  // namespace jtrace::trace::io
