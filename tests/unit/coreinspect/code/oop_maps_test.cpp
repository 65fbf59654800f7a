// Where compiled frames have their references (oopMap.hpp): byte by byte, and on a made-up code cache.
#include "coreinspect/code/oop_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "tests/unit/coreinspect/code/made_up_code.h"

namespace jtrace::coreinspect {
namespace {

using test::MadeUpCode;
using test::must;
using test::unsigned5;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr unsigned kStack0 = 24, kFramePointer = 10;
constexpr OopMapRules kRules{.stack0 = kStack0};
constexpr unsigned of(unsigned vmreg, unsigned type) { return vmreg << 2 | type; }

TEST(OopMap, NamesSlotsAndRegisters) {
  const auto bytes = unsigned5({of(kStack0, 0), of(kStack0 + 5, 1), of(kFramePointer, 0)}, 17);
  EXPECT_THAT(must(decode_oop_map(bytes, 3, kRules)),
              ElementsAre(OopPlace{.number = 0}, OopPlace{.narrow = true, .number = 20},
                          OopPlace{.in_register = true, .number = kFramePointer}));
}

TEST(OopMap, OfSavedRegistersAndPointersIntoObjectsHasASecondNumber) {
  const auto bytes = unsigned5({of(kStack0 + 2, 2), 3, of(kStack0 + 4, 3), kStack0, of(kStack0 + 6, 0)}, 17);
  EXPECT_THAT(must(decode_oop_map(bytes, 3, kRules)), ElementsAre(OopPlace{.number = 24}));
}

TEST(OopMap, OfJdk8HasOtherBits) {
  const OopMapRules rules{.type_mask = 31,
                          .register_shift = 5,
                          .register_mask = 2047,
                          .oop_value = 1,
                          .narrowoop_value = 4,
                          .callee_saved_value = 8,
                          .derived_oop_value = 16,
                          .stack0 = 4};
  // An int that is live (value_value), a reference in the next slot.
  EXPECT_THAT(must(decode_oop_map(unsigned5({4 << 5 | 2, 5 << 5 | 1}, 8), 2, rules)),
              ElementsAre(OopPlace{.number = 4}));
}

TEST(OopMap, ThatEndsTooEarlyIsRefused) {
  EXPECT_FALSE(decode_oop_map(unsigned5({of(kStack0, 0)}, 17), 2, kRules));
  EXPECT_FALSE(decode_oop_map(unsigned5({of(kStack0, 3)}, 17), 1, kRules)) << "without its second number";
}

class OopMapOf : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, OopMapOf, ::testing::Values(8, 11, 17, 21, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(OopMapOf, APlaceInTheCode) {
  MadeUpCode made(GetParam());
  const Address at = made.nmethod(100, made.method("Outer", "run"), 4, {});
  made.oop_maps(at, {{20, {MadeUpCode::kStack0 + 2}}, {40, {}}});
  const CodeCache code = made.open();
  const auto blob = must(code.find(at + 70));
  EXPECT_THAT(must(code.oop_map(*blob, blob->code_begin + 20)), Optional(ElementsAre(OopPlace{.number = 8})));
  EXPECT_THAT(must(code.oop_map(*blob, blob->code_begin + 40)), Optional(IsEmpty()));
  EXPECT_EQ(must(code.oop_map(*blob, blob->code_begin + 21)), std::nullopt) << "neither a call nor a poll";
}

TEST_P(OopMapOf, CodeWithoutMapsIsNone) {
  MadeUpCode made(GetParam());
  made.oop_maps(0, {});
  const Address at = made.nmethod(100, made.method("Outer", "run"), 4, {});
  const CodeCache code = made.open();
  EXPECT_EQ(must(code.oop_map(*must(code.find(at + 70)), at + 64 + 20)), std::nullopt);
}

TEST_P(OopMapOf, AnImpossibleNumberOfMapsIsRefused) {
  MadeUpCode made(GetParam());
  const Address at = made.nmethod(100, made.method("Outer", "run"), 4, {});
  made.vm.put(made.oop_maps(at, {{20, {}}}), std::int32_t{-1});
  const CodeCache code = made.open();
  EXPECT_FALSE(code.oop_map(*must(code.find(at + 70)), at + 64 + 20));
}

}  // namespace
}  // namespace jtrace::coreinspect
