// The blob of an address in generated code, and the Java frames of a compiled pc: by the rules of each family of JDKs,
// on a made-up code cache.
#include "coreinspect/code/code_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/coreinspect/code/made_up_code.h"

namespace jtrace::coreinspect {
namespace {

using test::MadeUpCode;
using test::must;

constexpr Address kCode = MadeUpCode::kCode, kSegment = MadeUpCode::kSegment;

// "name@address" of the blob; "" if there is none.
std::string blob_at(const CodeCache& code, Address pc) {
  const auto blob = must(code.find(pc));
  return blob ? blob->name + "@" + std::to_string((blob->address - kCode) / kSegment) : "";
}

class EachFamily : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Jdks, EachFamily, ::testing::Values(8, 11, 17, 21, 25, 27),
                         [](const auto& test) { return "jdk" + std::to_string(test.param); });

TEST_P(EachFamily, AnAddressIsInTheBlobOfItsSegments) {
  MadeUpCode made(GetParam());
  made.blob(100, 3, "ICache", 2, 5);
  const CodeCache code = made.open();
  for (const Address pc : {kCode + 100 * kSegment + 16, kCode + 101 * kSegment, kCode + 103 * kSegment - 1})
    EXPECT_EQ(blob_at(code, pc), "ICache@100") << std::hex << pc;
  EXPECT_EQ(blob_at(code, kCode + 99 * kSegment), "") << "a free segment";
  EXPECT_EQ(blob_at(code, kCode + 103 * kSegment), "") << "a free segment";
  EXPECT_EQ(blob_at(code, kCode + MadeUpCode::kCommitted), "") << "not committed";
  EXPECT_EQ(blob_at(code, 0x1234), "") << "no code";
  const auto blob = must(code.find(kCode + 101 * kSegment));
  EXPECT_EQ(blob->frame_size, 2u);
  EXPECT_EQ(blob->frame_complete, 5u);
  EXPECT_EQ(blob->code_begin, MadeUpCode::code_of(blob->address));
  EXPECT_FALSE(blob->is_nmethod());
}

// A byte of the segment map can go back 254 segments: the start of a longer block is reached in several steps.
TEST_P(EachFamily, ALongBlobIsFoundFromItsEnd) {
  MadeUpCode made(GetParam());
  made.blob(200, 700, "StubRoutines (2)", 0);
  const CodeCache code = made.open();
  for (const unsigned segment : {200u, 453u, 454u, 455u, 708u, 709u, 899u})
    EXPECT_EQ(blob_at(code, kCode + segment * kSegment + 100), "StubRoutines (2)@200") << segment;
  EXPECT_EQ(blob_at(code, kCode + 900 * kSegment), "");
}

TEST_P(EachFamily, AFreedBlockHoldsNothing) {
  MadeUpCode made(GetParam());
  made.blob(100, 3, "ICache", 2);
  made.free_block(100);
  EXPECT_EQ(blob_at(made.open(), kCode + 101 * kSegment), "");
}

TEST_P(EachFamily, TheInterpreterAndTheCallStubAreKnown) {
  MadeUpCode made(GetParam());
  const CodeCache code = made.open();
  EXPECT_TRUE(code.in_interpreter(MadeUpCode::kInterpreter));
  EXPECT_FALSE(code.in_interpreter(MadeUpCode::kInterpreterEnd));
  EXPECT_TRUE(code.is_call_stub_return(MadeUpCode::kCallStubReturn));
  EXPECT_FALSE(code.is_call_stub_return(0));
  EXPECT_EQ(code.return_barrier(), 0u) << "a JVM without virtual threads has none";
}

TEST_P(EachFamily, ACompiledPcIsTheMethodsThatWereInlinedThere) {
  MadeUpCode made(GetParam());
  const Address outer = made.method("Outer", "run"), inner = made.method("Inner", "get");
  const Address at = made.nmethod(100, outer, 4, {{20, {{outer, 7}}}, {40, {{inner, 2}, {outer, 9}}}});
  const CodeCache code = made.open();
  const auto blob = must(code.find(at + 70));
  ASSERT_TRUE(blob && blob->is_nmethod());
  EXPECT_EQ(blob->method, outer);
  const auto frames_at = [&](Address offset) {
    std::vector<std::pair<Address, int>> frames;
    for (const ScopeFrame& frame : must(code.scopes(*blob, blob->code_begin + offset)))
      frames.emplace_back(frame.method, frame.bci);
    return frames;
  };
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_THAT(frames_at(20), ElementsAre(Pair(outer, 7)));
  EXPECT_THAT(frames_at(40), ElementsAre(Pair(inner, 2), Pair(outer, 9)));
  EXPECT_THAT(frames_at(21), ElementsAre(Pair(inner, 2), Pair(outer, 9))) << "no call site: the next one counts";
  EXPECT_THAT(frames_at(41), ElementsAre(Pair(inner, 2), Pair(outer, 9))) << "after the last place: that one";
}

TEST_P(EachFamily, ADeoptimisedFrameKeepsItsRealPc) {
  MadeUpCode made(GetParam());
  const Address method = made.method("Outer", "run");
  const Address at = made.nmethod(100, method, 4, {{20, {{method, 7}}}});
  constexpr Address kSp = 0x70000000;
  made.vm.word(kSp + MadeUpCode::kOriginalPc, at + 64 + 20);
  const CodeCache code = made.open();
  const auto blob = must(code.find(at + 70));
  EXPECT_TRUE(code.is_deopt_return(*blob, MadeUpCode::deopt_handler(at)));
  EXPECT_FALSE(code.is_deopt_return(*blob, at + 64 + 20));
  EXPECT_EQ(must(code.original_pc(*blob, kSp)), at + 64 + 20);
}

TEST_P(EachFamily, AllBlobsInUseAreListed) {
  MadeUpCode made(GetParam());
  made.blob(0, 1, "First", 0);
  made.blob(33, 7, "ICache", 2);
  made.free_block(33);
  made.vm.words(kCode + 44 * kSegment, {980, 0});  // the rest of the heap is one free block
  std::vector<std::string> names;
  must(made.open().for_each([&](const CodeBlob& blob) {
    names.push_back(blob.name);
    return true;
  }));
  EXPECT_THAT(names, ::testing::ElementsAre("First", "Interpreter", "StubRoutines (1)"));
}

TEST(SeveralCodeHeaps, AreAllSearched) {
  MadeUpCode made(17);
  made.add_heap(kCode + 0x1000000, MadeUpCode::kSegments + 0x1000);
  const CodeCache code = made.open();
  EXPECT_TRUE(code.contains(kCode + 10));
  EXPECT_TRUE(code.contains(kCode + 0x1000000 + MadeUpCode::kCommitted - 1));
  EXPECT_FALSE(code.contains(kCode + 0x1000000 + MadeUpCode::kCommitted));
}

TEST(BrokenCodeCache, ASegmentMapThatLeadsOutOfTheHeapIsRefused) {
  MadeUpCode made(17);
  made.vm.put(MadeUpCode::kSegments + 90, std::uint8_t{91});
  const CodeCache code = made.open();
  const auto blob = code.find(kCode + 90 * kSegment);
  ASSERT_FALSE(blob);
  EXPECT_EQ(blob.error().category, ErrorCategory::kMalformed);
}

// Stubs with known names must be found at their addresses; otherwise the rules are not those of this JVM.
TEST(BrokenCodeCache, RulesThatDoNotFitAreNoticed) {
  MadeUpCode made(17);
  made.blob(40, 4, "nothing known", 0);
  const auto code = made.read();
  ASSERT_FALSE(code);
  EXPECT_THAT(code.error().message(), ::testing::HasSubstr("the rules for the code cache do not fit this JVM"));
}

}  // namespace
}  // namespace jtrace::coreinspect
