// libFuzzer program: any bytes as SDDF, written as XML and as SDDF again. An input without SDDFA gets one.
#include <cstdint>
#include <string>

#include "trace/byte_sink.h"
#include "trace/io/converter.h"
#include "trace/io/sddf_format.h"
#include "trace/io/sddf_reader.h"
#include "trace/xml_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::trace;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with("SDDF")) bytes = io::sddf_head() + bytes;
  MemorySink xml_bytes, sddf_bytes;
  XmlWriter xml(xml_bytes);
  const auto sddf = io::make_sddf_writer(sddf_bytes);
  TeeSink both({&xml, sddf.get()});
  io::FaultLog faults;
  auto input = io::memory_byte_source(bytes);
  if (!input) return 0;
  const auto source = io::make_sddf_source(std::move(*input), "in", faults);
  (void)source->read(both);
  (void)both.finish();
  return 0;
}
