#include "base/json_answer.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

std::string answer(const std::vector<std::string>& missing, std::size_t masked) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, "flags").begin_object().member("pid", 7).end_object();
  write_missing(json, missing, masked).key("data").begin_array().end_array().end_object();
  return out;
}

TEST(JsonAnswer, HasItsMembersInTheOrderOfTheContract) {
  EXPECT_EQ(answer({}, 0), R"({"view":"flags","target":{"pid":7},"complete":true,"missing":[],"data":[]})");
  EXPECT_EQ(
      answer({"the heap: no memory", "x"}, 2),
      R"({"view":"flags","target":{"pid":7},"complete":false,"missing":["the heap: no memory","x"],"masked":2,"data":[]})");
}

TEST(JsonAnswer, MayBePartialWithoutALine) {
  std::string out;
  JsonWriter json(out);
  begin_answer(json, "locks").json(R"({"pid":7})");
  write_missing(json, false, {}).json(R"("a":1,"b":2)").member("c", 3).end_object();
  EXPECT_EQ(out, R"({"view":"locks","target":{"pid":7},"complete":false,"missing":[],"a":1,"b":2,"c":3})");
}

}  // namespace
}  // namespace jtrace
