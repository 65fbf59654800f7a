// jtrace sql IN [QUERY]: a trace asked with SQL.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/log.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "cli/commands.h"
#include "cli/one_of.h"
#include "cli/summaries.h"
#include "cli/trace_input.h"
#include "cli/units.h"
#include "trace/io/loss_sink.h"
#include "trace/io/sql_database.h"
#include "trace/io/sql_text.h"
#include "trace/io/sqlite_writer.h"

namespace jtrace::cli {
namespace {

namespace io = trace::io;

constexpr std::size_t kTextRows = 200, kLongestQuery = 1u << 20;

struct SqlArguments {
  std::vector<std::string> words;      // the inputs, and the query after them
  std::string unused;                  // the name QUERY in the help
  std::vector<std::size_t> questions;  // their numbers, from 1
  std::vector<std::string> set;
  std::string format = "text";
  std::optional<std::size_t> rows;
  bool strict = false;
  bool repair_utf8 = false;
};

struct Query {
  std::string sql;
  io::SqlValues values;
  std::string heading;  // where there are several
};
struct Asked {
  std::vector<std::string> inputs;
  std::vector<Query> queries;  // none: what can be asked
};

// The last word after an input, if it is no name of a file.
bool is_query(const std::string& word) {
  return word == "-" || (::access(word.c_str(), F_OK) != 0 && word.find_first_of(" \t\n(") != std::string::npos);
}

Result<std::string> query_of_input() {
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_whole(STDIN_FILENO, "standard input", kLongestQuery));
  return std::string(trimmed(text));
}

Result<io::SqlValues> values_of(const std::vector<std::string>& words) {
  io::SqlValues values;
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    const std::size_t start = word.starts_with(':') ? 1 : 0;
    if (at == std::string::npos || at == start)
      return fail(ErrorCategory::kUsage, "--set " + word + ": it is NAME=VALUE, for a :NAME in the query");
    values[word.substr(start, at - start)] = word.substr(at + 1);
  }
  return values;
}

// Each has those values that it names.
Result<std::vector<Query>> with_values(std::vector<Query> queries, const io::SqlValues& values) {
  std::set<std::string> used;
  for (Query& query : queries)
    for (const std::string& name : io::sql_parameters(query.sql))
      if (const auto value = values.find(name); value != values.end()) {
        query.values.insert(*value);
        used.insert(name);
      }
  for (const auto& [name, value] : values)
    if (!used.contains(name))
      return fail(ErrorCategory::kUsage,
                  "--set " + name + ": " +
                      (queries.size() > 1 ? "none of these queries has a :" : "the query has no :") + name);
  return queries;
}

std::vector<Query> questions_of(const std::vector<std::size_t>& numbers) {
  std::vector<Query> queries;
  for (const std::size_t number : numbers) {
    const io::SqlQuestion& question = io::kSqlQuestions[number - 1];
    queries.push_back({.sql = std::string(question.sql), .values = {}, .heading = {}});
    if (numbers.size() > 1)
      queries.back().heading = std::to_string(number) + ". " + std::string(question.question) + "\n";
  }
  return queries;
}

// The words after the inputs, or what is on standard input.
Result<std::vector<Query>> take_queries(std::vector<std::string>& words) {
  std::vector<Query> queries;
  for (; words.size() > 1 && is_query(words.back()); words.pop_back())
    queries.insert(queries.begin(), {.sql = words.back(), .values = {}, .heading = {}});
  const bool has_trace_on_input = words.front() == "-";
  const bool asks_input = std::any_of(queries.begin(), queries.end(), [](auto& query) { return query.sql == "-"; });
  if (asks_input && has_trace_on_input)
    return fail(ErrorCategory::kUsage, "standard input is the trace: the query is a word, jtrace sql - 'SELECT ...'");
  if (asks_input && queries.size() > 1)
    return fail(ErrorCategory::kUsage, "standard input is one query: it is given alone");
  if (asks_input || (queries.empty() && !has_trace_on_input && ::isatty(STDIN_FILENO) == 0)) {
    JTRACE_ASSIGN_OR_RETURN(std::string query, query_of_input());
    queries.clear();
    if (!query.empty()) queries.push_back({.sql = std::move(query), .values = {}, .heading = {}});
  }
  if (queries.size() > 1)
    for (Query& query : queries) query.heading = query.sql + "\n";
  return queries;
}

