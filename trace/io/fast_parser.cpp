// XmlParser for the usual trace: elements under one root with plain attributes, at twice the speed of a full parser. It
// knows only a part of XML and checks that part as the recommendation demands. Everything else (a DOCTYPE, CDATA,
// another encoding, names beyond ASCII, every fault, the end of the document) it passes to expat, from the start of the
// root's child in which it occurs. So it accepts nothing that expat would refuse, and every message is expat's.
// tests/fuzz/fuzz_xml_reader.cpp compares the two.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "base/strings.h"
#include "trace/io/xml_parser.h"

namespace jtrace::trace::io {
namespace {

constexpr std::string_view kRoot = "<TRACE>";
constexpr std::size_t kMaxFastDepth = 8;

enum ByteClass : std::uint8_t {
  kNameStart = 1,  // A-Z a-z _
  kNamePart = 2,   // ... 0-9 . -
  kValueStop = 4,  // ends or complicates a value: quotes, <, &, controls, bytes beyond ASCII
  kTextStop = 8,   // the same for a text: <, &, ], controls except newline and tab, bytes beyond ASCII
  kSpace = 16,
};
constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (unsigned c = 0; c < 256; ++c) {
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
    std::uint8_t is = 0;
    if (letter) is |= kNameStart;
    if (letter || (c >= '0' && c <= '9') || c == '.' || c == '-') is |= kNamePart;
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\'' || c == '<' || c == '&') is |= kValueStop;
    if ((c < 0x20 && c != '\n' && c != '\t') || c >= 0x7f || c == '<' || c == '&' || c == ']') is |= kTextStop;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') is |= kSpace;
    classes[c] = is;
  }
  return classes;
}();
bool is(char c, ByteClass wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }

class FastParser final : public XmlParser {
 public:
  explicit FastParser(XmlHandler& handler) : handler_(handler) {}

  char* buffer(std::size_t size) override {
    if (slow_) return slow_->buffer(size);
    drop_consumed();
    if (bytes_.size() < end_ + size) bytes_.resize(std::max(end_ + size, 2 * bytes_.size()));
    return bytes_.data() + end_;
  }
  bool feed(std::size_t size, bool last) override {
    if (slow_) return slow_->feed(size, last);
    end_ += size;
    const Outcome outcome = run();
    if (outcome == Outcome::kStopped) return false;
    if (outcome == Outcome::kMore && !last && end_ - at_ <= kMaxToken) return true;
    return hand_over(last);
  }
  const std::optional<Fault>& fault() const override { return slow_ ? slow_->fault() : no_fault_; }
  Position position() const override {
    if (slow_) return slow_->position();
    return {event_.line, event_.column + characters(event_.mark, event_.at)};
  }

 private:
  enum class Outcome { kMore, kStrange, kStopped };
  enum class Step { kDone, kMore, kStrange };
  // A position: `at` is on `line`, in column `column` plus the number of characters from `mark` to `at`.
  struct Place {
    std::size_t at = 0, mark = 0;
    std::uint64_t line = 1, column = 1;
  };
  struct Part {  // a part of the element that is being read; delivered when the element is complete
    enum Kind : std::uint8_t { kStart, kEnd, kText } kind;
    std::string_view name;             // or the text
    std::size_t first = 0, count = 0;  // attributes
    Place place;
  };

