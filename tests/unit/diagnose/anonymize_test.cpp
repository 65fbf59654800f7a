#include "diagnose/anonymize.h"

#include <gtest/gtest.h>

namespace jtrace::diagnose {
namespace {

TEST(Anonymizer, ReplacesTheNamesOfMachineAndUserAsWholeWords) {
  Anonymizer names({.host = "db7", .user = "anna", .home = "/srv/anna", .work = "/srv/anna/shop"});
  EXPECT_EQ(names.applied_to("/srv/anna/shop/app.jar on db7"), "/WORK/app.jar on HOST");
  EXPECT_EQ(names.applied_to("/srv/anna/.m2 hsperfdata_anna"), "/HOME/.m2 hsperfdata_USER");
  EXPECT_EQ(names.applied_to("com.annabel.Db7 java.db7.x db77 xdb7"), "com.annabel.Db7 java.db7.x db77 xdb7");
}

TEST(Anonymizer, AShortHostNameIsNoPartOfAClass) {
  Anonymizer names({.host = "vm"});
  for (const char* same :
       {"Ljdk/internal/vm/Continuation;", "jdk/internal/vm/Continuation", "jdk.internal.vm.Continuation",
        "vm.Thread.run(Thread.java:3)", "vm/Thread", "java.vm.name", "vm.name=x", "vm_info", "vm$1", "/usr/lib/vm/x",
        "jvm vmx", "vm.foo.bar(B.java)", "VM Thread"})
    EXPECT_EQ(names.applied_to(same), same);
  EXPECT_EQ(names.applied_to("vm.example.com vm.example.com:80/x"), "HOST.example.com HOST.example.com:80/x");
  EXPECT_EQ(names.applied_to("http://vm:8080/a //vm/a http://vm.lan/"), "http://HOST:8080/a //HOST/a http://HOST.lan/");
  EXPECT_EQ(names.applied_to("anna@vm anna@vm.lan:~"), "anna@HOST anna@HOST.lan:~");
  EXPECT_EQ(names.applied_to("vm/192.168.7.1:80"), "HOST/ip-1:80");
  EXPECT_EQ(names.applied_to("on vm. \"vm\" vm:8080 (vm)"), "on HOST. \"HOST\" HOST:8080 (HOST)");
}

TEST(Anonymizer, AHostNameThatIsNoPartOfAPackageIsOneWhereverItStands) {
  Anonymizer names({.host = "db01"});
  EXPECT_EQ(names.applied_to("-Djava.rmi.server.hostname=db01.local db01.x:8080 db01_8080 /var/db01/x"),
            "-Djava.rmi.server.hostname=HOST.local HOST.x:8080 HOST_8080 /var/HOST/x");
  EXPECT_EQ(names.applied_to("HTTP/db01.example.com@REALM db012 xdb01 java.db01"),
            "HTTP/HOST.example.com@REALM db012 xdb01 java.db01");
}

TEST(Anonymizer, AShortHostNameHasUsualDomains) {
  Anonymizer names({.host = "vm"});
  EXPECT_EQ(names.applied_to("vm.local vm.lan:8080 kafka=vm.internal, vm.corp."),
            "HOST.local HOST.lan:8080 kafka=HOST.internal, HOST.corp.");
  EXPECT_EQ(names.applied_to("HTTP/vm.example.com@REALM"), "HTTP/HOST.example.com@REALM");
  for (const char* same :
       {"vm.internal.Foo", "vm.local.name()", "vm.foo.bar.Baz", "java.base/vm.foo.bar.Baz", "vm.home"})
    EXPECT_EQ(names.applied_to(same), same);
}

TEST(Anonymizer, NumbersAddressesAndLeavesVersionsAlone) {
  Anonymizer names({});
  EXPECT_EQ(names.applied_to("10.1.2.3:80 10.1.2.4 10.1.2.3."), "ip-1:80 ip-2 ip-1.");
  EXPECT_EQ(names.applied_to("again 10.1.2.4"), "again ip-2");
  for (const char* same : {"127.0.0.1", "0.0.0.0:5005", "17.0.15", "1.2.3.4.5", "300.1.2.3", "1.2.3.4u1", "1.2.3."})
    EXPECT_EQ(names.applied_to(same), same);
}

TEST(Anonymizer, LeavesWhatEachMachineHas) {
  Anonymizer names({.host = "localhost", .user = "root", .home = "/root", .work = "/"});
  EXPECT_EQ(names.applied_to("root /root / localhost"), "root /root / localhost");
}

}  // namespace
}  // namespace jtrace::diagnose