Result<Asked> asked_of(const SqlArguments& arguments) {
  Asked asked{.inputs = arguments.words, .queries = {}};
  JTRACE_ASSIGN_OR_RETURN(const io::SqlValues values, values_of(arguments.set));
  if (arguments.questions.empty()) {
    JTRACE_ASSIGN_OR_RETURN(asked.queries, take_queries(asked.inputs));
  } else {
    if (asked.inputs.size() > 1 && is_query(asked.inputs.back()))
      return fail(ErrorCategory::kUsage, "--question and a query: one of them");
    asked.queries = questions_of(arguments.questions);
  }
  if (asked.queries.size() > 1 && arguments.format == "csv")
    return fail(ErrorCategory::kUsage, "--format csv has one table: one query");
  if (!asked.queries.empty()) {
    JTRACE_ASSIGN_OR_RETURN(asked.queries, with_values(std::move(asked.queries), values));
  }
  return asked;
}

// Not a packed one. A pipe keeps its bytes.
bool is_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const auto file = open_file(path, O_RDONLY);
  char first[kMagic.size()];
  return file && ::read(file->get(), first, sizeof first) == static_cast<ssize_t>(sizeof first) &&
         std::string_view(first, sizeof first) == kMagic;
}

Result<std::string> views_of(const io::SqlDatabase& database, const std::string& format, const io::SqlSource& source) {
  JTRACE_ASSIGN_OR_RETURN(const auto tables, database.tables());
  if (format == "csv") return io::sql_views_csv(tables);
  return format == "json" ? io::sql_views_json(tables, source) : io::sql_views_text(tables, source);
}

Result<std::string> answer_of(const io::SqlDatabase& database, const Query& query, const SqlArguments& arguments,
                              const io::SqlSource& source) {
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  JTRACE_ASSIGN_OR_RETURN(io::SqlAnswer answer, database.ask(query.sql, query.values));
  if (arguments.format == "text") {
    JTRACE_ASSIGN_OR_RETURN(const std::string table, io::sql_text(answer, arguments.rows.value_or(kTextRows)));
    return query.heading + table;
  }
  if (arguments.format == "json") return io::sql_json(answer, arguments.rows.value_or(all), source, query.sql);
  std::size_t left_out = 0;
  JTRACE_ASSIGN_OR_RETURN(std::string text, io::sql_csv(answer, arguments.rows.value_or(all), left_out));
  if (left_out != 0) log_info(counted(left_out, "more row") + ": --rows");
  return text;
}

