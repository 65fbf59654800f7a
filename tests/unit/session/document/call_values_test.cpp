#include "session/document/call_values.h"

#include <gtest/gtest.h>

#include <bit>

namespace jtrace::session {
namespace {

using trace::record::kResultPosition;
using trace::record::ValueKind;

CallValue primitive(std::uint16_t position, std::uint64_t bits) {
  return {7, position, ValueKind::kPrimitive, bits, {}, 0};
}

TEST(TypeAt, FindsParametersAndTheResult) {
  const std::string_view signature = "(I[[JLjava/lang/String;D[LA;Z)F";
  std::string types;
  for (std::uint16_t i = 0; i < 7; ++i) types += type_at(signature, i) == '\0' ? '.' : type_at(signature, i);
  EXPECT_EQ(types, "I[LD[Z.");
  EXPECT_EQ(type_at(signature, kResultPosition), 'F');
  for (const std::string_view odd : {"", "(", "()", "(L", "([", "([)", "(Lx"})
    for (const std::uint16_t position : {std::uint16_t{0}, std::uint16_t{1}, kResultPosition})
      EXPECT_FALSE(std::isdigit(type_at(odd, position)));
}

TEST(ValueElements, SayWhatTheSignatureMakesOfTheBits) {
  const std::vector<CallValue> values = {
      primitive(0, 1),
      primitive(1, 0xfffffffd),
      primitive(2, 0xe9),
      primitive(3, std::uint64_t(-5'000'000'000)),
      primitive(4, std::bit_cast<std::uint32_t>(1.5f)),
      primitive(5, std::bit_cast<std::uint64_t>(-0.25)),
      {7, 6, ValueKind::kText, 3, "a<b", 3},
      {7, 7, ValueKind::kObject, 42, {}, 0},
      {7, 8, ValueKind::kNull, 0, {}, 0},
      {7, 9, ValueKind::kUnknown, 0, {}, 0},
      {8, 0, ValueKind::kPrimitive, 1, {}, 0},  // of another method: its entry's values were lost
      primitive(kResultPosition, 5),
  };
  ValueElements elements;
  const auto made = elements.make(values, 7, "(ZBCJFDLjava/lang/String;LA;LA;LB;)I", false);
  std::string text;
  for (const trace::Value& each : made)
    text += std::string(each.type.view()) + "=" + std::string(each.value.view()) +
            (each.objIdRef == trace::ObjectId::none() ? " "
             : each.objIdRef == trace::ObjectId(42)   ? "#42 "
                                                      : "? ");
  EXPECT_EQ(text,
            "BOOLEAN=true INT=-3 CHAR=\xc3\xa9 LONG=-5000000000 FLOAT=1.5 DOUBLE=-0.25 STRING=a<b? OPAQUE=#42 OPAQUE= "
            "OPAQUE=? ");
  const auto result = elements.make(values, 7, "()I", true);
  ASSERT_EQ(result.size(), 1u);
  EXPECT_EQ(result[0].name.view(), "return");
  EXPECT_EQ(result[0].value.view(), "5");
}

TEST(ValueElements, NumbersInObjectsAreNumbers) {
  constexpr std::string_view kTypes = trace::record::kBoxTypes;
  std::string text;
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    const std::uint64_t bits = kTypes[i] == 'D'   ? std::bit_cast<std::uint64_t>(65.0)
                               : kTypes[i] == 'F' ? std::bit_cast<std::uint32_t>(65.0f)
                                                  : 65;
    ValueElements elements;
    const std::vector<CallValue> values = {{7, 0, trace::record::box_kind(i), bits, {}, 0}};
    const auto made = elements.make(values, 7, "(Ljava/lang/Object;)V", false);
    text += std::string(made[0].type.view()) + "=" + std::string(made[0].value.view()) + " ";
  }
  EXPECT_EQ(text, "BOOLEAN=true CHAR=A INT=65 INT=65 INT=65 LONG=65 FLOAT=65 DOUBLE=65 ");
}

TEST(ValueElements, OddNumbersAreWrittenAsJavaHasThem) {
  const auto text_of = [](const char* signature, std::uint64_t bits) {
    ValueElements elements;
    return std::string(elements.make({primitive(0, bits)}, 7, signature, false)[0].value.view());
  };
  EXPECT_EQ(text_of("(D)V", 0x7ff8000000000000), "NaN");
  EXPECT_EQ(text_of("(F)V", 0xff800000), "-Infinity");
  EXPECT_EQ(text_of("(C)V", 0), std::string(1, '\0'));
  EXPECT_EQ(text_of("(C)V", 0xd800), "\xef\xbf\xbd");
  EXPECT_EQ(text_of("(Z)V", 0), "false");
}

TEST(ValueElements, AStringThatWasCutHasItsLength) {
  ValueElements elements;
  const auto made = elements.make({{7, 0, ValueKind::kText, 1, "xxx", 300}}, 7, "(Ljava/lang/String;)V", false);
  EXPECT_EQ(made[0].serializationFormat.view(), "cut length=300");
}

}  // namespace
}  // namespace jtrace::session
