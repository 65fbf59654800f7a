#include "trace/io/xml_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/strings.h"
#include "trace/io/stack_profile.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kPiece = 64u << 10;
constexpr std::size_t kHead = 64u << 10;  // the first element begins within these bytes
constexpr std::string_view kSyntheticRoot = "<TRACE>";

// Position of the first element: after the declaration, comments and DOCTYPE. npos if there is none.
std::size_t first_element(std::string_view head) {
  std::size_t at = head.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (;;) {
    at = head.find_first_not_of(" \t\r\n", at);
    if (at == std::string_view::npos || head[at] != '<') return std::string_view::npos;
    const std::string_view rest = head.substr(at);
    std::string_view end = ">";
    if (rest.starts_with("<?")) end = "?>";
    else if (rest.starts_with("<!--")) end = "-->";
    else if (!rest.starts_with("<!")) return at;
    else if (rest.substr(0, rest.find('>')).find('[') != std::string_view::npos) end = "]>";
    const std::size_t found = head.find(end, at);
    if (found == std::string_view::npos) return found;
    at = found + end.size();
  }
}

std::string_view element_name(std::string_view at) {
  at.remove_prefix(1);
  return at.substr(0, at.find_first_of(" \t\r\n/>"));
}

std::string_view not_xml(std::string_view head) {
  return profile_format(head) == ProfileFormat::kNone
             ? "is not XML"
             : "is a profile, not a trace: jtrace report and jtrace diff take profiles, as files";
}

}  // namespace

// Converts modified UTF-8 to UTF-8, also across the borders of pieces.
class XmlSource::Repair {
 public:
  // `bytes` converted; bytes that may belong to the next piece are held back.
  std::string_view mend(std::string_view bytes, bool last) {
    out_.clear();
    in_ = held_;
    in_ += bytes;
    held_.clear();
    for (std::size_t i = 0; i < in_.size();) {
      const unsigned char byte = byte_at(i);
      const std::size_t wanted = byte == 0xc0 ? 2 : byte == 0xed ? 6 : 1;
      if (wanted > 1 && i + wanted > in_.size() && !last) {
        held_ = in_.substr(i);
        break;
      }
      i += mend_at(i);
    }
    return out_;
  }
  std::uint64_t count() const { return count_; }

 private:
  unsigned char byte_at(std::size_t i) const { return i < in_.size() ? static_cast<unsigned char>(in_[i]) : 0; }
  std::size_t mend_at(std::size_t i) {
    if (byte_at(i) == 0xc0 && byte_at(i + 1) == 0x80) {
      out_ += "\xef\xbf\xbd";
      ++count_;
      return 2;
    }
    // A high surrogate (ED A0..AF xx), followed by a low one (ED B0..BF xx).
    if (byte_at(i) == 0xed && (byte_at(i + 1) & 0xe0) == 0xa0) {
      const bool pair = byte_at(i + 1) < 0xb0 && byte_at(i + 3) == 0xed && (byte_at(i + 4) & 0xf0) == 0xb0;
      const std::size_t length = std::min<std::size_t>(pair ? 6 : 3, in_.size() - i);
      out_ += utf8_from_modified(std::string_view(in_).substr(i, length));
      ++count_;
      return length;
    }
    out_ += in_[i];
    return 1;
  }
  std::string in_, out_, held_;
  std::uint64_t count_ = 0;
};

class XmlSource::Handler final : public XmlHandler {
 public:
  explicit Handler(XmlSource& source) : source_(source) {}
  EventSink* sink = nullptr;
  std::optional<Error> error;
  std::size_t depth = 0;

  Position position() const { return delivers_ ? start_ : source_.parser_->position(); }

