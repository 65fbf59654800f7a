// Owners of what SQLite gives, and its texts. Internal to trace/io.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <memory>
#include <string_view>

namespace jtrace::trace::io {

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

// Of the row that sqlite3_step() has reached; "" for NULL. Valid until the next step.
inline std::string_view column_text(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
}

}  // namespace jtrace::trace::io
