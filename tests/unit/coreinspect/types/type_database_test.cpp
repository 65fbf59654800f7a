// The contents of a JVM's tables, read from tables made in memory.
#include "coreinspect/types/type_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/types/vmstructs_image.h"

namespace jtrace::coreinspect {
namespace {

test::VmStructsImage small_image() {
  test::VmStructsImage image;
  image.field("Klass", "_name", "Symbol*", false, 16);
  image.field("JVMFlag", "flags", "", true, 0x4000);
  image.type("InstanceKlass", "Klass", 464);
  image.int_constant("frame::entry_frame_call_wrapper_offset", -6);
  return image;
}

TEST(TypeDatabase, ReadsWhatTheTablesTell) {
  auto types = test::must(small_image().read());
  EXPECT_EQ(types.offset("Klass", "_name"), 16u);
  EXPECT_EQ(types.field("Klass", "_name")->type_string, "Symbol*");
  EXPECT_EQ(types.field("JVMFlag", "flags")->type_string, "") << "a null type text is no text";
  EXPECT_EQ(types.variable("JVMFlag", "flags"), 0x4000u);
  EXPECT_EQ(types.offset("JVMFlag", "flags"), std::nullopt) << "a static field has no offset";
  EXPECT_EQ(types.variable("Klass", "_name"), std::nullopt);
  EXPECT_EQ(types.size_of("InstanceKlass"), 464u);
  EXPECT_EQ(types.constant("frame::entry_frame_call_wrapper_offset"), -6);
  EXPECT_EQ(types.offset({"Nothing", "Klass"}, "_name"), 16u);
  EXPECT_FALSE(types.has("Klass", "_nothing"));
}

TEST(TypeDatabase, SurvivesAnyFlippedByte) {
  auto image = small_image();
  const auto whole = image.build();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto bytes = whole;
    bytes[at] ^= std::byte{0xff};
    const target::BufferMemory memory(test::VmStructsImage::kBase, bytes);
    (void)TypeDatabase::read(memory, [&](std::string_view name) { return image.find(name); });
  }
}

}  // namespace
}  // namespace jtrace::coreinspect
