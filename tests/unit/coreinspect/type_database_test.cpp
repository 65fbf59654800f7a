// The tables, and the small codings that stand on them.
#include "coreinspect/types/type_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coreinspect/oops/class_model.h"
#include "coreinspect/vm/unsigned5.h"
#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/vmstructs_image.h"

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

TEST(Unsigned5, BothForms) {
  const std::byte plain[] = {std::byte{0}, std::byte{191}, std::byte{192}, std::byte{1}};
  Unsigned5Reader old_form(plain, false);
  EXPECT_EQ(old_form.next(), 0u);
  EXPECT_EQ(old_form.next(), 191u);
  EXPECT_EQ(old_form.next(), 192u + 64u);
  EXPECT_FALSE(old_form.failed());
  EXPECT_EQ(old_form.next(), 0u);
  EXPECT_TRUE(old_form.failed());
  const std::byte shifted[] = {std::byte{1}, std::byte{192}, std::byte{1}, std::byte{0}};
  Unsigned5Reader new_form(shifted, true);
  EXPECT_EQ(new_form.next(), 0u);
  EXPECT_EQ(new_form.next(), 191u);
  EXPECT_EQ(new_form.next(), 0u);
  EXPECT_TRUE(new_form.failed()) << "a zero byte ends the stream";
}

TEST(ClassNames, AsJavaPrintsThem) {
  EXPECT_EQ(java_class_name("java/lang/String"), "java.lang.String");
  EXPECT_EQ(java_class_name("[[I"), "int[][]");
  EXPECT_EQ(java_class_name("[Ljava/lang/String;"), "java.lang.String[]");
  EXPECT_EQ(java_class_name("a/B$$Lambda$4+0x00007f75"), "a.B$$Lambda$4/0x00007f75");
}

}  // namespace
}  // namespace jtrace::coreinspect
