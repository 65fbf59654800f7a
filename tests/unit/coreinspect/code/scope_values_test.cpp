// The variables of compiled frames as their debug information describes them (debugInfo.cpp), byte by byte.
#include "coreinspect/code/scope_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"

namespace jtrace::coreinspect {
namespace {

using test::must;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Kind = ScopeValue::Kind;
using Type = ScopeValue::Type;

constexpr ScopeRules kRules{
    .normal = 1, .oop = 2, .narrow_oop = 8, .lng = 4, .dbl = 6, .int_in_long = 3, .float_in_dbl = 5};

std::vector<std::byte> bytes(std::initializer_list<unsigned> numbers) {
  std::vector<std::byte> bytes;
  for (const unsigned number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

constexpr unsigned in_stack(unsigned type, unsigned words) { return words * 2 << 5 | type; }
constexpr unsigned in_register(unsigned type, unsigned number) { return number << 5 | 16 | type; }

ScopeVariables decode(const std::vector<std::byte>& locals, const std::vector<std::byte>& objects = {},
                      ScopeRules rules = kRules) {
  return must(decode_scope_variables(locals, objects, rules));
}

TEST(ScopeValues, AreInTheStackOrInARegister) {
  const auto found = decode(bytes({4, 0, in_stack(1, 2), 0, in_register(2, 2), 0, in_stack(4, 1), 0, 0}));
  EXPECT_THAT(found.locals,
              ElementsAre(ScopeValue{Kind::kStack, Type::kNormal, 16}, ScopeValue{Kind::kRegister, Type::kOop, 2},
                          ScopeValue{Kind::kStack, Type::kLong, 8}, ScopeValue{}));
}

TEST(ScopeValues, AreConstants) {
  // -3 as a signed int; null; 2^32 + 1 as two signed ints, the low one first.
  const auto found = decode(bytes({4, 1, 5, 2, 0, 3, 2, 2, 2, 7}));
  EXPECT_THAT(found.locals,
              ElementsAre(ScopeValue{.kind = Kind::kInt, .number = -3}, ScopeValue{.kind = Kind::kOop, .number = 0},
                          ScopeValue{.kind = Kind::kWide, .number = (std::int64_t{1} << 32) + 1},
                          ScopeValue{.kind = Kind::kOop, .number = 7}));
}

// Each half has its bits in reverse, so that few of them are set at the end: 1.0 is 3ff00000 00000000.
TEST(ScopeValues, ADoubleHasItsBitsReversed) {
  // 0x00000ffc in UNSIGNED5: 4092 = 252 + 60 * 64.
  const auto found = decode(bytes({1, 4, 252, 60, 0}));
  ASSERT_THAT(found.locals, SizeIs(1));
  EXPECT_EQ(found.locals[0].number, 0x3ff0000000000000);
}

TEST(ScopeValues, AMarkerAndAnUnknownTypeAreNoValues) {
  EXPECT_THAT(decode(bytes({2, 8, 0, in_stack(9, 1)})).locals, ElementsAre(ScopeValue{}, ScopeValue{}));
}

// Objects come before the variables that refer to them, and within each other.
TEST(ScopeValues, ObjectsAreTakenApart) {
  // One object, 5, of the class at 9, with an int and another object, 6, which refers back to 5.
  const auto objects = bytes({1, 5, 5, 2, 9, 2, 1, 14, 5, 6, 2, 10, 1, 6, 5});
  const auto found = decode(bytes({1, 6, 6}), objects);
  EXPECT_THAT(found.locals, ElementsAre(ScopeValue{.kind = Kind::kObject, .number = 6}));
  ASSERT_NE(found.object(5), nullptr);
  EXPECT_EQ(found.object(5)->klass, (ScopeValue{.kind = Kind::kOop, .number = 9}));
  EXPECT_THAT(found.object(5)->values,
              ElementsAre(ScopeValue{.kind = Kind::kInt, .number = 7}, ScopeValue{.kind = Kind::kObject, .number = 6}));
  ASSERT_NE(found.object(6), nullptr);
  EXPECT_THAT(found.object(6)->values, ElementsAre(ScopeValue{.kind = Kind::kObject, .number = 5}));
  EXPECT_EQ(found.object(7), nullptr);
}

TEST(ScopeValues, FromJdk22OnAByteComesBeforeTheClass) {
  ScopeRules rules = kRules;
  rules.objects_have_root = true;
  const auto found = decode(bytes({1, 6, 5}), bytes({1, 5, 5, 1, 2, 9, 1, 1, 14}), rules);
  ASSERT_NE(found.object(5), nullptr);
  EXPECT_EQ(found.object(5)->klass, (ScopeValue{.kind = Kind::kOop, .number = 9}));
  EXPECT_THAT(found.object(5)->values, SizeIs(1));
}

TEST(ScopeValues, OneOfSeveralObjectsIsAMerge) {
  // 7: by the int in the stack, nothing or one of two objects.
  ScopeRules rules = kRules;
  rules.objects_have_root = true;
  const auto objects = bytes({1, 9, 7, 0, in_stack(1, 1), 2, 0, 2, 5, 1, 0, 2, 9, 0, 5, 2, 0, 2, 9, 0});
  const auto found = decode(bytes({1, 6, 7}), objects, rules);
  ASSERT_NE(found.object(7), nullptr);
  EXPECT_TRUE(found.object(7)->merge);
  EXPECT_EQ(found.object(7)->selector, (ScopeValue{Kind::kStack, Type::kNormal, 8}));
  EXPECT_THAT(found.object(7)->values, ElementsAre(ScopeValue{.kind = Kind::kObject, .number = 1},
                                                   ScopeValue{.kind = Kind::kObject, .number = 2}));
}

TEST(ScopeValues, WithoutADescriptionThereAreNone) { EXPECT_THAT(decode({}).locals, IsEmpty()); }

TEST(ScopeValues, WhatIsNoDescriptionIsRefused) {
  const auto refused = [](const std::vector<std::byte>& locals, const std::vector<std::byte>& objects = {}) {
    return !decode_scope_variables(locals, objects, kRules);
  };
  EXPECT_TRUE(refused(bytes({2, 0})));                    // it ends
  EXPECT_TRUE(refused(bytes({1, 12, 0})));                // no such code
  EXPECT_TRUE(refused(bytes({255, 255, 255, 255, 60})));  // too many
  EXPECT_TRUE(refused(bytes({1, 2, 0}), bytes({1, 5})));
  std::vector<std::byte> nested{std::byte{1}};  // each within the one before
  for (int i = 0; i < 5000; ++i)
    for (const unsigned number : {5u, 1u, 2u, 0u, 1u}) nested.push_back(static_cast<std::byte>(number));
  EXPECT_TRUE(refused({}, nested));
}

}  // namespace
}  // namespace jtrace::coreinspect