  std::uint64_t characters(std::size_t from, std::size_t to) const {
    return static_cast<std::uint64_t>(std::count_if(
        bytes_.begin() + static_cast<std::ptrdiff_t>(from), bytes_.begin() + static_cast<std::ptrdiff_t>(to),
        [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  }
  void drop_consumed() {
    if (at_ == 0) return;
    event_.column += characters(event_.mark, event_.at);
    event_.mark = event_.at = 0;
    here_.column += characters(here_.mark, at_);
    here_.mark = here_.at = 0;
    dropped_ += at_;
    std::memmove(bytes_.data(), bytes_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }

  Outcome run() {
    if (!in_root_) {
      const Place before = here_;
      const Step step = prolog();
      if (step != Step::kDone) here_ = before;
      if (step != Step::kDone) return step == Step::kMore ? Outcome::kMore : Outcome::kStrange;
      in_root_ = true;
      event_ = here_;
      if (!handler_.on_start(kRoot.substr(1, kRoot.size() - 2), {})) return Outcome::kStopped;
    }
    for (;;) {
      cursor_ = at_;
      skip_space();
      at_ = cursor_;
      if (at_ == end_) return Outcome::kMore;
      here_.at = at_;
      parts_.clear();
      attributes_.clear();
      decoded_.clear();
      const Place before = here_;
      const Step step = element(0);
      if (step != Step::kDone) {
        here_ = before;
        return step == Step::kMore ? Outcome::kMore : Outcome::kStrange;
      }
      const Place after = here_;
      for (const Part& part : parts_)
        if (!deliver(part)) return Outcome::kStopped;
      here_ = after;
      at_ = cursor_;
    }
  }
  bool deliver(const Part& part) {
    event_ = part.place;
    if (part.kind == Part::kStart)
      return handler_.on_start(part.name, std::span(attributes_).subspan(part.first, part.count));
    return part.kind == Part::kEnd ? handler_.on_end() : handler_.on_text(part.name);
  }

  // Reads at cursor_; nothing before it is given up until at_ follows.
  char peek() const { return bytes_[cursor_]; }
  void newline() {
    ++here_.line;
    here_.column = 1;
    here_.mark = cursor_ + 1;
  }
  void skip_space() {
    for (; cursor_ < end_ && is(peek(), kSpace); ++cursor_)
      if (peek() == '\n') newline();
  }
  bool skip(std::string_view text) {
    if (std::string_view(bytes_.data() + cursor_, end_ - cursor_).substr(0, text.size()) != text) return false;
    cursor_ += text.size();
    return true;
  }
  // Accepts <?xml version="1.0" encoding="UTF-8"?> and <TRACE>, nothing else.
  Step prolog() {
    cursor_ = at_;
    if (end_ - at_ < 64 && !std::memchr(bytes_.data() + at_, '\n', end_ - at_)) return Step::kMore;
    const std::string_view all(bytes_.data() + at_, end_ - at_);
    for (const std::string_view declaration : {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
                                               "<?xml version=\"1.0\" encoding=\"utf-8\"?>", "<?xml version=\"1.0\"?>"})
      if (all.starts_with(declaration)) {
        cursor_ += declaration.size();
        break;
      }
    skip_space();
    const std::size_t root = cursor_;
    if (!skip(kRoot)) return Step::kStrange;
    here_.at = root;
    at_ = cursor_;
    return Step::kDone;
  }
  Step name(std::string_view& found) {
    const std::size_t start = cursor_;
    if (cursor_ == end_) return Step::kMore;
    if (!is(peek(), kNameStart)) return Step::kStrange;
    while (cursor_ < end_ && is(peek(), kNamePart)) ++cursor_;
    if (cursor_ == end_) return Step::kMore;
    found = {bytes_.data() + start, cursor_ - start};
    return Step::kDone;
  }

  Step element(std::size_t depth) {
    here_.at = cursor_;
    const Place place = here_;
    if (peek() != '<' || depth == kMaxFastDepth) return Step::kStrange;
    ++cursor_;
    std::string_view tag;
    if (const Step step = name(tag); step != Step::kDone) return step;
    const std::size_t part = parts_.size(), first = attributes_.size();
    parts_.push_back({Part::kStart, tag, first, 0, place});
    for (seen_ = 0;;) {
      const std::size_t before = cursor_;
      skip_space();
      if (cursor_ == end_) return Step::kMore;
      if (peek() == '/' || peek() == '>') break;
      if (cursor_ == before) return Step::kStrange;
      if (const Step step = attribute(first); step != Step::kDone) return step;
    }
    parts_[part].count = attributes_.size() - first;
    if (peek() == '/') {
      if (++cursor_ == end_) return Step::kMore;
      if (peek() != '>') return Step::kStrange;
      ++cursor_;
    } else {
      ++cursor_;
      if (const Step step = content(tag, depth); step != Step::kDone) return step;
    }
    parts_.push_back({Part::kEnd, tag, 0, 0, place});
    return Step::kDone;
  }
  Step content(std::string_view tag, std::size_t depth) {
    for (;;) {
      if (const Step step = text(); step != Step::kDone) return step;
      if (cursor_ + 1 >= end_) return Step::kMore;
      if (bytes_[cursor_ + 1] != '/') {
        if (const Step step = element(depth + 1); step != Step::kDone) return step;
        continue;
      }
      cursor_ += 2;
      std::string_view closed;
      if (const Step step = name(closed); step != Step::kDone) return step;
      if (closed != tag || peek() != '>') return Step::kStrange;
      ++cursor_;
      return Step::kDone;
    }
  }
  // In pieces, as expat delivers it: each newline is one.
  Step text() {
    for (;;) {
      here_.at = cursor_;
      const std::size_t start = cursor_;
      const Place place = here_;
      while (cursor_ < end_ && !is(peek(), kTextStop) && peek() != '\n') ++cursor_;
      if (cursor_ == end_) return Step::kMore;
      if (cursor_ == start && peek() == '\n') {
        newline();
        ++cursor_;
      }
      if (cursor_ == start) return peek() == '<' ? Step::kDone : Step::kStrange;
      parts_.push_back({Part::kText, {bytes_.data() + start, cursor_ - start}, 0, 0, place});
    }
  }
  Step attribute(std::size_t first) {
    std::string_view key;
    if (const Step step = name(key); step != Step::kDone) return step;
    if (peek() != '=') return Step::kStrange;
    if (++cursor_ == end_) return Step::kMore;
    const char quote = peek();
    if (quote != '"' && quote != '\'') return Step::kStrange;
    const std::size_t start = ++cursor_;
    std::string_view value;
    while (cursor_ < end_ && !is(peek(), kValueStop)) ++cursor_;
    if (cursor_ == end_) return Step::kMore;
    if (peek() == quote) {
      value = {bytes_.data() + start, cursor_ - start};
    } else if (const Step step = hard_value(start, quote, value); step != Step::kDone) {
      return step;
    }
    ++cursor_;
    if (value.size() > kMaxToken) return Step::kStrange;
    // A set of 64 bits shows that the name is new; if it cannot, all names are compared.
    const std::uint64_t bit = std::uint64_t{1} << ((key.size() * 7 + static_cast<unsigned char>(key[0]) * 3 +
                                                    static_cast<unsigned char>(key.back()) * 5) %
                                                   64);
    if ((seen_ & bit) != 0)
      for (std::size_t i = first; i < attributes_.size(); ++i)
        if (attributes_[i].name == key) return Step::kStrange;
    seen_ |= bit;
    attributes_.push_back({key, value});
    return Step::kDone;
  }
  // A value with references, other quotes or characters beyond ASCII.
  Step hard_value(std::size_t start, char quote, std::string_view& value) {
    const void* found = std::memchr(bytes_.data() + cursor_, quote, end_ - cursor_);
    if (found == nullptr) return Step::kMore;
    const std::size_t close = static_cast<std::size_t>(static_cast<const char*>(found) - bytes_.data());
    std::string& out = decoded_.emplace_back();
    for (std::size_t i = start; i < close;) {
      const auto byte = static_cast<unsigned char>(bytes_[i]);
      const std::string_view rest(bytes_.data() + i, close - i);
      if (byte >= 0x80) {
        const auto end =
            std::find_if(rest.begin(), rest.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
        const std::string_view run = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
        const std::size_t before = out.size();
        append_xml_escaped(out, run);  // replaces by U+FFFD what is not UTF-8 or not XML
        if (std::string_view(out).substr(before) != run) return Step::kStrange;
        i += run.size();
      } else if (byte == '&') {
        bool known = false;
        for (const auto& [reference, character] : kReferences) {
          if (!rest.starts_with(reference)) continue;
          out += character;
          i += reference.size();
          known = true;
          break;
        }
        if (!known) return Step::kStrange;
      } else if (byte < 0x20 || byte == '<') {
        return Step::kStrange;
      } else {
        out += bytes_[i++];
      }
    }
    cursor_ = close;
    value = out;
    return Step::kDone;
  }
  static constexpr std::pair<std::string_view, char> kReferences[] = {
      {"&lt;", '<'},    {"&gt;", '>'},   {"&amp;", '&'}, {"&quot;", '"'},
      {"&apos;", '\''}, {"&#10;", '\n'}, {"&#9;", '\t'}, {"&#13;", '\r'}};

  // expat continues at the start of the element that is not understood here.
  bool hand_over(bool last) {
    slow_ = make_expat_parser(handler_, {.position = {here_.line, here_.column + characters(here_.mark, at_)},
                                         .offset = dropped_ + at_,
                                         .in_root = in_root_});
    const std::size_t size = end_ - at_;
    for (std::size_t done = 0; done < size || last;) {
      const std::size_t piece = std::min<std::size_t>(size - done, 64u << 10);
      char* to = slow_->buffer(std::max<std::size_t>(piece, 1));
      if (to == nullptr) return false;
      std::memcpy(to, bytes_.data() + at_ + done, piece);
      done += piece;
      const bool is_last = last && done == size;
      if (!slow_->feed(piece, is_last)) return false;
      if (is_last) break;
    }
    bytes_ = {};
    return true;
  }

  XmlHandler& handler_;
  std::unique_ptr<XmlParser> slow_;
  const std::optional<Fault> no_fault_;
  std::vector<char> bytes_;
  std::size_t at_ = 0, end_ = 0, cursor_ = 0;  // consumed up to at_; filled up to end_
  std::uint64_t dropped_ = 0;                  // bytes before the buffer that were given up
  bool in_root_ = false;
  Place here_, event_;
  std::vector<Part> parts_;
  std::vector<XmlAttribute> attributes_;
  std::deque<std::string> decoded_;  // values that differ from their bytes in the buffer
  std::uint64_t seen_ = 0;
};

}  // namespace

std::unique_ptr<XmlParser> make_fast_parser(XmlHandler& handler) { return std::make_unique<FastParser>(handler); }

}  // namespace jtrace::trace::io