  bool on_start(std::string_view name, std::span<const XmlAttribute> attributes) override {
    if (++depth == 1) return start_root(name);
    if (depth == 2) start_ = source_.parser_->position();
    if (depth > kMaxXmlDepth) return stop("nested deeper than " + std::to_string(kMaxXmlDepth) + " levels");
    if (skipping_ != 0) {
      ++skipping_;
      return true;
    }
    const auto kind = element_of_any_spelling(name);
    if (!kind) return skip("unknown element", name, "unknown element <" + std::string(name) + ">");
    if (!builder_.begin(*kind))
      return skip("misplaced element", name,
                  "<" + std::string(name) + "> is not allowed in <" +
                      std::string(element_info(builder_.open_kind()).name) + ">");
    if (builder_.depth() == 1 && *kind == ElementKind::kInvocationContext &&
        !fault("misplaced element", name, "<InvocationContext> is not allowed by itself"))
      return false;
    for (const XmlAttribute& attribute : attributes)
      if (!set(attribute)) return false;
    if (const AttributeInfo* missing = builder_.missing()) return without(*missing);
    return true;
  }

  bool on_end() override {
    --depth;
    if (skipping_ != 0) {
      --skipping_;
      return true;
    }
    if (depth == 0) return true;
    const Event* event = builder_.end();
    if (event == nullptr) return true;
    ++source_.summary_.elements;
    delivers_ = true;
    Result<> written = sink->write(*event);
    delivers_ = false;
    if (!written) error = std::move(written).error();
    return !error;
  }

  bool on_text(std::string_view text) override {
    if (skipping_ != 0) return true;
    if (builder_.depth() != 0 && builder_.add_text(text))
      return builder_.text_size() <= kMaxToken || stop("a text is longer than " + std::to_string(kMaxToken) + " bytes");
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return true;
    return fault("misplaced text", "", "text where none is allowed");
  }

 private:
  bool start_root(std::string_view name) {
    return name == kRootElement ||
           stop("root element is <" + std::string(name) + ">, expected <" + std::string(kRootElement) + ">");
  }
  bool stop(const std::string& text) {
    error = malformed_at(source_.name_, source_.position(), text);
    return false;
  }
  bool fault(std::string_view kind, std::string_view name, const std::string& message) {
    Result<> taken = source_.faults_.add(source_.name_, source_.position(), kind, name, message);
    if (!taken) error = std::move(taken).error();
    return !error;
  }
  // Leaves out the element that just began, with all its content.
  bool skip(std::string_view kind, std::string_view name, const std::string& message) {
    skipping_ = 1;
    return fault(kind, name, message);
  }
  bool set(const XmlAttribute& attribute) {
    const auto done = builder_.set(attribute.name, attribute.value);
    if (done == ElementBuilder::Set::kDone) [[likely]]
      return true;
    const std::string element(element_info(builder_.open_kind()).name), name(attribute.name);
    if (done == ElementBuilder::Set::kUnknown)
      return fault("unknown attribute", element + "/@" + name, "unknown attribute " + name + " of <" + element + ">");
    const std::string value(attribute.value.substr(0, 64));
    std::string message = "bad " + name + " '" + value + "' of <" + element + ">";
    if (done == ElementBuilder::Set::kUnlisted) message += ": it must be " + std::string(builder_.words_for(name));
    return fault("bad value", element + "/@" + name, message);
  }
  bool without(const AttributeInfo& missing) {
    const std::string element(element_info(builder_.open_kind()).name);
    builder_.drop();
    return skip("missing attribute", element + "/@" + std::string(missing.name),
                "<" + element + "> without " + std::string(missing.name) + " is left out");
  }

  XmlSource& source_;
  Position start_;         // of the root's child
  bool delivers_ = false;  // the child is being passed to the sink
  ElementBuilder builder_;
  std::size_t skipping_ = 0;  // depth inside an element that is left out
};

XmlSource::XmlSource(std::unique_ptr<ByteSource> source, std::string name, FaultLog& faults, XmlSourceOptions options)
    : source_(std::move(source)),
      name_(std::move(name)),
      faults_(faults),
      options_(options),
      handler_(std::make_unique<Handler>(*this)),
      parser_(options.expat_only ? make_expat_parser(*handler_) : make_fast_parser(*handler_)) {}
