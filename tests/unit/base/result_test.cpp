#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace jtrace {
namespace {

Result<int> failing() { return fail(system_error(ENOENT, "cannot open", "/x")); }

Result<int> passing_on() {
  JTRACE_ASSIGN_OR_RETURN(int value, failing());
  return value + 1;
}

TEST(Result, CarriesTheErrorUp) {
  auto result = passing_on();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().with_context("list").with_help("look there").message(),
            "list: cannot open: /x: No such file or directory; look there");
  EXPECT_EQ(exit_status(result.error()), ExitStatus::kNotFound);
}

TEST(Result, StatusFollowsCategoryOrErrno) {
  EXPECT_EQ(exit_status(system_error(EACCES, "x")), ExitStatus::kPermission);
  EXPECT_EQ(exit_status(Error{.category = ErrorCategory::kTimeout, .text = "x"}), ExitStatus::kTimeout);
}

}  // namespace
}  // namespace jtrace
