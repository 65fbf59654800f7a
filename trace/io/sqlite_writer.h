// A trace as an SQLite database, for queries by users (docs/formats.md has examples). One thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/io/converter.h"

namespace jtrace::trace::io {

// Written beside `path` with mode 0600; finish() renames it, otherwise it is removed. Every event is a row of table
// event; text without a column (parameters, options' keys...) is in tables of its own or is counted as lost.
Result<std::unique_ptr<Converter>> make_sqlite_writer(const std::string& path);

}  // namespace jtrace::trace::io
