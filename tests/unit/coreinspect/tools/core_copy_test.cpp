#include "coreinspect/tools/core_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "target/core_file.h"
#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/tools/copied_child.h"

namespace jtrace::coreinspect {
namespace {

class CoreInMemory : public test::CopiedChild {};

TEST_F(CoreInMemory, IsACoreWithoutAName) {
  const UniqueFd file = test::must(core_in_memory(*copy_, 1ull << 40));
  const auto core = test::must(target::CoreFile::open(path_of_core(file)));
  EXPECT_EQ(core.pid(), child_);
}

TEST_F(CoreInMemory, IsNotMadeWhereTheMachineHasNoRoomForIt) {
  const auto made = core_in_memory(*copy_, copy_->bytes() + 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().category, ErrorCategory::kRefused);
  EXPECT_THAT(made.error().text, ::testing::HasSubstr("free"));
}

}  // namespace
}  // namespace jtrace::coreinspect
