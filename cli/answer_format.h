// The forms of an answer: text, json, csv, sqlite; of dominators collapsed and speedscope too. (xml is made of events:
// view_run.cpp.)
//
// Pure functions, any thread. Errors: those of trace/io/json_table.h; kUsage for a database on a terminal.
#pragma once

#include <string>

#include "base/result.h"
#include "coreinspect/tools/views.h"

namespace jtrace::cli {

// Whether it is made from the JSON document of the answer.
bool is_made_of_json(const std::string& format);
// Whether it is made from lines "outermost;...;innermost BYTES" (ViewOptions::stacks).
bool is_made_of_stacks(const std::string& format);
// Sets what the view has to make for that format.
void choose_form(const std::string& format, coreinspect::ViewOptions& options);
// The document, or the lines, in that form; `output` is where it goes ("-" standard output).
Result<std::string> formatted(std::string document, const std::string& format, const std::string& output);

}  // namespace jtrace::cli
