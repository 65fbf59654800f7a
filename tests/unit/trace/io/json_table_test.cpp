#include "trace/io/json_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <vector>

#include "tests/testlib/must.h"

namespace jtrace::trace::io {
namespace {

using jtrace::test::must;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kAnswer =
    R"({"view":"it's \"a\" view","target":{"kind":"process","pid":7},"complete":false,"missing":["one","two"],"data":[)"
    R"({"class":"Shop, Inc.","count":3,"live":true,"objects":["0x1","0x2"]},)"
    R"({"class":"say \"hi\"\nand go","share":0.5,"live":false,"none":null},)"
    R"({"count":18446744073709551615,"it's":"o'clock"}]})";

// The first column of all rows.
std::vector<std::string> ask(const std::string& bytes, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  std::string copy = bytes;
  EXPECT_EQ(sqlite3_deserialize(db, "main", reinterpret_cast<unsigned char*>(copy.data()),
                                static_cast<sqlite3_int64>(copy.size()), static_cast<sqlite3_int64>(copy.size()),
                                SQLITE_DESERIALIZE_READONLY),
            SQLITE_OK);
  std::vector<std::string> rows;
  const auto add = [](void* to, int, char** values, char**) {
    static_cast<std::vector<std::string>*>(to)->emplace_back(values[0] == nullptr ? "NULL" : values[0]);
    return 0;
  };
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), add, &rows, &error), SQLITE_OK) << (error != nullptr ? error : "");
  sqlite3_free(error);
  sqlite3_close(db);
  return rows;
}

TEST(JsonTable, HasAColumnForEachKeyInTheOrderOfFirstUse) {
  EXPECT_EQ(must(csv_of_json(kAnswer)),
            "class,count,live,objects,share,none,it's\n"
            "\"Shop, Inc.\",3,1,\"[\"\"0x1\"\",\"\"0x2\"\"]\",,,\n"
            "\"say \"\"hi\"\"\nand go\",,0,,0.5,,\n"
            ",1.84467440737096e+19,,,,,o'clock\n");
}

TEST(JsonTable, OfNoRowsIsEmpty) {
  EXPECT_EQ(must(csv_of_json(R"({"view":"leaks","data":[]})")), "");
  EXPECT_THAT(ask(must(database_of_json(R"({"view":"leaks","data":[]})")), "SELECT value FROM about"),
              ElementsAre("leaks"));
}

TEST(JsonTable, IsADatabaseWithWhatStandsBesideTheRows) {
  const std::string bytes = must(database_of_json(kAnswer));
  EXPECT_THAT(ask(bytes, "SELECT class FROM \"it's \"\"a\"\" view\""),
              ElementsAre("Shop, Inc.", "say \"hi\"\nand go", "NULL"));
  EXPECT_THAT(ask(bytes, "SELECT count + 1 FROM \"it's \"\"a\"\" view\" WHERE count = 3"), ElementsAre("4"));
  EXPECT_THAT(ask(bytes, "SELECT name || '=' || value FROM about"),
              ElementsAre("view=it's \"a\" view", "target.kind=process", "target.pid=7", "complete=0", "missing[0]=one",
                          "missing[1]=two"));
}

TEST(JsonTable, IsNotMadeOfAnythingElse) {
  for (const char* text : {"", "{", "[]", "{}", R"({"data":7})"})
    EXPECT_EQ(csv_of_json(text).error().category, ErrorCategory::kMalformed) << text;
  const auto numbers = csv_of_json(R"({"data":[{"a":1},2]})");
  ASSERT_FALSE(numbers);
  EXPECT_THAT(numbers.error().message(), HasSubstr("a row is of type integer"));
}

}  // namespace
}  // namespace jtrace::trace::io
