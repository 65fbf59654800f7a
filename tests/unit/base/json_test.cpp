#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace jtrace {
namespace {

TEST(JsonWriter, PutsCommasAndEscapes) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().member("a", 1).key("b").begin_array().value("x\"\n").value(true).null().end_array();
  json.member("c", 0.5).member("d", std::numeric_limits<double>::infinity()).end_object();
  EXPECT_EQ(out, R"({"a":1,"b":["x\"\n",true,null],"c":0.5,"d":null})");
}

}  // namespace
}  // namespace jtrace
