// libFuzzer program: any bytes as a trace in XML (packed ones too), through the validator and the statistics; strict
// and not, mended and not.
#include <cstdint>
#include <string_view>

#include "trace/io/open_source.h"
#include "trace/io/statistics.h"
#include "trace/io/validator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::trace::io;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool strict : {false, true}) {
    FaultLog faults({.strict = strict, .print = [](const std::string&) {}});
    Validator validator("in", faults);
    Statistics statistics;
    jtrace::trace::TeeSink both({&validator, &statistics});
    auto input = memory_byte_source(bytes);
    if (!input) continue;
    auto source = make_event_source(std::move(*input), "in", faults, {.strict = strict, .repair_utf8 = strict});
    if (!source) continue;
    validator.set_source(source->get());
    if (!(*source)->read(both)) continue;
    (void)both.finish();
    (void)statistics_text(statistics, 10);
  }
  return 0;
}
