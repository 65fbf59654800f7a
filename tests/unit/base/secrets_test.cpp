// What is masked in texts, and what only looks like a secret.
#include "base/secrets.h"

#include <gtest/gtest.h>

namespace jtrace {
namespace {

TEST(MaskSecrets, TakesTheValueAndNothingElse) {
  EXPECT_EQ(mask_secrets("-Xmx64m -Ddb.password=a b -Dok=1"), "-Xmx64m -Ddb.password=*** -Dok=1");
  EXPECT_EQ(mask_secrets("Main --token=xyz"), "Main --token=***");
  EXPECT_EQ(mask_secrets("Main password=xyz -D"), "Main password=*** -D");
  EXPECT_EQ(mask_secrets(""), "");
  EXPECT_EQ(mask_secrets("-Dsecret="), "-Dsecret=***");
}

TEST(MaskSecrets, TakesTheWordAfterAnOption) {
  EXPECT_EQ(mask_secrets("Main --password hunter2 --token=t x"), "Main --password *** --token=***");
  EXPECT_EQ(mask_secrets("Main -password hunter2 x"), "Main -password *** x");
  EXPECT_EQ(mask_secrets("Main --db-password:hunter2"), "Main --db-password:***");
  EXPECT_EQ(mask_secrets("Main --password -x y"), "Main --password -x y");
  EXPECT_EQ(mask_secrets("--password"), "--password");
}

TEST(MaskSecrets, TakesLoginsAndUsersOfUrls) {
  EXPECT_EQ(mask_secrets("-XX:OnError=curl -u x:hunter2 http://h:80/a"), "-XX:OnError=curl -u x:*** http://h:80/a");
  EXPECT_EQ(mask_secrets("--user=x:hunter2 y"), "--user=x:*** y");
  EXPECT_EQ(mask_secrets("postgres://u:hunter2@h:5432/db"), "postgres://u:***@h:5432/db");
  EXPECT_EQ(mask_secrets("redis://:p@ss@h"), "redis://:***@h");
  EXPECT_EQ(mask_secrets("-u http://h:80"), "-u http://h:80");
  EXPECT_EQ(mask_secrets("http://h:80/a@b http://u@h ssh://u@h:22"), "http://h:80/a@b http://u@h ssh://u@h:22");
}

TEST(MaskSecrets, TakesPairsInTexts) {
  EXPECT_EQ(mask_secrets("jdbc:x://h/d?user=u&password=hunter2&ssl=true"), "jdbc:x://h/d?user=u&password=***&ssl=true");
  EXPECT_EQ(mask_secrets("-Durl=jdbc:x;password=hunter2;a=b -Dc=d"), "-Durl=jdbc:x;password=***;a=b -Dc=d");
  EXPECT_EQ(mask_secrets(R"({"user":"u","password":"hunter2","n":1})"), R"({"user":"u","password":"***","n":1})");
  EXPECT_EQ(mask_secrets(R"({"password" : "a\"b"} x)"), R"({"password" : "***"} x)");
  EXPECT_EQ(mask_secrets(R"({\"password\":\"hunter2\"} x)"), R"({\"password\":\"***\"} x)");
  EXPECT_EQ(mask_secrets("apiKey='a b' x"), "apiKey='***' x");
  EXPECT_EQ(mask_secrets("-javaagent:a.jar=token=hunter2,host=h"), "-javaagent:a.jar=token=***,host=h");
}

TEST(MaskSecrets, LeavesWhatOnlyLooksLikeOne) {
  for (const char* same :
       {"-XX:+UseG1GC -Xlog:gc*:file=/tmp/a:time -cp a.jar:b.jar Main", "password", "a password: none", "token=true",
        "--key-file f -keystore k", "tokenCount=7 monkey=3", "secret=", "-u 7", "https://h/?a=b&c=d", "key=\"v\"",
        "java.class.path=/a:/b", "-agentlib:jdwp=transport=dt_socket,address=*:5005"})
    EXPECT_EQ(mask_secrets(same), same);
}

TEST(MaskSecrets, OfWordsEndsWithTheWord) {
  EXPECT_EQ(mask_secrets_of_words({"java", "-Dapi.token=a b", "Main", "--password", "hunter 2", "x"}),
            "java -Dapi.token=*** Main --password *** x");
  EXPECT_EQ(mask_secrets_of_words({"Main", "--key", "hunter2", "-keystore", "f"}), "Main --key *** -keystore f");
  EXPECT_EQ(mask_secrets_of_words({}), "");
}

TEST(MaskSecrets, OfLinesDoesNotGoOnInTheNextOne) {
  EXPECT_EQ(mask_secrets_of_lines("jvm_args: -Ddb.password=a\njava_command: Main x\n"),
            "jvm_args: -Ddb.password=***\njava_command: Main x\n");
  EXPECT_EQ(mask_secrets_of_lines(""), "");
}

}  // namespace
}  // namespace jtrace
