// The forms of an answer: text, json, csv, sqlite (and xml, which is made of events: view_run.cpp).
//
// Pure functions, any thread. Errors: those of trace/io/json_table.h; kUsage for a database on a terminal.
#pragma once

#include <string>

#include "base/result.h"

namespace jtrace::cli {

// Whether it is made from the JSON document of the answer.
bool is_made_of_json(const std::string& format);
// The document in that form; `output` is where it goes ("-" standard output).
Result<std::string> formatted(std::string document, const std::string& format, const std::string& output);

}  // namespace jtrace::cli
