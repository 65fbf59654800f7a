// The answers of the commands that print JSON (docs/architecture.md, "JSON answers") as a table.
//
// The rows are the objects of the member "data"; the columns are their keys, in the order in which they first occur. A
// value that is an array or an object stays JSON, true and false are 1 and 0, null is empty. Threads: any. Errors:
// kMalformed if the text is not such a document; kRefused if a row is not an object.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::trace::io {

// Fields as in RFC 4180, lines end in LF, the first has the names of the columns; "" if there are no rows.
Result<std::string> csv_of_json(std::string_view document);
// The bytes of an SQLite database: the rows in a table with the name of the view (member "view"), and all that is
// beside "data" in the table `about` (name, value), names as `target.pid`.
Result<std::string> database_of_json(std::string_view document);

// A member of a row. What is an array or an object stays JSON.
struct JsonField {
  std::string key, value;
  bool is_text = false;
};
// The members of each row, in their order.
Result<std::vector<std::vector<JsonField>>> rows_of_json(std::string_view document);

}  // namespace jtrace::trace::io
