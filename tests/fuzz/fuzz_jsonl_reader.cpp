// libFuzzer program: any bytes as JSON lines. What was read is written and read again; both must be equal.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "trace/io/converter.h"
#include "trace/io/jsonl_source.h"
#include "trace/io/open_source.h"

namespace {

using namespace jtrace::trace;
using namespace jtrace::trace::io;

bool rewrite(std::string_view bytes, std::string& out) {
  FaultLog faults;
  MemorySink lines(16u << 10);
  const auto writer = make_jsonl_writer(lines);
  auto source = make_jsonl_source(std::move(*memory_byte_source(bytes)), "in", faults, false);
  const bool whole = source->read(*writer).has_value();
  (void)writer->finish();
  out = lines.text();
  return whole;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string once, twice;
  if (size >= 4 && data[0] != '{' && data[0] != '\n') return -1;  // compressed input belongs to the other programs
  (void)rewrite({reinterpret_cast<const char*>(data), size}, once);
  if (!rewrite(once, twice) || once != twice) std::abort();
  return 0;
}
