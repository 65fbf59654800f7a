// A database asked with SQL: what is allowed, what is printed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <iterator>
#include <limits>
#include <string>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/scratch_dir.h"
#include "trace/io/sql_database.h"
#include "trace/io/sql_text.h"
#include "trace/io/sqlite_writer.h"

namespace jtrace::trace::io {
namespace {

using jtrace::test::must;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// One without events.
SqlDatabase views() {
  const auto writer = must(make_temporary_database());
  EXPECT_TRUE(writer->finish());
  return SqlDatabase(writer->take(), "t.xml");
}
std::string text(const std::string& query, std::size_t rows = kAll) {
  const SqlDatabase database = views();
  auto answer = database.ask(query, {});
  if (!answer) return answer.error().message();
  const auto table = sql_text(*answer, rows);
  return table ? *table : table.error().message();
}
ErrorCategory category(const std::string& query) {
  const SqlDatabase database = views();
  auto answer = database.ask(query, {});
  if (!answer) return answer.error().category;
  const auto first = answer->next();
  return first ? ErrorCategory::kPartial : first.error().category;
}

TEST(SqlDatabase, RefusesWhatDoesMoreThanRead) {
  for (const char* query :
       {"DELETE FROM call", "INSERT INTO note VALUES(1, 'x')", "UPDATE call SET id = 1",
        "UPDATE sqlite_master SET sql = ''", "DROP VIEW calls", "CREATE TEMP TABLE x(a)", "BEGIN", "COMMIT", "VACUUM",
        "REINDEX", "ANALYZE", "ATTACH ':memory:' AS x", "DETACH main", "PRAGMA journal_mode = WAL",
        "PRAGMA writable_schema = 1", "SELECT load_extension('x')", "SELECT 1; DELETE FROM call", "SAVEPOINT s", ""})
    EXPECT_EQ(category(query), ErrorCategory::kUsage) << query;
  EXPECT_EQ(category(std::string("SELECT 1\0x", 10)), ErrorCategory::kUsage) << "SQLite ends at the zero";
}

TEST(SqlDatabase, TakesWhatReads) {
  for (const char* query :
       {"SELECT * FROM calls", "  SELECT 1 ; -- no more", "WITH x AS (SELECT 1) SELECT * FROM x", "VALUES (1)",
        "WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 9) SELECT x FROM c",
        "EXPLAIN QUERY PLAN SELECT * FROM waits", "PRAGMA table_info(calls)",
        "SELECT * FROM pragma_table_info('calls')", "SELECT value FROM json_each('[1]')"})
    EXPECT_EQ(category(query), ErrorCategory::kPartial) << query;
}

TEST(SqlDatabase, AsksEachQuestion) {
  const SqlDatabase database = views();
  for (const SqlQuestion& each : kSqlQuestions) {
    EXPECT_TRUE(database.ask(each.sql, {})) << each.sql;
    SqlValues values;
    for (const std::string& name : sql_parameters(each.sql)) values[name] = "x";
    EXPECT_TRUE(database.ask(each.sql, values)) << each.sql;
  }
}

TEST(SqlDatabase, SaysWhereAQueryIsWrong) {
  EXPECT_EQ(text("SELECT 1,\n  'ä', zzzzzz FROM calls"),
            "the query is wrong: no such column: zzzzzz (line 2, character 8); jtrace sql t.xml lists the views and "
            "their columns");
  EXPECT_THAT(text("SELECT * FROM wait_s"), HasSubstr("did you mean wait"));
  EXPECT_EQ(text("SELECT abs(-9223372036854775807 - 1) AS a"), "the query is wrong: integer overflow");
}

// A view of a table that is not there must not make the advice fail.
TEST(SqlDatabase, ReadsAnyDatabaseAndNothingElse) {
  const jtrace::test::ScratchDir scratch;
  const std::string path = scratch.file("other.db");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "CREATE TABLE one(a); INSERT INTO one VALUES('x'); CREATE VIEW broken AS SELECT * FROM none",
               nullptr, nullptr, nullptr);
  sqlite3_close(db);
  const SqlDatabase database = must(SqlDatabase::open(path));
  EXPECT_TRUE(database.lacks().empty());
  EXPECT_TRUE(database.ask("SELECT a FROM one", {}));
  EXPECT_EQ(database.ask("SELECT b FROM one", {}).error().category, ErrorCategory::kUsage);
  EXPECT_EQ(database.ask("SELECT * FROM broken", {}).error().category, ErrorCategory::kUsage);
  EXPECT_EQ(SqlDatabase::open(scratch.file("none")).error().category, ErrorCategory::kRefused);
  const std::string junk = scratch.file("junk");
  const auto made = must(open_file(junk, O_WRONLY | O_CREAT, 0600));
  EXPECT_TRUE(write_whole(made.get(), "SQLite format 3" + std::string(5000, 'x'), junk));
  EXPECT_EQ(SqlDatabase::open(junk).error().category, ErrorCategory::kMalformed);
}

TEST(SqlText, PutsNumbersOnTheRight) {
  EXPECT_EQ(text("SELECT 1 AS n, 'ä' AS t, NULL AS none, 2.5004 AS ms UNION ALL SELECT 10, 'bcd', NULL, 0.00004"),
            " n  t    none     ms\n"
            " 1  ä            2.5\n"
            "10  bcd        4e-05\n");
}

TEST(SqlText, CountsTheRowsThatItLeavesOut) {
  EXPECT_EQ(text("VALUES (1), (2), (3)", 1), "column1\n      1\n  2 more rows: --rows\n");
  EXPECT_EQ(text("SELECT id FROM calls"), "id\n  no rows\n");
}

TEST(SqlText, ShowsNoControlCharacters) { EXPECT_EQ(text("SELECT char(27) || '[2J' AS t"), "t\n?[2J\n"); }

TEST(SqlText, OtherFormsHaveExactValues) {
  const SqlDatabase database = views();
  const std::string query = "SELECT 0.1 AS a, 'x\"y' AS a, NULL AS b, x'0aff' AS c UNION ALL SELECT 1, 2, 3, 4";
  std::size_t left_out = 0;
  auto answer = must(database.ask(query, {}));
  EXPECT_EQ(must(sql_csv(answer, 1, left_out)), "a,a,b,c\n0.1,\"x\"\"y\",,0aff\n");
  EXPECT_EQ(left_out, 1u);
  auto again = must(database.ask(query, {}));
  EXPECT_THAT(
      must(sql_json(again, 1, {.name = "t.xml", .missing = {"an end"}}, "Q")),
      HasSubstr(
          R"("complete":false,"missing":["an end"],"query":"Q","data":[{"a":0.1,"a_2":"x\"y","b":null,"c":"0aff"}],"dataLeftOut":1})"));
}

TEST(SqlText, AValueIsANumberIfItLooksLikeOne) {
  const SqlDatabase database = views();
  const auto type = [&](const std::string& value) {
    auto answer = must(database.ask("SELECT typeof(:x) AS t", {{"x", value}}));
    return must(sql_text(answer, kAll));
  };
  EXPECT_EQ(type("17"), "t\ninteger\n");
  EXPECT_EQ(type("-1.5"), "t\nreal\n");
  EXPECT_EQ(type("1.5s"), "t\ntext\n");
  EXPECT_EQ(type(""), "t\ntext\n");
  EXPECT_EQ(type("."), "t\ntext\n");
}

TEST(SqlText, ListsWhatCanBeAsked) {
  const std::string list = sql_views_text(must(views().tables()), {.name = "a b.xml"});
  EXPECT_THAT(list, StartsWith("the views of a b.xml: jtrace sql 'a b.xml' 'SELECT ... FROM VIEW'\n"));
  EXPECT_THAT(list, HasSubstr("\n           0  pauses       time ms kind cause"));
  EXPECT_THAT(list, HasSubstr("\n           1  Which calls were slow, and with which arguments?  --set method=...\n"));
}

}  // namespace
}  // namespace jtrace::trace::io
