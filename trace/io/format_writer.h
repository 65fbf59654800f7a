// FormatWriter: the sinks that write a trace in one of the formats of jtrace convert, by the format's name: xml,
// fragments, jsonl, sddf, chrome, speedscope, collapsed, sqlite. Two more are made from another one: csv from a
// database (sqlite_csv.h), svg from a profile. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/byte_sink.h"
#include "trace/io/converter.h"
#include "trace/io/stack_profile.h"
#include "trace/xml_writer.h"

namespace jtrace::trace::io {

struct FormatOptions {
  std::string format;
  std::string input;                  // its name
  Weight weight = Weight::kWall;      // of collapsed stacks
  XmlNames names = XmlNames::kExact;  // of XML
  std::string doctype;                // of XML; "": none
};

// The format by the end of the output's name; "" if the name has none.
std::string_view format_of_name(std::string_view path);

// True for formats that are written as a database first: sqlite and csv.
bool needs_database(std::string_view format);
// kUsage or kRefused if a format that needs a database cannot be written to this output.
Result<> check_database_output(const std::string& output, std::string_view format);

class FormatWriter {
 public:
  // A format that needs no database. `bytes`: borrowed.
  static FormatWriter to_bytes(ByteSink& bytes, const FormatOptions& options);
  static Result<FormatWriter> to_database(const std::string& path);

  EventSink& sink() { return *sink_; }
  // It counts what the format cannot hold. nullptr for XML, which holds everything.
  const Converter* converter() const { return converter_.get(); }
  Converter* converter() { return converter_.get(); }

 private:
  std::unique_ptr<XmlWriter> xml_;
  std::unique_ptr<EventSink> with_ids_;  // before xml_, for fragments
  std::unique_ptr<Converter> converter_;
  EventSink* sink_ = nullptr;  // the first of them
};

// A profile as collapsed, speedscope or svg. kUsage for other formats. `input`: the name of its file.
Result<std::string> profile_as(const StackProfile& profile, std::string_view format, const std::string& input);

}  // namespace jtrace::trace::io
