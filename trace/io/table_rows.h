// A table that is cut after so many rows says how many it leaves out, in text and in JSON. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/strings.h"

namespace jtrace::trace::io {

// The rows that are shown; `left_out`: number of the others.
template <class Row>
struct Rows {
  std::vector<Row> shown;
  std::size_t left_out = 0;

  void limit(std::size_t rows) {
    if (shown.size() <= rows) return;
    left_out = shown.size() - rows;
    shown.resize(rows);
  }
  auto begin() const { return shown.begin(); }
  auto end() const { return shown.end(); }
};

// How many of `all` rows are left out of a table of `rows`.
inline std::size_t rows_left_out(std::size_t all, std::size_t rows) { return all > rows ? all - rows : 0; }
// "" if no rows are left out.
inline std::string more_rows(std::size_t left_out) {
  return left_out == 0 ? "" : "  " + counted(left_out, "more row") + ": --rows\n";
}
// A cell of a column of figures.
inline std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
// "threadsLeftOut", after the array "threads".
inline void write_left_out(JsonWriter& json, std::string_view table, std::size_t left_out) {
  if (left_out != 0) json.member(std::string(table) + "LeftOut", left_out);
}

}  // namespace jtrace::trace::io
