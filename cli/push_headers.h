// The headers of requests to a server: from a file and from OTEL_EXPORTER_OTLP_HEADERS, so that no secret is on a
// command line.
#pragma once

#include <string>

#include "base/result.h"
#include "perfdata/http_client.h"

namespace jtrace::cli {

// `file`: "" for none. Errors: kUsage (it is no list of headers), kNotFound, kPermission (others may read the file).
Result<perfdata::HttpHeaders> push_headers(const std::string& file);

}  // namespace jtrace::cli
