// The forms of an answer: text, json, csv, sqlite; of dominators collapsed and speedscope too. (xml is made of events:
// view_run.cpp.)
//
// Functions on values, any thread. Errors: those of trace/io/json_table.h; kUsage for a database on a terminal, and for
// what settle_output() lists.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/inspect_common.h"
#include "coreinspect/tools/views.h"
#include "trace/byte_sink.h"

namespace jtrace::cli {

// Whether it is made from the JSON document of the answer.
bool is_made_of_json(const std::string& format);
// Whether it is made from lines "outermost;...;innermost BYTES" (ViewOptions::stacks).
bool is_made_of_stacks(const std::string& format);
// Sets what the view has to make for that format.
void choose_form(const std::string& format, coreinspect::ViewOptions& options);
// The document, or the lines, in that form; `output` is where it goes ("-" standard output).
Result<std::string> formatted(std::string document, const std::string& format, const std::string& output);

// The file of an answer, which appears when it is complete, packed if its name ends in .gz or .zst; "-" is standard
// output.
Result<std::unique_ptr<trace::ByteSink>> open_answer(const std::string& path);

// Sets the format by the name of the output if --format is not given: .json, .csv, ...; text without an ending, and on
// standard output. kUsage for an ending that says nothing of the kind, for one that contradicts --format, and for a
// format that the view does not have. Settled twice it stays. An output that is an input is refused first.
Result<> settle_output(InspectArguments& arguments, const coreinspect::View& view);
// The format alone, for an answer that has these formats; `what`: "the view locks", "diff".
Result<> settle_format(InspectArguments& arguments, const std::vector<std::string>& formats, const std::string& what);

}  // namespace jtrace::cli