XmlSource::~XmlSource() = default;

Position XmlSource::position() const {
  Position position = handler_->position();
  if (summary_.fragments && position.line == 1)
    position.column -= std::min<std::uint64_t>(kSyntheticRoot.size(), position.column - 1);
  return position;
}

Result<ReadSummary> XmlSource::read(EventSink& sink) {
  handler_->sink = &sink;
  std::string head(kHead, '\0');
  JTRACE_ASSIGN_OR_RETURN(const std::size_t size, read_fully(*source_, head.data(), head.size()));
  head.resize(size);
  const std::size_t text = head.find_first_not_of(" \t\r\n");
  if (text == std::string::npos && source_->truncated())
    return fail(
        malformed_at(name_, {}, "is cut off before the end of its first compressed block: nothing can be read"));
  if (text == std::string::npos)
    return fail(malformed_at(name_, {}, "is empty: no <" + std::string(kRootElement) + "> and no element"));
  if (head[text] != '<' && !head.starts_with("\xef\xbb\xbf")) return fail(malformed_at(name_, {1, 1}, not_xml(head)));
  const std::size_t first = first_element(head);
  if (first != std::string::npos) {
    const std::string_view name = element_name(std::string_view(head).substr(first));
    summary_.fragments = name != kRootElement && element_of_any_spelling(name).has_value();
  }
  if (summary_.fragments) {
    // What comes before the first element is not allowed after a root; its lines are kept.
    const auto lines = std::count(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(first), '\n');
    head = std::string(kSyntheticRoot) + std::string(static_cast<std::size_t>(lines), '\n') + head.substr(first);
  }
  JTRACE_RETURN_IF_ERROR(feed_all(head));
  summary_.truncated = summary_.truncated || source_->truncated();
  return summary_;
}

Result<> XmlSource::feed_all(std::string_view head) {
  Repair repair;
  std::vector<char> piece(kPiece);
  for (std::string_view bytes = head; !bytes.empty();) {
    JTRACE_RETURN_IF_ERROR(feed_piece(options_.repair_utf8 ? repair.mend(bytes, false) : bytes, false));
    JTRACE_ASSIGN_OR_RETURN(const std::size_t size, source_->read(piece.data(), piece.size()));
    bytes = {piece.data(), size};
  }
  JTRACE_RETURN_IF_ERROR(feed_piece(options_.repair_utf8 ? repair.mend({}, true) : std::string_view(), true));
  if (repair.count() != 0) faults_.note("repaired UTF-8", repair.count());
  return {};
}

Result<> XmlSource::feed_piece(std::string_view piece, bool last) {
  do {
    const std::string_view part = piece.substr(0, kPiece);
    piece.remove_prefix(part.size());
    char* buffer = parser_->buffer(std::max<std::size_t>(part.size(), 1));
    if (buffer == nullptr) return fail(ErrorCategory::kRefused, "no memory for reading " + name_);
    if (!part.empty()) std::memcpy(buffer, part.data(), part.size());
    JTRACE_RETURN_IF_ERROR(after_feed(parser_->feed(part.size(), last && piece.empty())));
  } while (!piece.empty());
  return {};
}

Result<> XmlSource::after_feed(bool fed) {
  if (fed) return {};
  if (handler_->error) return fail(*handler_->error);
  const auto& fault = parser_->fault();
  if (!fault) return fail(malformed_at(name_, position(), "cannot be read"));
  const bool cut = fault->unfinished && handler_->depth > 0;
  // Fragments have no end of their own: the root that was added stays open.
  const bool whole = summary_.fragments && cut && handler_->depth == 1 && !fault->inside_token && !source_->truncated();
  if (whole) return {};
  if (cut && !options_.strict) {
    summary_.truncated = true;
    return {};
  }
  const std::string text = cut ? "truncated after " + counted(summary_.elements, "element") : fault->text;
  return fail(malformed_at(name_, position(), text, fault->help));
}

}  // namespace jtrace::trace::io
