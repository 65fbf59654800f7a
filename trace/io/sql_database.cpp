#include "trace/io/sql_database.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "trace/io/losses.h"

namespace jtrace::trace::io {

// What the authorizer refused last, in words.
struct SqlDatabase::Guard {
  std::string refused;
};

void SqlDatabase::EndGuard::operator()(Guard* guard) const { delete guard; }

namespace {

constexpr std::string_view kPragmas[] = {"table_info", "table_xinfo", "table_list", "index_list", "index_info"};
constexpr std::string_view kOnlyReads = "a query only reads, and this statement would change something";
constexpr std::string_view kFunctions[] = {"load_extension", "fts3_tokenizer"};

template <std::size_t kCount>
bool is_one_of(std::string_view word, const std::string_view (&words)[kCount]) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view each) { return each == word; });
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : text; }

// "": the action only reads.
std::string refusal(int action, std::string_view first, std::string_view second) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return {};
    case SQLITE_FUNCTION:
      return is_one_of(second, kFunctions) ? "the function " + std::string(second) + " is not allowed" : "";
    case SQLITE_UPDATE:
      // SQLite declares its own tables so (json_each); a statement that does it is refused after this as no reader.
      if (first == "sqlite_master") return {};
      return std::string(kOnlyReads);
    case SQLITE_PRAGMA:
      return is_one_of(first, kPragmas) ? "" : "PRAGMA " + std::string(first) + " is not allowed; table_info is";
    case SQLITE_ATTACH: return "ATTACH is not allowed: a query reads this file alone";
    default: return std::string(kOnlyReads);
  }
}

// As sqlite3_error_offset() counts: bytes.
std::string place_of(std::string_view query, int offset) {
  if (offset < 0 || static_cast<std::size_t>(offset) > query.size()) return {};
  const std::string_view before = query.substr(0, static_cast<std::size_t>(offset));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::string_view in_line = before.substr(start);
  const auto character = std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xc0) != 0x80; }) + 1;
  return " (line " + std::to_string(line) + ", character " + std::to_string(character) + ")";
}

// What "no such column: w.metod" says is not there; "" for other messages.
std::string_view missing_name(std::string_view message) {
  for (const std::string_view begin : {"no such table: ", "no such column: "})
    if (message.starts_with(begin)) {
      const std::string_view name = message.substr(begin.size());
      return name.substr(name.rfind('.') + 1);
    }
  return {};
}

bool bind(sqlite3_stmt* statement, int at, const std::string& value) {
  if (const auto integer = parse_decimal<std::int64_t>(value))
    return sqlite3_bind_int64(statement, at, *integer) == SQLITE_OK;
  char* end = nullptr;
  const bool may_be_real = value.find_first_not_of("+-.0123456789eE") == std::string::npos && !value.empty();
  const double real = may_be_real ? std::strtod(value.c_str(), &end) : 0;
  if (may_be_real && *end == '\0') return sqlite3_bind_double(statement, at, real) == SQLITE_OK;
  return sqlite3_bind_text(statement, at, value.data(), static_cast<int>(value.size()), SQLITE_TRANSIENT) == SQLITE_OK;
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

ErrorCategory category_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCategory::kMalformed;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PERM:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
    case SQLITE_NOMEM:
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN: return ErrorCategory::kRefused;
    default: return ErrorCategory::kUsage;
  }
}

Error failed(sqlite3* db) {
  const ErrorCategory category = category_of(sqlite3_errcode(db));
  const std::string what = category == ErrorCategory::kUsage ? "the query is wrong: " : "cannot read the database: ";
  return Error{.category = category, .text = what + printable(sqlite3_errmsg(db))};
}

