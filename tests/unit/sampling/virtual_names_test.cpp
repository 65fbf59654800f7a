// What virtual threads are called at the root of stacks; beside it each keeps its own name.
#include "sampling/virtual_names.h"

#include <gtest/gtest.h>

namespace jtrace::sampling {
namespace {

TEST(VirtualNames, AreSharedByThoseThatHaveNone) {
  VirtualNames names(2);
  EXPECT_EQ(names.root_of(std::nullopt), "[virtual thread that is not known]");
  EXPECT_EQ(names.root_of(MountedThread{.name = "", .id = 30}), "[virtual threads without a name]");
  EXPECT_EQ(names.root_of(MountedThread{.name = "cart-1", .id = 31}), "cart-1");
  EXPECT_EQ(names.root_of(MountedThread{.name = "cart-2", .id = 32}), "[other virtual threads]");
  EXPECT_EQ(names.root_of(MountedThread{.name = "cart-1", .id = 33}), "cart-1");
}

}  // namespace
}  // namespace jtrace::sampling