Result<> print_answers(const io::SqlDatabase& database, const Asked& asked, const SqlArguments& arguments,
                       const io::SqlSource& source) {
  std::string out;
  if (asked.queries.empty()) {
    JTRACE_ASSIGN_OR_RETURN(out, views_of(database, arguments.format, source));
  }
  for (const Query& query : asked.queries) {
    JTRACE_ASSIGN_OR_RETURN(const std::string text, answer_of(database, query, arguments, source));
    if (!out.empty() && arguments.format == "text") out += "\n";
    out += text;
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  return {};
}

ExitStatus ask_database(const Asked& asked, const SqlArguments& arguments) {
  const std::string& path = asked.inputs.front();
  const auto database = io::SqlDatabase::open(path);
  if (!database) return report(database.error());
  const io::SqlSource source{path, database->lacks()};
  if (const Result<> printed = print_answers(*database, asked, arguments, source); !printed)
    return report(printed.error());
  for (const std::string& line : source.missing) log_info("missing: " + line);
  return source.missing.empty() ? ExitStatus::kOk : ExitStatus::kPartial;
}

// Before a trace is read, which may take long: whether the queries fit the views.
Result<> check(const Asked& asked) {
  if (asked.queries.empty()) return {};
  JTRACE_ASSIGN_OR_RETURN(const auto writer, io::make_temporary_database());
  JTRACE_RETURN_IF_ERROR(writer->finish());
  const io::SqlDatabase empty(writer->take(), asked.inputs.front());
  for (const Query& query : asked.queries) JTRACE_RETURN_IF_ERROR(empty.ask(query.sql, query.values));
  return {};
}

ExitStatus ask_trace(const Asked& asked, const SqlArguments& arguments) {
  if (const Result<> fits = check(asked); !fits) return report(fits.error());
  io::FaultLog faults = warnings(arguments.strict);
  const auto opened =
      open_parts(asked.inputs, faults, {.strict = arguments.strict, .repair_utf8 = arguments.repair_utf8});
  if (!opened) return report(opened.error());
  const auto writer = io::make_temporary_database();
  if (!writer) return report(writer.error());
  io::LossSink losses(**writer);
  const auto summary = opened->source->read(losses);
  if (!summary) return report(summary.error());
  for (const std::string& line : lacks_of(opened->name, *summary, {.parts = opened->missing}))
    (*writer)->add_missing(line);
  if (const Result<> finished = (*writer)->finish(); !finished) return report(finished.error());
  const io::SqlDatabase database((*writer)->take(), opened->name);
  const InputLoss loss{.losses = losses.losses(), .parts = opened->missing};
  const io::SqlSource of{opened->name, lacks_of(opened->name, *summary, loss)};
  if (const Result<> printed = print_answers(database, asked, arguments, of); !printed) return report(printed.error());
  return report_input(opened->name, *summary, faults, loss);
}

ExitStatus run(const SqlArguments& arguments) {
  const auto asked = asked_of(arguments);
  if (!asked) return report(asked.error());
  const bool is_one = asked->inputs.size() == 1;
  const auto database = std::find_if(asked->inputs.begin(), asked->inputs.end(), is_database);
  if (!is_one && database != asked->inputs.end())
    return report(Error{.category = ErrorCategory::kUsage,
                        .text = *database + ": a database is asked alone, and a query has a blank in it",
                        .help = "jtrace sql " + shell_word(*database) + " 'SELECT ...'"});
  return is_one && is_database(asked->inputs.front()) ? ask_database(*asked, arguments) : ask_trace(*asked, arguments);
}

}  // namespace

void add_sql_command(CLI::App& app, ExitStatus& status) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command = app.add_subcommand("sql", summary_of("sql"));
  command
      ->add_option("IN", arguments->words,
                   "a trace: XML, fragments, SDDF, JSON lines or a spill, compressed or not; the parts of a rotated "
                   "trace; - is stdin; or a database that jtrace convert made")
      ->required();
  // IN takes all words, and run() finds the query among them.
  command->add_option("QUERY", arguments->unused,
                      "one statement that reads, or several words with one each; - is stdin, also without QUERY if "
                      "stdin is no terminal; with nothing "
                      "there, the views and their columns are listed, and the questions");
  command
      ->add_option("--question", arguments->questions,
                   "ask a question of docs/sql.md by its number, several as 1,2; without QUERY they are listed")
      ->type_name("N")
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Range(std::size_t{1}, std::size(io::kSqlQuestions)));
  command
      ->add_option("--set", arguments->set,
                   "value of a :NAME in the query: a number, or text; of the questions a pattern, % is any text")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--format", arguments->format, "text, json or csv")->check(one_of({"text", "json", "csv"}));
  const auto rows = std::make_shared<std::size_t>();
  add_rows(*command, *rows, "rows of the table (200; json and csv: all)");
  command->add_flag("--strict", arguments->strict, "what cannot be read of an input is an error");
  command->add_flag("--repair-utf8", arguments->repair_utf8, "accept the JVM's modified UTF-8 and convert it");
  command->footer("Example: jtrace sql app.xml 'SELECT ms, method, arguments FROM calls ORDER BY ms DESC LIMIT 10'");
  command->callback([arguments, rows, &status] {
    if (*rows != 0) arguments->rows = *rows;
    status = run(*arguments);
  });
}

}  // namespace jtrace::cli
