// XmlParser: the seam between XmlSource and the library that knows XML. It pushes the parts of a document into a
// handler; entities, external or declared, are refused; a token (a tag, a text, a comment) is at most kMaxToken long.
// One thread.
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

// What is passed is borrowed until the call returns. A false return stops the parser: feed() returns false too, without
// a fault.
class XmlHandler {
 public:
  virtual ~XmlHandler() = default;
  virtual bool on_start(std::string_view name, std::span<const XmlAttribute> attributes) = 0;
  virtual bool on_end() = 0;
  virtual bool on_text(std::string_view text) = 0;  // may come in pieces
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
  // Where to put the next bytes: `size` of them, or null where there is no memory.
  virtual char* buffer(std::size_t size) = 0;
  // The first `size` bytes there are next; `last`: nothing follows. False: stopped, by the handler or by fault().
  virtual bool feed(std::size_t size, bool last) = 0;
  virtual const std::optional<Fault>& fault() const = 0;
  // Of what the handler is being given.
  virtual Position position() const = 0;
};

// Where a parser begins that takes over in the midst of a document.
struct XmlStart {
  Position position{1, 1};
  std::uint64_t offset = 0;
  bool in_root = false;  // what comes stands in the root element, whose start the handler has had
};
// `handler`: borrowed.
std::unique_ptr<XmlParser> make_expat_parser(XmlHandler& handler, const XmlStart& start = {});
// For the plain XML of traces, faster; goes over to expat by itself for everything else.
std::unique_ptr<XmlParser> make_fast_parser(XmlHandler& handler);

}  // namespace jtrace::trace::io
