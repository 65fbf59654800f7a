// SqlDatabase: a database that is asked with SQL. A statement that does more than read is refused before it runs, also
// ATTACH and functions that load code. One thread.
//
// Errors: kUsage with SQLite's words and the place for a query that is wrong, refused, or fails while it runs;
// kMalformed for a database that cannot be read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/io/sqlite_handle.h"

namespace jtrace::trace::io {

// Values of :name in a query. What is a number is one in SQL too.
using SqlValues = std::map<std::string, std::string>;

struct SqlCell {
  enum class Kind : std::uint8_t { kNull, kInteger, kReal, kText, kBlob };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;  // of kBlob in hex
  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kReal; }
};
using SqlRow = std::vector<SqlCell>;

// The rows of a query, one after the other. The database outlives it.
class SqlAnswer {
 public:
  SqlAnswer(sqlite3* db, Statement statement);
  const std::vector<std::string>& columns() const { return columns_; }
  Result<bool> next();  // false: there are no more rows
  SqlRow row() const;   // the one that next() has reached

 private:
  sqlite3* db_;
  Statement statement_;
  std::vector<std::string> columns_;
};

class SqlDatabase {
 public:
  // `name`: for errors.
  SqlDatabase(Database db, std::string name);
  // One that is there, of `jtrace convert` or any other.
  static Result<SqlDatabase> open(const std::string& path);

  Result<SqlAnswer> ask(std::string_view query, const SqlValues& values) const;

  // Its views; of a database without views, its tables.
  struct Table {
    std::string name;
    std::vector<std::string> columns;
    std::uint64_t rows = 0;
  };
  Result<std::vector<Table>> tables() const;
  // What the trace of which `jtrace convert` made it lacks, a line each.
  std::vector<std::string> lacks() const;

 private:
  struct Guard;
  struct EndGuard {
    void operator()(Guard* guard) const;
  };
  Result<Statement> prepare(std::string_view query, std::string_view* rest) const;
  Result<SqlAnswer> run(std::string_view query, const SqlValues& values = {}) const;
  Error wrong(std::string_view query) const;
  std::string advice(std::string_view missing) const;
  std::vector<std::string> texts(const char* query) const;  // of the first column

  std::unique_ptr<Guard, EndGuard> guard_;  // outlives db_, which has its address
  Database db_;
  std::string name_;
};

}  // namespace jtrace::trace::io
