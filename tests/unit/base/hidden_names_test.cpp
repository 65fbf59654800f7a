#include "base/hidden_names.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(LastingName, HasNoNumberOrAddressOfALambda) {
  EXPECT_EQ(lasting_name("App$$Lambda$14/0x0000000800c03000.run"), "App$$Lambda.run");  // JDK 17
  EXPECT_EQ(lasting_name("App$$Lambda/0x00007f0140210000.run"), "App$$Lambda.run");     // 21 on
  EXPECT_EQ(lasting_name("App$$Lambda$3/1404928347.run"), "App$$Lambda.run");           // 8
  EXPECT_EQ(lasting_name("App$$Lambda"), "App$$Lambda");
}

TEST(LastingName, HasNoAddressOfAHiddenClass) {
  EXPECT_EQ(lasting_name("java.lang.invoke.LambdaForm$MH/0x0000000800c00400"), "java.lang.invoke.LambdaForm$MH");
  EXPECT_EQ(lasting_name("Foo+0x00000800/0x12.bar"), "Foo.bar");
}

TEST(LastingName, LeavesOtherNamesAlone) {
  for (const char* name : {"", "a.b.C$1.run(#16)", "lib/foo.so", "C$2/3", "x /0xg", "A;B$C;[D"})
    EXPECT_EQ(lasting_name(name), name);
}

TEST(LastingName, IsOfEachNameInAStack) {
  EXPECT_EQ(lasting_name("main;A$$Lambda$1/0xab.run;B$$Lambda/0xcd.get"), "main;A$$Lambda.run;B$$Lambda.get");
}

}  // namespace
}  // namespace jtrace
