// The views of a database of sqlite_writer.h as a folder of CSV files (RFC 4180): one file a view, its first line the
// names of the columns. Empty views have a file too.
#pragma once

#include <string>

#include "base/result.h"

namespace jtrace::trace::io {

// The folder appears when it is whole. Fails if something with its name exists. Files have mode 0600.
Result<> write_csv_folder(const std::string& database, const std::string& folder);

}  // namespace jtrace::trace::io
