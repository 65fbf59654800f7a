// The rows of a query as text, CSV and JSON. Pure but for the database that is read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/io/sql_database.h"
#include "trace/io/sql_questions.h"

namespace jtrace::trace::io {

// Of which file, and what it lacks.
struct SqlSource {
  std::string name;
  std::vector<std::string> missing;
};

// A table: numbers on the right, fractions with three digits, nothing for NULL.
Result<std::string> sql_text(SqlAnswer& answer, std::size_t rows);
// As RFC 4180, lines end in LF; nothing for NULL. `left_out`: how many rows it does not have.
Result<std::string> sql_csv(SqlAnswer& answer, std::size_t rows, std::size_t& left_out);
// Of two columns of one name the later one gets a number: "ms", "ms_2".
Result<std::string> sql_json(SqlAnswer& answer, std::size_t rows, const SqlSource& source, std::string_view query);

// What can be asked: views with their columns, and the questions.
std::string sql_views_text(const std::vector<SqlDatabase::Table>& tables, const SqlSource& source);
std::string sql_views_csv(const std::vector<SqlDatabase::Table>& tables);
std::string sql_views_json(const std::vector<SqlDatabase::Table>& tables, const SqlSource& source);
// The names after a colon.
std::vector<std::string> sql_parameters(std::string_view sql);

}  // namespace jtrace::trace::io
