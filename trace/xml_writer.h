// XmlWriter: writes events as the XML of trace.dtd, one element per line (its children on the same line), UTF-8.
//
// The order of attributes is fixed: first those whose position public line-based readers use, then the others as
// declared, extensions last. The writer does not assign or check meanings: ids, collationValue and traceIdRef are
// written as given. The same events give the same bytes. write() fails if the sink is full or broken (ByteSink), or if
// a #REQUIRED attribute is absent (a fault of the producer; nothing of that event is written). One thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/call_lines.h"
#include "trace/digits.h"
#include "trace/event_sink.h"
#include "trace/schema.h"

namespace jtrace::trace {

enum class XmlForm : std::uint8_t {
  kDocument,   // <?xml ...?>, <TRACE>, elements, </TRACE>: valid against jtrace.dtd and trace.xsd
  kFragments,  // elements alone, extensions included
  // Elements alone, each valid against the original trace.dtd with itself as root: no extensions, always an
  // InvocationContext on methodEntry, values of methodExit, methodCall and methodReturn as fragments after them (with
  // the traceIdRef of their element if they have none).
  kStrictFragments,
};
enum class XmlNames : std::uint8_t {
  kExact,    // &lt;init&gt;
  kClassic,  // -init-, as in old traces
};

struct XmlWriterOptions {
  XmlForm form = XmlForm::kDocument;
  XmlNames names = XmlNames::kExact;
  std::string doctype = {};  // system id of a DOCTYPE ("jtrace.dtd"), "" for none; documents only
  // The document has exactly one traceStart: traceIdRef is left out where it is not required.
  bool single_trace = false;
};

class XmlWriter final : public EventSink {
 public:
  // Borrows `bytes`.
  explicit XmlWriter(ByteSink& bytes, XmlWriterOptions options = {});

  // Writes the head of a document and passes it to the destination at once. Otherwise write() or finish() does it.
  Result<> begin();
  // Instead of begin(): the destination has the head of the document already.
  void go_on() {
    begun_ = true;
    is_open_ = options_.form == XmlForm::kDocument;
  }
  Result<> write(const Event& event) override;
  // Ends the document (from the sink's reserve if it is full) and finishes the sink.
  Result<> finish() override;

 private:
  friend struct XmlFormat;
  template <class Element>
  Result<> write_element(const Element& element);
  template <class Element>
  Result<> write_call(const Element& element);
  Result<> write_values_after(List<Value> values, Text trace_id);

  ByteSink& bytes_;
  XmlWriterOptions options_;
  bool strict_;
  bool begun_ = false;
  bool is_open_ = false;  // it has a root element, to be closed
  TimeFormatter time_;
  CountFormatter collation_;
  CallLines calls_;
  const AttributeInfo* missing_ = nullptr;  // a #REQUIRED attribute that the event being written lacks
};

}  // namespace jtrace::trace
