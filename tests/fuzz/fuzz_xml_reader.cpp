// libFuzzer program: any bytes as a trace in XML (compressed too), through the validator and the statistics; strict and
// not, with and without --repair-utf8. The fast parser and expat alone must report and write the same.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trace/io/open_source.h"
#include "trace/io/statistics.h"
#include "trace/io/validator.h"
#include "trace/xml_writer.h"

namespace {

using namespace jtrace::trace;
using namespace jtrace::trace::io;

// The reported faults, and the events that were read.
std::string read(std::string_view bytes, bool strict, bool expat_only) {
  std::string said;
  FaultLog faults({.strict = strict, .limit = 1000, .print = [&](const std::string& text) { said += text + "\n"; }});
  Validator validator("in", faults);
  Statistics statistics;
  MemorySink out(16u << 10);
  XmlWriter writer(out);
  TeeSink all({&writer, &validator, &statistics});
  auto input = memory_byte_source(bytes);
  if (!input) return input.error().message();
  auto source = make_event_source(std::move(*input), "in", faults,
                                  {.strict = strict, .expat_only = expat_only, .repair_utf8 = strict});
  if (!source) return source.error().message();
  validator.set_source(source->get());
  const auto summary = (*source)->read(all);
  if (!summary) said += summary.error().message() + "\n";
  else said += std::to_string(summary->elements) + (summary->truncated ? " truncated\n" : "\n");
  (void)all.finish();
  (void)statistics_text(statistics, 10);
  return said + out.text();
}

// Both must find a faulty text faulty; position and wording may differ (the fast parser passes such a text to expat,
// which counts from there).
bool is_faulty(const std::string& said) { return said.starts_with("in:") || said.find("\nin:") != said.npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool strict : {false, true}) {
    const std::string fast = read(bytes, strict, false), expat = read(bytes, strict, true);
    if (fast == expat || (is_faulty(fast) && is_faulty(expat))) continue;
    std::fprintf(stderr, "fast:\n%s\nexpat:\n%s\n", fast.c_str(), expat.c_str());
    std::abort();
  }
  return 0;
}
