#include "trace/record/definition_reader.h"

#include <gtest/gtest.h>

#include "trace/record/definition_builder.h"

namespace jtrace::trace::record {
namespace {

std::span<const std::byte> body(const std::string& bytes) { return std::as_bytes(std::span(bytes)).subspan(4); }

TEST(DefinitionReader, ReadsWhatTheBuilderWrites) {
  const std::string bytes = class_definition(7, 99, "Ljava/util/ArrayList;", 3, kClassLoadedBefore, {"java/util/List"});
  auto definition = read_definition(body(bytes));
  ASSERT_TRUE(definition);
  EXPECT_EQ(definition->time, 99u);
  EXPECT_EQ(definition->id, 7u);
  const auto& made = std::get<ClassDefinition>(definition->fields);
  EXPECT_EQ(made.thread, 3u);
  EXPECT_EQ(made.methods, 4u);
  EXPECT_EQ(made.signature, "Ljava/util/ArrayList;");
  EXPECT_EQ(made.superclass, "java/lang/Object");
  ASSERT_EQ(made.interfaces.size(), 1u);
  EXPECT_EQ(made.interfaces[0], "java/util/List");
}

TEST(DefinitionReader, ConvertsModifiedUtf8) {
  auto definition = read_definition(body(thread_definition(1, 1, std::string_view("a\xc0\x80z", 4))));
  ASSERT_TRUE(definition);
  EXPECT_EQ(std::get<ThreadDefinition>(definition->fields).name, std::string("a\0z", 3));
}

TEST(DefinitionReader, EveryCutIsMalformed) {
  for (const std::string& bytes :
       {class_definition(7, 99, "LA;", 3, 0, {"B"}), thread_definition(1, 2, "main"), method_definition(4, 5, 7, "run"),
        stack_definition(1, 2, {{4, 10}, {5, -1}}), option_definition("k", "v"), object_definition(9, 1, 7, 16)}) {
    const auto whole = body(bytes);
    ASSERT_TRUE(read_definition(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_definition(whole.first(size))) << size;
  }
}

TEST(DefinitionReader, CountsThatCannotBeTakeNoMemory) {
  const std::string stack = DefinitionBuilder(DefinitionKind::kStack, 1, 1).number(std::uint32_t{0xfffffff0}).bytes();
  EXPECT_FALSE(read_definition(body(stack)));
}

TEST(DefinitionReader, UnknownKind) {
  const std::string bytes = DefinitionBuilder(static_cast<DefinitionKind>(99), 1, 1).bytes();
  EXPECT_FALSE(read_definition(body(bytes)));
}

}  // namespace
}  // namespace jtrace::trace::record
