#include "trace/io/sddf_reader.h"

#include <charconv>
#include <limits>

#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kBuffer = 64u << 10;
constexpr std::size_t kMaxText = 1u << 20;
constexpr std::size_t kMaxElements = 1u << 20;  // of an array
constexpr std::size_t kMaxFields = 1000;
constexpr std::size_t kMaxDescriptors = 10'000;

bool is_blank(int c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

SddfReader::SddfReader(std::unique_ptr<ByteSource> source, std::string name)
    : source_(std::move(source)), name_(std::move(name)), buffer_(kBuffer) {}

int SddfReader::peek() {
  if (at_ == size_ && !ended_) {
    const auto count = source_->read(buffer_.data(), buffer_.size());
    if (!count) error_ = count.error();
    size_ = count ? *count : 0;
    at_ = 0;
    ended_ = size_ == 0;
  }
  return at_ == size_ ? -1 : static_cast<unsigned char>(buffer_[at_]);
}

int SddfReader::get() {
  const int c = peek();
  if (c < 0) return c;
  ++at_;
  if (c == '\n') here_ = {here_.line + 1, 1};
  else ++here_.column;
  return c;
}

Error SddfReader::fault(const std::string& text) const { return error_ ? *error_ : malformed_at(name_, here_, text); }

// Skips blanks, comments (attributes of what follows) and the stream's blocks of attributes.
Result<> SddfReader::skip_blanks() {
  for (;;) {
    while (is_blank(peek())) get();
    if (peek() != '/') return {};
    get();
    const int kind = get();
    if (kind == '/') {
      while (peek() >= 0 && peek() != '\n') get();
    } else if (kind == '*') {
      for (int last = 0, c = get(); !(last == '*' && c == '/'); last = c, c = get())
        if (c < 0) return fail(fault("a block of attributes has no end"));
    } else {
      return fail(fault("'/' that does not begin a comment"));
    }
  }
}

Result<> SddfReader::expect(std::string_view text) {
  JTRACE_RETURN_IF_ERROR(skip_blanks());
  for (const char wanted : text) {
    const int c = peek();
    if (c != static_cast<unsigned char>(wanted))
      return fail(fault("expected '" + std::string(text) + "'" +
                        (c < 0 ? ", the file ends" : ", got '" + std::string(1, static_cast<char>(c)) + "'")));
    get();
  }
  return {};
}

Result<std::string> SddfReader::string() {
  JTRACE_RETURN_IF_ERROR(expect("\""));
  std::string text;
  for (int c = get(); c != '"'; c = get()) {
    if (c == '\\') c = get();
    if (c < 0) return fail(fault("a string has no end"));
    if (text.size() == kMaxText) return fail(fault("a string is longer than " + std::to_string(kMaxText) + " bytes"));
    text += static_cast<char>(c);
  }
  return text;
}

Result<std::string> SddfReader::word() {
  JTRACE_RETURN_IF_ERROR(skip_blanks());
  std::string text;
  for (int c = peek(); c >= 0 && !is_blank(c) && c != ',' && c != '}' && c != '{' && c != ']' && c != '[' && c != ';' &&
                       c != ':' && c != '"' && text.size() < 64;
       c = peek())
    text += static_cast<char>(get());
  return text;
}

Result<> SddfReader::begin() {
  std::string magic;
  while (magic.size() < 5 && peek() >= 0) magic += static_cast<char>(get());
  if (magic == "SDDFB" || magic == "SDDFb") return fail(malformed_at(name_, {1, 1}, "binary SDDF is not supported"));
  if (magic != "SDDFA") return fail(malformed_at(name_, {1, 1}, "is not SDDF: no line SDDFA"));
  return {};
}

Result<std::optional<SddfRecord>> SddfReader::next() {
  for (;;) {
    JTRACE_RETURN_IF_ERROR(skip_blanks());
    start_ = here_;
    switch (peek()) {
      case -1:
        if (error_) return fail(*error_);
        return std::optional<SddfRecord>();
      case ';': get(); break;  // stray terminators are tolerated
      case '#': JTRACE_RETURN_IF_ERROR(descriptor()); break;
      case '"': {
        JTRACE_ASSIGN_OR_RETURN(SddfRecord made, record());
        return std::optional<SddfRecord>(std::move(made));
      }
      default: return fail(fault("expected a descriptor or a record"));
    }
  }
}

Result<> SddfReader::descriptor() {
  JTRACE_RETURN_IF_ERROR(expect("#"));
  JTRACE_ASSIGN_OR_RETURN(const std::string tag, word());
  if (!parse_decimal<std::int32_t>(tag)) return fail(fault("bad tag '" + tag + "' of a descriptor"));
  JTRACE_RETURN_IF_ERROR(expect(":"));
  JTRACE_ASSIGN_OR_RETURN(const std::string name, string());
  JTRACE_RETURN_IF_ERROR(expect("{"));
  Fields fields;
  for (;;) {
    JTRACE_RETURN_IF_ERROR(skip_blanks());
    if (peek() == '}') break;
    JTRACE_ASSIGN_OR_RETURN(Field made, field());
    fields.push_back(std::move(made));
    if (fields.size() > kMaxFields) return fail(fault("descriptor \"" + name + "\" has too many fields"));
  }
  JTRACE_RETURN_IF_ERROR(expect("}"));
  JTRACE_RETURN_IF_ERROR(expect(";;"));
  if (descriptors_.size() == kMaxDescriptors) return fail(fault("too many descriptors"));
  descriptors_.insert_or_assign(name, std::move(fields));
  return {};
}

Result<SddfReader::Field> SddfReader::field() {
  Field made;
  JTRACE_ASSIGN_OR_RETURN(made.type, word());
  if (made.type != "char" && made.type != "int" && made.type != "long" && made.type != "float" && made.type != "double")
    return fail(fault("unknown type '" + made.type + "' of a field"));
  JTRACE_ASSIGN_OR_RETURN(made.name, string());
  for (;;) {
    JTRACE_RETURN_IF_ERROR(skip_blanks());
    if (peek() != '[') break;
    JTRACE_RETURN_IF_ERROR(expect("["));
    JTRACE_RETURN_IF_ERROR(expect("]"));
    ++made.dimensions;
  }
  JTRACE_RETURN_IF_ERROR(expect(";"));
  return made;
}

Result<SddfRecord> SddfReader::record() {
  SddfRecord made;
  JTRACE_ASSIGN_OR_RETURN(made.name, string());
  const auto found = descriptors_.find(made.name);
  if (found == descriptors_.end()) return fail(fault("record \"" + made.name + "\" comes before its descriptor"));
  JTRACE_RETURN_IF_ERROR(expect("{"));
  const std::string count = counted(found->second.size(), "field");
  for (std::size_t i = 0; i < found->second.size(); ++i) {
    JTRACE_RETURN_IF_ERROR(skip_blanks());
    if (peek() == '}') return fail(fault("record \"" + made.name + "\" has " + std::to_string(i) + " of " + count));
    if (i > 0) JTRACE_RETURN_IF_ERROR(expect(","));
    JTRACE_ASSIGN_OR_RETURN(SddfValue each, value(found->second[i], made.name));
    made.values.push_back(std::move(each));
  }
  JTRACE_RETURN_IF_ERROR(skip_blanks());
  if (peek() == ',') return fail(fault("record \"" + made.name + "\" has more than " + count));
  JTRACE_RETURN_IF_ERROR(expect("}"));
  JTRACE_RETURN_IF_ERROR(expect(";;"));
  return made;
}

Result<SddfValue> SddfReader::value(const Field& field, const std::string& record) {
  const std::string where = "record \"" + record + "\", field \"" + field.name + "\": ";
  if (field.dimensions > 0) return array(field, where);
  SddfValue made;
  JTRACE_RETURN_IF_ERROR(scalar(field, where, made));
  return made;
}

std::string SddfReader::unexpected(const Field& field, const std::string& text) {
  const std::string wanted = "expected a number of type " + field.type;
  return wanted + (text.empty() && peek() < 0 ? ", the file ends" : ", got '" + text + "'");
}

Result<> SddfReader::scalar(const Field& field, const std::string& where, SddfValue& value) {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, word());
  if (field.type == "float" || field.type == "double") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.real);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
      return fail(fault(where + unexpected(field, text)));
    return {};
  }
  const auto number = parse_decimal<std::int64_t>(text);
  if (!number) return fail(fault(where + unexpected(field, text)));
  if (field.type == "int" &&
      (*number > std::numeric_limits<std::int32_t>::max() || *number < std::numeric_limits<std::int32_t>::min()))
    return fail(fault(where + text + " does not fit an int of 32 bits"));
  value.number = *number;
  return {};
}

