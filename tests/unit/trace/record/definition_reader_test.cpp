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
  const std::string stack = definition_bytes(1, 1, StackFields{.frames = {0xfffffff0, {}}});
  EXPECT_FALSE(read_definition(body(stack)));
}

TEST(DefinitionReader, UnknownKind) {
  const std::string bytes = DefinitionBuilder(static_cast<DefinitionKind>(99), 1, 1).bytes();
  EXPECT_FALSE(read_definition(body(bytes)));
}

// Every field of every kind, from the table: the written and the expected values.
const ListBytes& two_texts() {
  static const ListBytes made = [] {
    ListBytes list;
    list.put("first");
    list.put("second");
    return list;
  }();
  return made;
}
const ListBytes& two_frames() {
  static const ListBytes made = [] {
    ListBytes list;
    list.put(77, 5);
    list.put(78, -2);
    return list;
  }();
  return made;
}
void fill_U8(std::uint8_t& field, int place) { field = static_cast<std::uint8_t>(place); }
void fill_U32(std::uint32_t& field, int place) { field = 0x80000000u + static_cast<std::uint32_t>(place); }
void fill_U64(std::uint64_t& field, int place) { field = (1ull << 60) + static_cast<std::uint64_t>(place); }
void fill_I32(std::int32_t& field, int place) { field = -place; }
void fill_Text(std::string_view& field, int place) {
  field = std::string_view("abcdefghijklmnop").substr(0, static_cast<std::size_t>(place));
}
void fill_Utf8(std::string_view& field, int place) { fill_Text(field, place); }
void fill_Texts(LaidOut& field, int) { field = two_texts().view(); }
void fill_KnownTexts(LaidOut& field, int) { field = two_texts().view(); }
void fill_Frames(LaidOut& field, int) { field = two_frames().view(); }

template <class Written, class Read>
void same(const Written& written, const Read& read) {
  EXPECT_EQ(read, written);
}
void same(const LaidOut&, const std::vector<std::string>& read) {
  EXPECT_EQ(read, (std::vector<std::string>{"first", "second"}));
}
void same(const LaidOut& written, const std::optional<std::vector<std::string>>& read) {
  ASSERT_TRUE(read);
  same(written, *read);
}
void same(const LaidOut&, const std::vector<StackFrame>& read) {
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].method, 77u);
  EXPECT_EQ(read[1].line, -2);
}

#define DEFINITION(number, Name, id, text)      \
  TEST(Definitions, Name##ComesOutAsItWentIn) { \
    Name##Fields written;                       \
    Name##Definition read;                      \
    int place = 0;                              \
    const auto fill_in = [&](auto step) {             \
      using Step = decltype(step);                    \
      (void)sizeof(Step);
#define FIELD(type, member, text)                                  \
  if constexpr (Step::value) fill_##type(written.member, ++place); \
  else same(written.member, read.member);
#define DEFINITION_END(Name)                                                 \
  }                                                                          \
  ;                                                                          \
  fill_in(std::true_type());                                                 \
  const std::string bytes = definition_bytes(42, 99, written);               \
  auto definition = read_definition(body(bytes));                            \
  ASSERT_TRUE(definition);                                                   \
  EXPECT_EQ(definition->id, 42u);                                            \
  EXPECT_EQ(definition->time, 99u);                                          \
  ASSERT_TRUE(std::holds_alternative<Name##Definition>(definition->fields)); \
  read = std::get<Name##Definition>(definition->fields);                     \
  fill_in(std::false_type());                                                \
  for (std::size_t size = 0; size < body(bytes).size(); ++size)              \
    EXPECT_FALSE(read_definition(body(bytes).first(size))) << size;          \
  }
#include "trace/record/definitions.def"

}  // namespace
}  // namespace jtrace::trace::record
