// libFuzzer program: any bytes as the texts that hsperf reads: conditions, HTTP requests, /proc/locks, the formats of a
// saved series. The first byte selects the kind.
#include <cstdint>
#include <string>
#include <string_view>

#include "perfdata/discovery.h"
#include "perfdata/expression.h"
#include "perfdata/http_server.h"
#include "perfdata/openmetrics.h"
#include "perfdata/value_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::perfdata;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
    case 0:
      if (const auto expression = Expression::parse(text))
        (void)expression->holds([](const Expression::Name& name) { return static_cast<double>(name.text.size()); });
      break;
    case 1: {
      HttpRequest request;
      (void)parse_http_request(text, request);
      break;
    }
    case 2: (void)parse_flocks(text); break;
    case 3: (void)parse_value_format(text); break;
    case 4: (void)parse_prologue_text(text); break;
    default: {
      // A written value must be read again as the same value.
      ValueEncoding encoding = ValueEncoding::kPlain;
      const std::string written = encode_text(text, encoding);
      if (decode_text(written, encoding) != std::string(text)) __builtin_trap();
      (void)metric_name(text);
    }
  }
  return 0;
}