SqlCell cell_of(sqlite3_stmt* row, int column) {
  SqlCell cell;
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER:
      cell.kind = SqlCell::Kind::kInteger;
      cell.integer = sqlite3_column_int64(row, column);
      return cell;
    case SQLITE_FLOAT:
      cell.kind = SqlCell::Kind::kReal;
      cell.real = sqlite3_column_double(row, column);
      return cell;
    case SQLITE_NULL: return cell;
    case SQLITE_BLOB: cell.kind = SqlCell::Kind::kBlob; break;
    default: cell.kind = SqlCell::Kind::kText; break;
  }
  if (cell.kind == SqlCell::Kind::kText) {
    cell.text = column_text(row, column);
    return cell;
  }
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(row, column));
  constexpr char kDigits[] = "0123456789abcdef";
  for (int i = 0; i < sqlite3_column_bytes(row, column); ++i) {
    cell.text += kDigits[bytes[i] >> 4];
    cell.text += kDigits[bytes[i] & 15];
  }
  return cell;
}

}  // namespace

SqlAnswer::SqlAnswer(sqlite3* db, Statement statement) : db_(db), statement_(std::move(statement)) {
  for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i)
    columns_.emplace_back(text_of(sqlite3_column_name(statement_.get(), i)));
}

Result<bool> SqlAnswer::next() {
  const int step = sqlite3_step(statement_.get());
  if (step == SQLITE_ROW) return true;
  if (step == SQLITE_DONE) return false;
  return fail(failed(db_));
}

SqlRow SqlAnswer::row() const {
  SqlRow cells;
  for (int i = 0; i < static_cast<int>(columns_.size()); ++i) cells.push_back(cell_of(statement_.get(), i));
  return cells;
}

SqlDatabase::SqlDatabase(Database db, std::string name)
    : guard_(new Guard), db_(std::move(db)), name_(std::move(name)) {
  // Also for views of a file that somebody else made: they may call nothing that has an effect.
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  const auto allows = [](void* guard, int action, const char* first, const char* second, const char*, const char*) {
    std::string why = refusal(action, text_of(first), text_of(second));
    if (why.empty()) return SQLITE_OK;
    static_cast<Guard*>(guard)->refused = std::move(why);
    return SQLITE_DENY;
  };
  sqlite3_set_authorizer(db_.get(), allows, guard_.get());
}

Result<SqlDatabase> SqlDatabase::open(const std::string& path) {
  sqlite3* made = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &made, SQLITE_OPEN_READONLY, nullptr);
  Database db(made);
  if (status != SQLITE_OK)
    return fail(ErrorCategory::kRefused, "cannot open the database " + path + ": " + sqlite3_errstr(status));
  SqlDatabase database(std::move(db), path);
  if (auto read = database.run("SELECT count(*) FROM sqlite_master"); !read || !read->next()) {
    Error error = failed(database.db_.get());
    error.path = path;
    return fail(std::move(error));
  }
  return database;
}

Error SqlDatabase::wrong(std::string_view query) const {
  Error error = failed(db_.get());
  if (error.category != ErrorCategory::kUsage) {
    error.path = name_;
    return error;
  }
  if (!guard_->refused.empty()) {
    error.text = guard_->refused;
    return error;
  }
  error.text += place_of(query, sqlite3_error_offset(db_.get()));
  return error;
}

// `missing`: a name that is neither a view nor a column.
std::string SqlDatabase::advice(std::string_view missing) const {
  std::vector<std::string> known;
  if (const auto all = tables())
    for (const Table& table : *all) {
      known.push_back(table.name);
      known.insert(known.end(), table.columns.begin(), table.columns.end());
    }
  const std::string_view nearest = nearest_word(missing, {known.begin(), known.end()});
  return nearest.empty() ? "jtrace sql " + shell_word(name_) + " lists the views and their columns"
                         : "did you mean " + std::string(nearest) + "?";
}

