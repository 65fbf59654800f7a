#include "trace/io/json_table.h"

#include <memory>
#include <vector>

#include "trace/io/csv_field.h"
#include "trace/io/sqlite_handle.h"

namespace jtrace::trace::io {
namespace {

struct FreeBytes {
  void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};

tl::unexpected<Error> refused(sqlite3* db) {
  return fail(ErrorCategory::kRefused, std::string("the answer makes no table: ") + sqlite3_errmsg(db));
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

// The path of a member in SQLite's functions for JSON.
std::string quoted_path(std::string_view key) {
  std::string text = "'$.\"";
  for (const char c : key) text.append(c == '\'' ? 2 : 1, c);
  return text + "\"'";
}

// A statement of which the first parameter is the document.
Result<Statement> prepare(sqlite3* db, const std::string& sql, std::string_view document) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &made, nullptr) != SQLITE_OK) return refused(db);
  Statement statement(made);
  if (sqlite3_bind_parameter_count(made) > 0 &&
      sqlite3_bind_text64(made, 1, document.data(), document.size(), SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK)
    return refused(db);
  return statement;
}

template <class EachRow>
Result<> run(sqlite3* db, const std::string& sql, std::string_view document, EachRow&& each_row) {
  JTRACE_ASSIGN_OR_RETURN(const Statement statement, prepare(db, sql, document));
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) each_row(statement.get());
  if (step != SQLITE_DONE) return refused(db);
  return {};
}
Result<> run(sqlite3* db, const std::string& sql, std::string_view document) {
  return run(db, sql, document, [](sqlite3_stmt*) {});
}

Result<Database> open(std::string_view document) {
  sqlite3* made = nullptr;
  const int opened = sqlite3_open_v2(":memory:", &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database db(made);
  if (opened != SQLITE_OK) return fail(ErrorCategory::kRefused, "no memory for a database");
  bool is_valid = false;
  std::string type;
  JTRACE_RETURN_IF_ERROR(run(made, "SELECT json_valid(?1)", document,
                             [&](sqlite3_stmt* row) { is_valid = sqlite3_column_int(row, 0) != 0; }));
  if (is_valid)
    JTRACE_RETURN_IF_ERROR(
        run(made, "SELECT json_type(?1, '$.data')", document, [&](sqlite3_stmt* row) { type = column_text(row, 0); }));
  if (type != "array") return fail(ErrorCategory::kMalformed, "the answer is not JSON with rows");
  return db;
}

Result<std::vector<std::string>> keys_of_rows(sqlite3* db, std::string_view document) {
  std::vector<std::string> keys;
  std::string other;
  JTRACE_RETURN_IF_ERROR(run(db, "SELECT type FROM json_each(?1, '$.data') WHERE type <> 'object' LIMIT 1", document,
                             [&](sqlite3_stmt* row) { other = column_text(row, 0); }));
  if (!other.empty()) return fail(ErrorCategory::kRefused, "the answer makes no table: a row is of type " + other);
  JTRACE_RETURN_IF_ERROR(run(db,
                             "SELECT field.key FROM json_each(?1, '$.data') AS one, json_each(one.value) AS field "
                             "GROUP BY field.key ORDER BY min(one.id * 10000 + field.id)",
                             document, [&](sqlite3_stmt* row) { keys.emplace_back(column_text(row, 0)); }));
  return keys;
}

// The rows; null is SQL's NULL.
std::string select_of(const std::vector<std::string>& keys) {
  std::string columns;
  for (const std::string& key : keys)
    columns += (columns.empty() ? "" : ", ") + ("json_extract(one.value, " + quoted_path(key) + ")");
  return "SELECT " + columns + " FROM json_each(?1, '$.data') AS one ORDER BY one.id";
}

Result<> fill(sqlite3* db, std::string_view document, const std::vector<std::string>& keys) {
  std::string view;
  JTRACE_RETURN_IF_ERROR(
      run(db, "SELECT json_extract(?1, '$.view')", document, [&](sqlite3_stmt* row) { view = column_text(row, 0); }));
  const std::string table = quoted_name(view.empty() || view == "about" ? "answer" : view);
  std::string columns;
  for (const std::string& key : keys) columns += (columns.empty() ? "" : ", ") + quoted_name(key);
  if (!keys.empty()) {
    JTRACE_RETURN_IF_ERROR(run(db, "CREATE TABLE " + table + " (" + columns + ")", document));
    JTRACE_RETURN_IF_ERROR(run(db, "INSERT INTO " + table + " " + select_of(keys), document));
  }
  JTRACE_RETURN_IF_ERROR(run(db, "CREATE TABLE about (name TEXT, value)", document));
  // fullkey: "$.target.pid"; the rows have a table of their own.
  return run(db,
             "INSERT INTO about SELECT substr(fullkey, 3), CASE WHEN type = 'true' THEN 1 WHEN type = 'false' THEN 0 "
             "ELSE atom END FROM json_tree(json_remove(?1, '$.data')) WHERE atom IS NOT NULL ORDER BY id",
             document);
}

}  // namespace

Result<std::string> csv_of_json(std::string_view document) {
  JTRACE_ASSIGN_OR_RETURN(const Database db, open(document));
  JTRACE_ASSIGN_OR_RETURN(const auto keys, keys_of_rows(db.get(), document));
  if (keys.empty()) return std::string();
  std::string out;
  for (const std::string& key : keys) append_field(out, &key == &keys.front(), key);
  out += "\n";
  JTRACE_RETURN_IF_ERROR(run(db.get(), select_of(keys), document, [&](sqlite3_stmt* row) {
    for (int i = 0; i < sqlite3_column_count(row); ++i) append_field(out, i == 0, column_text(row, i));
    out += "\n";
  }));
  return out;
}

Result<std::vector<std::vector<JsonField>>> rows_of_json(std::string_view document) {
  JTRACE_ASSIGN_OR_RETURN(const Database db, open(document));
  std::vector<std::vector<JsonField>> rows;
  std::string last;
  JTRACE_RETURN_IF_ERROR(run(db.get(),
                             "SELECT one.key, field.key, field.value, field.type FROM json_each(?1, '$.data') AS one, "
                             "json_each(one.value) AS field ORDER BY one.id, field.id",
                             document, [&](sqlite3_stmt* row) {
                               if (std::string number(column_text(row, 0)); rows.empty() || number != last) {
                                 rows.emplace_back();
                                 last = std::move(number);
                               }
                               rows.back().push_back({.key = std::string(column_text(row, 1)),
                                                      .value = std::string(column_text(row, 2)),
                                                      .is_text = column_text(row, 3) == "text"});
                             }));
  return rows;
}

Result<std::string> database_of_json(std::string_view document) {
  JTRACE_ASSIGN_OR_RETURN(const Database db, open(document));
  JTRACE_ASSIGN_OR_RETURN(const auto keys, keys_of_rows(db.get(), document));
  JTRACE_RETURN_IF_ERROR(fill(db.get(), document, keys));
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, FreeBytes> bytes(sqlite3_serialize(db.get(), "main", &size, 0));
  if (!bytes) return fail(ErrorCategory::kRefused, "no memory for a database");
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

}  // namespace jtrace::trace::io
