// Names of secrets, and names that only look like them.
#include "coreinspect/tools/secrets.h"

#include <gtest/gtest.h>

namespace jtrace::coreinspect {
namespace {

TEST(SecretFields, EndInTheNameOfASecret) {
  for (const char* name : {"password", "dbPassword", "DB_PASSWORD", "password2", "passwordChars", "PASSWORD_HASH",
                           "pwd", "accessToken", "token", "clientSecret", "secretValue", "apiKey", "API_KEY",
                           "privateKey", "AWS_SECRET_ACCESS_KEY", "credentials", "apikey", "userPASSWD"})
    EXPECT_TRUE(names_secret_field(name)) << name;
}

TEST(SecretFields, AreNotThoseThatMentionOne) {
  for (const char* name : {"key", "keys", "keySet", "tokenCount", "tokenizer", "passwordFile", "PASSWORD_PROPERTY",
                           "publicKey", "cacheKey", "monkey", "secretName", "value", "hash", "", "$0", "keyStore"})
    EXPECT_FALSE(names_secret_field(name)) << name;
}

TEST(SecretMask, HidesTextsAndCountsThem) {
  SecretMask mask(false);
  EXPECT_EQ(mask.flag({.name = "VerifyHashTableKeys", .type = "bool", .value = "true"}), "true");
  EXPECT_EQ(mask.flag({.name = "TokenLimit", .type = "uintx", .value = "17"}), "17");
  EXPECT_EQ(mask.flag({.name = "ErrorFile", .type = "ccstr", .value = "/tmp/x"}), "/tmp/x");
  EXPECT_EQ(mask.property("use.token", "true"), "true");
  EXPECT_EQ(mask.count(), 0u);
  EXPECT_EQ(mask.flag({.name = "KeyPassword", .type = "ccstr", .value = "hunter2"}), "********");
  EXPECT_EQ(mask.property("db.password", "hunter2"), "********");
  EXPECT_EQ(mask.command("Main --api-key=hunter2 -x"), "Main --api-key=*** -x");
  EXPECT_EQ(mask.property("sun.java.command", "Main --password hunter2"), "Main --password ***");
  EXPECT_EQ(mask.flag({.name = "OnError", .type = "ccstr", .value = "curl -u x:hunter2"}), "curl -u x:***");
  EXPECT_EQ(mask.count(), 5u);
  SecretMask open(true);
  EXPECT_EQ(open.property("db.password", "hunter2"), "hunter2");
  EXPECT_EQ(open.command("Main --api-key=hunter2"), "Main --api-key=hunter2");
  EXPECT_EQ(open.count(), 0u);
}

}  // namespace
}  // namespace jtrace::coreinspect
