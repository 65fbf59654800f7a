// XmlParser: the interface between XmlSource and an XML library. The parser calls a handler with the parts of a
// document. Entities, external or declared, are refused; a token (a tag, a text, a comment) has at most kMaxToken
// bytes. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/io/fault_log.h"

namespace jtrace::trace::io {

inline constexpr std::size_t kMaxToken = 1u << 20;

struct XmlAttribute {
  std::string_view name;
  std::string_view value;  // unescaped
};

// Arguments are borrowed until the call returns. If a function returns false, the parser stops: feed() returns false
// too, without a fault.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual bool on_start(std::string_view name, std::span<const XmlAttribute> attributes) = 0;
  virtual bool on_end() = 0;
  virtual bool on_text(std::string_view text) = 0;  // may be called several times for one text
};

class XmlParser {
 public:
  struct Fault {
    std::string text;
    std::string help;
    bool unfinished = false;    // the document ends too early; nothing else is wrong
    bool inside_token = false;  // ... and does so within a tag or a text
    Position position;
  };

  virtual ~XmlParser() = default;
  // Memory for the next `size` bytes, or null if there is none.
  virtual char* buffer(std::size_t size) = 0;
  // Parses the next `size` bytes, which are in buffer(); `last`: nothing follows. False: stopped by the handler, or at
  // fault().
  virtual bool feed(std::size_t size, bool last) = 0;
  virtual const std::optional<Fault>& fault() const = 0;
  // The position of the part that is being passed to the handler.
  virtual Position position() const = 0;
};

// The position at which a parser starts in the middle of a document.
struct XmlStart {
  Position position{1, 1};
  std::uint64_t offset = 0;
  bool in_root = false;  // the position is inside the root element, whose start was passed to the handler
};
// `handler`: borrowed.
std::unique_ptr<XmlParser> make_expat_parser(XmlHandler& handler, const XmlStart& start = {});
// Faster, for the plain XML of traces; switches to expat by itself for everything else.
std::unique_ptr<XmlParser> make_fast_parser(XmlHandler& handler);

}  // namespace jtrace::trace::io
