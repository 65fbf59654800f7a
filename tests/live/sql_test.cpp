// The database and the CSV files of a trace: what a real program did that knows it (tests/apps/Till.java).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"
#include "tests/testlib/trace_run.h"
#include "tests/testlib/traced_jvm.h"

namespace jtrace::test {
namespace {

using Row = std::map<std::string, std::string>;  // column -> value

// A line of CSV without quoted line ends, which the program has none of.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted) fields.emplace_back();
    else fields.back() += c;
  }
  return fields;
}

std::vector<Row> rows_of(const std::string& path) {
  const std::string text = must(read_file(path));
  std::vector<Row> rows;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const auto fields = fields_of(text.substr(at, end - at));
    at = end + 1;
    if (names.empty()) {
      names = fields;
      continue;
    }
    EXPECT_EQ(fields.size(), names.size()) << path;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(fields.size(), names.size()); ++i) row[names[i]] = fields[i];
  }
  return rows;
}

template <class Holds>
long count(const std::vector<Row>& rows, Holds holds) {
  return std::count_if(rows.begin(), rows.end(), holds);
}
double number(const Row& row, const char* column) { return std::stod(row.at(column)); }

class SqlTest : public ::testing::TestWithParam<Jdk> {};
JTRACE_ON_EACH_JDK(SqlTest);

TEST_P(SqlTest, TheViewsHaveWhatTheProgramDid) {
  TracedJvm jvm(GetParam(), "Till",
                {"--events", "threads,gc,monitors,sleeps,methods,exceptions,allocations", "--filter", "Till*",
                 "--arguments", "--exception-messages", "--monitor-owner", "--time", "precise", "--when-full", "block",
                 "--block-limit", "10000"});
  jvm.wait_rewritten();
  jvm.ask("sell 100");
  jvm.finish_valid();
  const std::string folder = jvm.path() + ".csv.d";
  const CommandOutput done = must(run_jtrace({"convert", jvm.path(), "--to", "csv", "-o", folder}));
  ASSERT_EQ(done.status, 0) << done.err;
  const auto view = [&](const std::string& name) { return rows_of(folder + "/" + name + ".csv"); };

  // Without a database.
  const CommandOutput asked = must(run_jtrace(
      {"sql", jvm.path(), "SELECT count(*) AS sales FROM calls WHERE method = 'Till.sell'", "--format", "csv"}));
  EXPECT_EQ(asked.out, "sales\n100\n") << asked.err;

  const auto calls = view("calls");
  const auto is_sale = [](const Row& row) { return row.at("method") == "Till.sell" && row.at("complete") == "1"; };
  EXPECT_EQ(count(calls, is_sale), 100);
  EXPECT_EQ(count(calls, [&](const Row& row) { return is_sale(row) && number(row, "ms") >= 59; }), 10);
  EXPECT_EQ(count(calls, [&](const Row& row) { return is_sale(row) && number(row, "waited_ms") >= 59; }), 10);
  EXPECT_EQ(count(calls,
                  [](const Row& row) {
                    return row.at("method") == "Till$Drawer.put" && row.at("thread") == "clerk-1" &&
                           number(row, "ms") > 40 && number(row, "waited_ms") > 40;
                  }),
            1);
  EXPECT_EQ(count(view("arguments"),
                  [](const Row& row) {
                    return row.at("method") == "Till.charge" && row.at("position") == "0" &&
                           row.at("value") == "slowpoke";
                  }),
            10);
  const auto exceptions = view("exceptions");
  EXPECT_EQ(exceptions.size(), 35u);
  EXPECT_EQ(count(exceptions,
                  [](const Row& row) {
                    return row.at("swallowed") == "1" && row.at("thrown") == "Till.price" &&
                           row.at("caught") == "Till.sell" && row.at("message").starts_with("no price: ");
                  }),
            25);
  EXPECT_EQ(count(exceptions,
                  [](const Row& row) {
                    return row.at("end") == "wrapped" && row.at("thrown") == "Till.receipt" &&
                           row.at("other") == "java.lang.RuntimeException";
                  }),
            5);
  EXPECT_EQ(count(view("waits"),
                  [](const Row& row) {
                    return row.at("kind") == "blocked" && row.at("thread") == "clerk-1" &&
                           row.at("owner") == "auditor" && row.at("class") == "Till$Drawer" && number(row, "ms") > 40;
                  }),
            1);
  EXPECT_EQ(count(view("allocations"),
                  [](const Row& row) {
                    return row.at("class") == "byte[]" && row.at("site").starts_with("Till.receipt") &&
                           row.at("kind") == "exact" && number(row, "bytes") >= 10'000;
                  }),
            95);
  EXPECT_GE(view("pauses").size(), 1u);
  EXPECT_EQ(count(view("threads"), [](const Row& row) { return row.at("name") == "clerk-1"; }), 2);
  EXPECT_TRUE(view("losses").empty());
  // A thread that ends and one that joins it may meet at its monitor for a moment.
  for (const Row& row : view("notes"))
    EXPECT_THAT(row.at("note"), ::testing::ContainsRegex("of less than 1ms|are about: at most an eighth too high"));
}

}  // namespace
}  // namespace jtrace::test
