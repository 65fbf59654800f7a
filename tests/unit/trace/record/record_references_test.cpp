#include "trace/record/record_references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace jtrace::trace::record {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Kind = DefinitionKind;
using References = std::vector<std::pair<Kind, std::uint64_t>>;

template <class Record>
References of(Record made, RecordKind kind, std::uint32_t number = 0) {
  made.header.kind = kind;
  made.header.number = number;
  made.header.slots = slots_of<Record>();
  References found;
  for_each_reference(made.header, std::as_bytes(std::span(&made, 1)),
                     [&](Kind each, std::uint64_t id) { found.emplace_back(each, id); });
  return found;
}

TEST(RecordReferences, AreMethodsObjectsClassesStacksAndTexts) {
  EXPECT_THAT(of(CalloutRecord{}, RecordKind::kMethodEntry, 7), ElementsAre(Pair(Kind::kMethod, 7)));
  EXPECT_THAT(of(CalloutRecord{}, RecordKind::kCall, 8), ElementsAre(Pair(Kind::kMethod, 8)));
  EXPECT_THAT(of(CountRecord{.header = {}, .count = 5, .unused = 0}, RecordKind::kMethodCount, 9),
              ElementsAre(Pair(Kind::kMethod, 9)));
  EXPECT_THAT(of(MonitorRecord{.header = {}, .thread = 1, .object = 4, .argument = 0, .owner = 0},
                 RecordKind::kMonContendedEnter),
              ElementsAre(Pair(Kind::kObject, 4)));
  EXPECT_THAT(of(ExceptionRecord{.header = {}, .object = 3, .handle = 9}, RecordKind::kThrow, 2),
              ElementsAre(Pair(Kind::kMethod, 2), Pair(Kind::kObject, 3)));
  EXPECT_THAT(
      of(
          ObjAllocRecord{
              .header = {}, .thread = 1, .object = 2, .size = 16, .class_id = 3, .stack = 4, .site = 5 << 16 | 77},
          RecordKind::kObjAlloc),
      ElementsAre(Pair(Kind::kClass, 3), Pair(Kind::kStack, 4), Pair(Kind::kMethod, 5)));
  EXPECT_THAT(of(ReceiverRecord{.header = {}, .object = 5, .cpu_time = 0}, RecordKind::kEntryOf, 2),
              ElementsAre(Pair(Kind::kMethod, 2), Pair(Kind::kObject, 5)));
  EXPECT_THAT(of(LateEntryOfRecord{.header = {}, .start = 1, .cpu_time = 2, .object = 5, .unused = 0},
                 RecordKind::kLateEntryOf, 2),
              ElementsAre(Pair(Kind::kMethod, 2), Pair(Kind::kObject, 5)));
  EXPECT_THAT(of(ValueRecord{.header = {}, .bits = 6, .kind = ValueKind::kText}, RecordKind::kValue, 2),
              ElementsAre(Pair(Kind::kMethod, 2), Pair(Kind::kText, 6)));
}

TEST(RecordReferences, AreNoneOfWhatIsNumberedOtherwiseOrIsNothing) {
  EXPECT_TRUE(of(CalloutRecord{}, RecordKind::kGap, 7).empty());  // the number is the number of lost events
  EXPECT_TRUE(of(ThreadRecord{.header = {}, .thread = 3, .lost_until = 0}, RecordKind::kGcStart, 7).empty());
  EXPECT_TRUE(of(ValueRecord{.header = {}, .bits = 6, .kind = ValueKind::kPrimitive}, RecordKind::kValue).empty());
  EXPECT_TRUE(of(ObjectRecord{.header = {}, .id = 6, .thread = 1}, RecordKind::kObjFree).empty());
  EXPECT_TRUE(of(MonitorRecord{}, RecordKind::kMonWait).empty());
  EXPECT_TRUE(of(CalloutRecord{}, RecordKind::kObjAlloc, 7).empty());  // too short
}

}  // namespace
}  // namespace jtrace::trace::record
