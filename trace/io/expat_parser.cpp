// XmlParser by expat.
#include <expat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "trace/io/xml_parser.h"

namespace jtrace::trace::io {
namespace {

class ExpatParser final : public XmlParser {
 public:
  ExpatParser(XmlHandler& handler, const XmlStart& start)
      : handler_(handler), start_(start), parser_(XML_ParserCreate("UTF-8")) {
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, start_element, end_element);
    XML_SetCharacterDataHandler(parser_, character_data);
    XML_SetEntityDeclHandler(parser_, entity_declaration);
    XML_SetExternalEntityRefHandler(parser_, external_entity);
    XML_SetSkippedEntityHandler(parser_, skipped_entity);
    if (!start_.in_root) return;
    swallow_root_ = true;
    fed_ = kRoot.size();
    XML_Parse(parser_, kRoot.data(), static_cast<int>(kRoot.size()), XML_FALSE);
  }
  ~ExpatParser() override { XML_ParserFree(parser_); }

  char* buffer(std::size_t size) override { return static_cast<char*>(XML_GetBuffer(parser_, static_cast<int>(size))); }
  bool feed(std::size_t size, bool last) override {
    fed_ += size;
    const XML_Status status = XML_ParseBuffer(parser_, static_cast<int>(size), last ? XML_TRUE : XML_FALSE);
    if (status != XML_STATUS_OK) {
      if (!fault_ && !stopped_) fault_ = fault_of_error();
      return false;
    }
    // One token has not been passed on yet.
    if (const XML_Index at = XML_GetCurrentByteIndex(parser_); at >= 0) reached_ = static_cast<std::uint64_t>(at);
    if (fed_ - reached_ <= kMaxToken) return true;
    fault_ =
        Fault{"a tag or a text is longer than " + std::to_string(kMaxToken) + " bytes", {}, false, false, position()};
    return false;
  }
  const std::optional<Fault>& fault() const override { return fault_; }
  Position position() const override {
    const Position at{XML_GetCurrentLineNumber(parser_), XML_GetCurrentColumnNumber(parser_) + 1};
    if (at.line != 1) return {start_.position.line + at.line - 1, at.column};
    const std::uint64_t root = start_.in_root ? kRoot.size() : 0;
    return {start_.position.line, start_.position.column - 1 + (at.column > root ? at.column - root : 1)};
  }

 private:
  static constexpr std::string_view kRoot = "<TRACE>";
  static ExpatParser& self(void* data) { return *static_cast<ExpatParser*>(data); }

  static void XMLCALL start_element(void* data, const XML_Char* name, const XML_Char** attributes) {
    ExpatParser& parser = self(data);
    if (parser.fault_ || parser.stopped_ || std::exchange(parser.swallow_root_, false)) return;
    parser.attributes_.clear();
    for (; *attributes != nullptr; attributes += 2) {
      const std::string_view value(attributes[1]);
      if (value.size() > kMaxToken)
        return parser.refuse("attribute " + std::string(attributes[0]) + " longer than " + std::to_string(kMaxToken) +
                             " bytes");
      parser.attributes_.push_back({attributes[0], value});
    }
    parser.go_on(parser.handler_.on_start(name, parser.attributes_));
  }
  static void XMLCALL end_element(void* data, const XML_Char*) {
    ExpatParser& parser = self(data);
    if (!parser.fault_ && !parser.stopped_) parser.go_on(parser.handler_.on_end());
  }
  static void XMLCALL character_data(void* data, const XML_Char* text, int size) {
    ExpatParser& parser = self(data);
    if (parser.fault_ || parser.stopped_) return;
    parser.go_on(parser.handler_.on_text({text, static_cast<std::size_t>(size)}));
  }
  static void XMLCALL entity_declaration(void* data, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                                         const XML_Char* system_id, const XML_Char*, const XML_Char*) {
    self(data).refuse(system_id != nullptr ? "external entities are not allowed" : "entity expansion refused");
  }
  static int XMLCALL external_entity(XML_Parser parser, const XML_Char*, const XML_Char*, const XML_Char*,
                                     const XML_Char*) {
    self(XML_GetUserData(parser)).refuse("external entities are not allowed");
    return XML_STATUS_ERROR;
  }
  static void XMLCALL skipped_entity(void* data, const XML_Char* name, int is_parameter) {
    if (is_parameter == 0) self(data).refuse("undefined entity &" + std::string(name) + ";");
  }

  void refuse(std::string text) {
    if (!fault_) fault_ = Fault{std::move(text), {}, false, false, position()};
    XML_StopParser(parser_, XML_FALSE);
  }
  void go_on(bool wanted) {
    if (wanted) return;
    stopped_ = true;
    XML_StopParser(parser_, XML_FALSE);
  }

  Fault fault_of_error() const {
    const XML_Error code = XML_GetErrorCode(parser_);
    Fault fault{XML_ErrorString(code), {}, false, false, position()};
    switch (code) {
      case XML_ERROR_NO_ELEMENTS: fault.unfinished = true; break;
      case XML_ERROR_UNCLOSED_TOKEN:
      case XML_ERROR_PARTIAL_CHAR:
      case XML_ERROR_UNCLOSED_CDATA_SECTION: fault.unfinished = fault.inside_token = true; break;
      case XML_ERROR_INVALID_TOKEN:
      case XML_ERROR_BAD_CHAR_REF: describe_byte(fault); break;
      case XML_ERROR_DUPLICATE_ATTRIBUTE: fault.text += " " + name_at_fault(); break;
      case XML_ERROR_JUNK_AFTER_DOC_ELEMENT: fault.help = "several documents in one file: split them"; break;
      default: break;
    }
    return fault;
  }
  std::string_view bytes_at_fault() const {
    int offset = 0, size = 0;
    const char* context = XML_GetInputContext(parser_, &offset, &size);
    if (context == nullptr || offset < 0 || offset >= size) return {};
    return {context + offset, static_cast<std::size_t>(size - offset)};
  }
  void describe_byte(Fault& fault) const {
    const std::string_view rest = bytes_at_fault();
    if (rest.empty()) return;
    char text[64];
    std::snprintf(text, sizeof text, ": byte 0x%02x at offset %lld", static_cast<unsigned char>(rest[0]),
                  static_cast<long long>(start_.offset) + XML_GetCurrentByteIndex(parser_) -
                      (start_.in_root ? static_cast<long long>(kRoot.size()) : 0));
    fault.text += text;
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (byte == '<') fault.help = "in names it must be escaped (&lt;init&gt;) or written -init-";
    if (byte == 0xc0 || byte == 0xed) fault.help = "--repair-utf8 takes the JVM's modified UTF-8";
  }
  std::string name_at_fault() const {
    const std::string_view rest = bytes_at_fault();
    return std::string(rest.substr(0, std::min<std::size_t>(rest.find_first_of("= \t\r\n"), 100)));
  }

  XmlHandler& handler_;
  XmlStart start_;
  XML_Parser parser_;
  bool swallow_root_ = false;
  std::vector<XmlAttribute> attributes_;
  std::optional<Fault> fault_;
  bool stopped_ = false;
  std::uint64_t fed_ = 0;
  std::uint64_t reached_ = 0;
};

}  // namespace

std::unique_ptr<XmlParser> make_expat_parser(XmlHandler& handler, const XmlStart& start) {
  return std::make_unique<ExpatParser>(handler, start);
}

}  // namespace jtrace::trace::io