Result<SddfValue> SddfReader::array(const Field& field, const std::string& where) {
  std::size_t wanted = 1;
  for (std::size_t i = 0; i < field.dimensions; ++i) {
    JTRACE_RETURN_IF_ERROR(expect("["));
    JTRACE_ASSIGN_OR_RETURN(const std::string text, word());
    const auto length = parse_decimal<std::uint32_t>(text);
    if (!length || *length > kMaxElements || (wanted *= *length) > kMaxElements)
      return fail(fault(where + "bad length '" + text + "' of an array"));
    JTRACE_RETURN_IF_ERROR(expect("]"));
  }
  JTRACE_RETURN_IF_ERROR(expect("{"));
  SddfValue made;
  std::size_t count = 0;
  for (;;) {
    JTRACE_RETURN_IF_ERROR(skip_blanks());
    if (peek() == '}') break;
    if (count++ > 0) JTRACE_RETURN_IF_ERROR(expect(","));
    if (count > kMaxElements) return fail(fault(where + "too many elements"));
    if (field.type == "char") {
      JTRACE_ASSIGN_OR_RETURN(const std::string text, string());
      made.text += text;
    } else {
      SddfValue each;
      JTRACE_RETURN_IF_ERROR(scalar(field, where, each));
      made.numbers.push_back(each.number);
    }
  }
  JTRACE_RETURN_IF_ERROR(expect("}"));
  // A text may be shorter than its array.
  if (field.type == "char" ? made.text.size() > wanted : count != wanted)
    return fail(fault(where + "an array of " + std::to_string(wanted) + " has " +
                      std::to_string(field.type == "char" ? made.text.size() : count) + " elements"));
  return made;
}

}  // namespace jtrace::trace::io
