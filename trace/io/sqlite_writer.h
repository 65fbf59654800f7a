// A trace as an SQLite database: tables that a person can ask (docs/formats.md has examples). One thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/io/converter.h"

namespace jtrace::trace::io {

// Written beside `path`, mode 0600; finish() gives it its name, otherwise it goes. Every event is a row of table event;
// text that no column has (parameters, options' keys...) stands in tables of its own or is counted as lost.
Result<std::unique_ptr<Converter>> make_sqlite_writer(const std::string& path);

}  // namespace jtrace::trace::io
