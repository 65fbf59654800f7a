#include "attach/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::attach {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(Properties, AsPropertiesStoreWritesThem) {
  EXPECT_THAT(
      parse_properties("#Fri Nov 20\nsun.jvm.args=-Xmx1g\na\\ b\\:c=service\\:jmx\\:rmi\\://127.0.0.1/x\\=\nempty=\n"),
      ElementsAre(Pair("sun.jvm.args", "-Xmx1g"), Pair("a b:c", "service:jmx:rmi://127.0.0.1/x="), Pair("empty", "")));
  EXPECT_THAT(parse_properties("line.separator=\\n\nu=\\u20AC\\u00e9\\t\nbad=\\u12\nlatin=\xe9\n"),
              ElementsAre(Pair("line.separator", "\n"), Pair("u", "\u20ac\u00e9\t"), Pair("bad", "u12"),
                          Pair("latin", "\u00e9")));
  EXPECT_TRUE(parse_properties("no separator\n\n!x=y\n").empty());
}

TEST(Properties, SecretsAreMaskedAndNothingElse) {
  EXPECT_EQ(with_masked_secrets("#c password=x\nmy.password=geheim\nuser=me\ndb.Token\\:a: t=u\nno separator secret\n"),
            "#c password=x\nmy.password=***\nuser=me\ndb.Token\\:a:***\nno separator secret\n");
  EXPECT_EQ(with_masked_secrets(
                "sun.java.command=Main --password hunter2 --token\\=t\\u00e9\\u20ac -x\nurl=a\\://u\\:p@h\\:1\n"),
            "sun.java.command=Main --password *** --token\\=*** -x\nurl=a\\://u\\:***@h\\:1\n");
  EXPECT_EQ(with_masked_secrets(""), "");
}

}  // namespace
}  // namespace jtrace::attach
