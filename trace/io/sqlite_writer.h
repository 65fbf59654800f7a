// A trace as an SQLite database, for queries by users (docs/sql.md has examples). One thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "trace/io/converter.h"
#include "trace/io/sqlite_handle.h"

namespace jtrace::trace::io {

// Written beside `path` with mode 0600; finish() renames it, otherwise it is removed. Every event is a row of table
// event; text without a column (parameters, options' keys...) is in tables of its own or is counted as lost.
Result<std::unique_ptr<Converter>> make_sqlite_writer(const std::string& path);

// The same without a name: SQLite keeps it in memory, and what is too large for that in a file of its own in its
// temporary folder (SQLITE_TMPDIR, TMPDIR, /var/tmp, /tmp), unlinked as soon as it is open.
class TemporaryDatabaseWriter : public Converter {
 public:
  virtual Database take() = 0;  // once, after finish()
};
Result<std::unique_ptr<TemporaryDatabaseWriter>> make_temporary_database();

}  // namespace jtrace::trace::io
