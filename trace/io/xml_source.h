// XmlSource: reads the XML of trace.dtd as events: documents, fragments (elements without a root, recognised by the
// first name), and files that are cut off. Streams: its memory does not grow with the input. Accepts both spellings of
// names that the DTD misspells, -init- and <init>, and unknown names (left out, counted, reported once). Own limits:
// kMaxToken bytes per token, kMaxXmlDepth levels, no entities. One thread.
#pragma once

#include <memory>
#include <string>

#include "trace/io/byte_source.h"
#include "trace/io/element_builder.h"
#include "trace/io/event_source.h"
#include "trace/io/xml_parser.h"

namespace jtrace::trace::io {

inline constexpr std::size_t kMaxXmlDepth = 16;

struct XmlSourceOptions {
  bool strict = false;       // a file that is cut off is an error
  bool expat_only = false;   // without the faster parser (tests compare the two)
  bool repair_utf8 = false;  // C0 80 and surrogates of three bytes each are converted, and counted
};

class XmlSource final : public EventSource {
 public:
  // `name` is used in messages. `faults`: borrowed.
  XmlSource(std::unique_ptr<ByteSource> source, std::string name, FaultLog& faults, XmlSourceOptions options = {});
  ~XmlSource() override;

  Result<ReadSummary> read(EventSink& sink) override;
  Position position() const override;

 private:
  class Handler;
  class Repair;
  Result<> feed_all(std::string_view head);
  Result<> feed_piece(std::string_view piece, bool last);
  Result<> after_feed(bool fed);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  FaultLog& faults_;
  XmlSourceOptions options_;
  std::unique_ptr<Handler> handler_;
  std::unique_ptr<XmlParser> parser_;
  ReadSummary summary_;
};

}  // namespace jtrace::trace::io
