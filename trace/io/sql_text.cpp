#include "trace/io/sql_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>

#include "base/json_answer.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "trace/io/csv_field.h"
#include "trace/io/table_rows.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kLineWidth = 100;

// Calls f(row) for the first `rows`; returns the number of the others.
template <class EachRow>
Result<std::size_t> each_row(SqlAnswer& answer, std::size_t rows, EachRow&& f) {
  std::size_t count = 0;
  while (true) {
    JTRACE_ASSIGN_OR_RETURN(const bool is_there, answer.next());
    if (!is_there) return rows_left_out(count, rows);
    if (++count <= rows) f(answer.row());
  }
}

std::string exact(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, number);
    if (std::strtod(shorter, nullptr) == number) return shorter;
  }
  return text;
}

// As people read it.
std::string rounded(double number) {
  constexpr double kSmallest = 0.0005, kGreatest = 1e15;  // with which three digits after the point say something
  const double size = std::fabs(number);
  if (number != 0 && !(size >= kSmallest && size < kGreatest)) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", number);
    return text;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", number);
  std::string digits = text;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

std::string shown(const SqlCell& cell) {
  if (cell.kind == SqlCell::Kind::kInteger) return std::to_string(cell.integer);
  return cell.kind == SqlCell::Kind::kReal ? rounded(cell.real) : printable(cell.text);
}
std::string plain(const SqlCell& cell) {
  if (cell.kind == SqlCell::Kind::kInteger) return std::to_string(cell.integer);
  return cell.kind == SqlCell::Kind::kReal ? exact(cell.real) : cell.text;
}

// In characters.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

struct Column {
  std::size_t width = 0;
  bool has_text = false;
};

std::string line_of(const std::vector<std::string>& cells, const std::vector<Column>& columns) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string blanks(columns[i].width - width_of(cells[i]), ' ');
    line += (i == 0 ? "" : "  ") + (columns[i].has_text ? cells[i] + blanks : blanks + cells[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

void write_cell(JsonWriter& json, const SqlCell& cell) {
  switch (cell.kind) {
    case SqlCell::Kind::kNull: json.null(); return;
    case SqlCell::Kind::kInteger: json.value(cell.integer); return;
    case SqlCell::Kind::kReal: json.value(cell.real); return;
    default: json.value(cell.text); return;
  }
}

std::vector<std::string> keys_of(const std::vector<std::string>& columns) {
  std::vector<std::string> keys;
  for (const std::string& column : columns) {
    std::string key = column;
    for (int number = 2; std::find(keys.begin(), keys.end(), key) != keys.end(); ++number)
      key = column + "_" + std::to_string(number);
    keys.push_back(std::move(key));
  }
  return keys;
}

void begin(JsonWriter& json, const SqlSource& source) {
  begin_answer(json, "sql").begin_object().member("kind", "trace").member("path", source.name).end_object();
  write_missing(json, source.missing);
}

void write_question(JsonWriter& json, std::size_t number) {
  const SqlQuestion& question = kSqlQuestions[number - 1];
  json.begin_object().member("number", number).member("question", question.question).member("sql", question.sql);
  json.end_object();
}

// The words after `first`, in lines of kLineWidth that begin with as many blanks.
std::string wrapped(std::string first, const std::vector<std::string>& words) {
  const std::size_t indent = first.size();
  std::string text = std::move(first);
  std::size_t width = indent;
  for (const std::string& word : words) {
    if (width + 1 + word.size() > kLineWidth && width > indent) {
      text += "\n" + std::string(indent, ' ');
      width = indent;
    }
    text += " " + word;
    width += 1 + word.size();
  }
  return text + "\n";
}

std::string left_aligned(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

Result<std::string> sql_text(SqlAnswer& answer, std::size_t rows) {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<Column> columns(answer.columns().size());
  const auto add = [&](std::string cell, std::size_t column) {
    columns[column].width = std::max(columns[column].width, width_of(cell));
    lines.back().push_back(std::move(cell));
  };
  for (std::size_t i = 0; i < columns.size(); ++i) add(printable(answer.columns()[i]), i);
  JTRACE_ASSIGN_OR_RETURN(const std::size_t left_out, each_row(answer, rows, [&](const SqlRow& row) {
                            lines.emplace_back();
                            for (std::size_t i = 0; i < row.size(); ++i) {
                              add(shown(row[i]), i);
                              if (row[i].kind != SqlCell::Kind::kNull && !row[i].is_number())
                                columns[i].has_text = true;
                            }
                          }));
  std::string out;
  for (const auto& line : lines) out += line_of(line, columns);
  if (lines.size() == 1) out += "  no rows\n";
  return out + more_rows(left_out);
}

Result<std::string> sql_csv(SqlAnswer& answer, std::size_t rows, std::size_t& left_out) {
  std::string out;
  const auto add_line = [&](const auto& cells, auto text) {
    for (std::size_t i = 0; i < cells.size(); ++i) append_field(out, i == 0, text(cells[i]));
    out += '\n';
  };
  add_line(answer.columns(), [](const std::string& name) { return name; });
  JTRACE_ASSIGN_OR_RETURN(left_out, each_row(answer, rows, [&](const SqlRow& row) { add_line(row, plain); }));
  return out;
}

Result<std::string> sql_json(SqlAnswer& answer, std::size_t rows, const SqlSource& source, std::string_view query) {
  std::string out;
  JsonWriter json(out);
  begin(json, source);
  json.member("query", query).key("data").begin_array();
  const std::vector<std::string> keys = keys_of(answer.columns());
  JTRACE_ASSIGN_OR_RETURN(const std::size_t left_out, each_row(answer, rows, [&](const SqlRow& row) {
                            json.begin_object();
                            for (std::size_t i = 0; i < row.size(); ++i) write_cell(json.key(keys[i]), row[i]);
                            json.end_object();
                          }));
  json.end_array();
  write_left_out(json, "data", left_out);
  json.end_object();
  return out + "\n";
}

std::vector<std::string> sql_parameters(std::string_view sql) {
  std::set<std::string> names;
  for (std::size_t at = sql.find(':'); at != sql.npos; at = sql.find(':', at + 1)) {
    const std::size_t end = sql.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
    if (const std::string_view name = sql.substr(at + 1, end - at - 1); !name.empty()) names.emplace(name);
  }
  return {names.begin(), names.end()};
}

std::string sql_views_text(const std::vector<SqlDatabase::Table>& tables, const SqlSource& source) {
  const std::string command = "jtrace sql " + shell_word(source.name);
  std::string out = "the views of " + printable(source.name) + ": " + printable(command) + " 'SELECT ... FROM VIEW'\n";
  std::size_t width = 4;
  for (const auto& table : tables) width = std::max(width, table.name.size());
  out += right_aligned("ROWS", 12) + "  " + left_aligned("VIEW", width) + "  COLUMNS\n";
  for (const auto& table : tables)
    out += wrapped(right_aligned(std::to_string(table.rows), 12) + "  " + left_aligned(table.name, width) + " ",
                   table.columns);
  out += "questions: " + printable(command) + " --question N; --set NAME=PATTERN chooses (% is any text)\n";
  for (std::size_t i = 0; i < std::size(kSqlQuestions); ++i) {
    out += right_aligned(std::to_string(i + 1), 12) + "  " + std::string(kSqlQuestions[i].question);
    for (const std::string& name : sql_parameters(kSqlQuestions[i].sql)) out += "  --set " + name + "=...";
    out += "\n";
  }
  return out;
}

std::string sql_views_csv(const std::vector<SqlDatabase::Table>& tables) {
  std::string out = "view,column,rows\n";
  for (const auto& table : tables)
    for (const std::string& column : table.columns) {
      append_field(out, true, table.name);
      append_field(out, false, column);
      append_field(out, false, std::to_string(table.rows));
      out += '\n';
    }
  return out;
}

std::string sql_views_json(const std::vector<SqlDatabase::Table>& tables, const SqlSource& source) {
  std::string out;
  JsonWriter json(out);
  begin(json, source);
  json.key("questions").begin_array();
  for (std::size_t i = 0; i < std::size(kSqlQuestions); ++i) write_question(json, i + 1);
  json.end_array().key("data").begin_array();
  for (const auto& table : tables) {
    json.begin_object().member("view", table.name).member("rows", table.rows).key("columns").begin_array();
    for (const std::string& column : table.columns) json.value(column);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

}  // namespace jtrace::trace::io