Result<Statement> SqlDatabase::prepare(std::string_view query, std::string_view* rest) const {
  guard_->refused.clear();
  sqlite3_stmt* made = nullptr;
  const char* end = nullptr;
  if (sqlite3_prepare_v2(db_.get(), query.data(), static_cast<int>(query.size()), &made, &end) != SQLITE_OK)
    return fail(wrong(query));
  *rest = query.substr(static_cast<std::size_t>(end - query.data()));
  return Statement(made);
}

Result<SqlAnswer> SqlDatabase::ask(std::string_view query, const SqlValues& values) const {
  auto answer = run(query, values);
  if (answer) return answer;
  const std::string message = sqlite3_errmsg(db_.get());
  const std::string_view missing = missing_name(message);
  return missing.empty() ? std::move(answer) : fail(answer.error().with_help(advice(missing)));
}

Result<SqlAnswer> SqlDatabase::run(std::string_view query, const SqlValues& values) const {
  std::string_view rest;
  if (query.find('\0') != query.npos) return fail(ErrorCategory::kUsage, "the query has a zero byte in it");
  JTRACE_ASSIGN_OR_RETURN(Statement statement, prepare(query, &rest));
  if (!statement) return fail(ErrorCategory::kUsage, "the query is empty");
  while (!trimmed(rest).empty()) {
    const std::string_view more = rest;
    const auto second = prepare(more, &rest);
    if (!second || *second) return fail(ErrorCategory::kUsage, "one query at a time: there is more after its ';'");
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0) return fail(ErrorCategory::kUsage, std::string(kOnlyReads));
  for (const auto& [name, value] : values) {
    const int at = sqlite3_bind_parameter_index(statement.get(), (":" + name).c_str());
    if (at == 0) return fail(ErrorCategory::kUsage, "the query has no :" + name);
    if (!bind(statement.get(), at, value)) return fail(failed(db_.get()));
  }
  return SqlAnswer(db_.get(), std::move(statement));
}

std::vector<std::string> SqlDatabase::texts(const char* query) const {
  std::vector<std::string> all;
  auto answer = run(query);
  if (!answer) return all;
  for (auto more = answer->next(); more && *more; more = answer->next()) {
    const SqlRow row = answer->row();
    all.push_back(row.front().kind == SqlCell::Kind::kInteger ? std::to_string(row.front().integer) : row.front().text);
  }
  return all;
}

Result<std::vector<SqlDatabase::Table>> SqlDatabase::tables() const {
  // In the order in which they were made.
  std::vector<std::string> names = texts("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY rowid");
  if (names.empty())
    names = texts("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
  std::vector<Table> tables;
  for (std::string& name : names) {
    const std::string from = " FROM " + quoted_name(name);
    JTRACE_ASSIGN_OR_RETURN(const SqlAnswer shape, run("SELECT *" + from));
    JTRACE_ASSIGN_OR_RETURN(SqlAnswer count, run("SELECT count(*)" + from));
    JTRACE_ASSIGN_OR_RETURN(const bool counted, count.next());
    const auto rows = counted ? static_cast<std::uint64_t>(count.row().front().integer) : 0;
    tables.push_back({std::move(name), shape.columns(), rows});
  }
  return tables;
}

std::vector<std::string> SqlDatabase::lacks() const {
  constexpr std::string_view kMissing = "missing: ";
  std::vector<std::string> lines;
  for (const std::string& note : texts("SELECT note FROM note WHERE note LIKE 'missing: %'"))
    lines.push_back(note.substr(kMissing.size()));
  Losses losses;
  for (const std::string& dropped : texts("SELECT CAST(total(dropped) AS INTEGER) FROM agent"))
    losses.events = parse_decimal<std::uint64_t>(dropped).value_or(0);
  const auto notes = texts("SELECT note FROM note");
  losses.lacks_end = std::find(notes.begin(), notes.end(), kLacksEnd) != notes.end();
  for (const std::string& line : lines_of(losses)) lines.push_back(name_ + ": " + line);
  return lines;
}

}  // namespace jtrace::trace::io
