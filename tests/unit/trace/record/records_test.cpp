// The table of records (records.def): every row passes through the pool and the merger unchanged, and is in
// docs/wire.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "trace/record/control.h"
#include "trace/record/pool_writer.h"
#include "trace/record/record_kinds.h"
#include "trace/record/record_merger.h"
#include "trace/record/start_options.h"

namespace jtrace::trace::record {
namespace {

class KeepingSink final : public RecordSink {
 public:
  Result<> on_definition(std::span<const std::byte>) override { return {}; }
  Result<> on_event(const RecordHeader& record) override {
    const auto* bytes = reinterpret_cast<const std::byte*>(&record);
    records.emplace_back(bytes, bytes + std::size_t{record.slots} * kSlotSize);
    return {};
  }
  std::vector<std::vector<std::byte>> records;
};

// A record of `slots` slots; the bytes after its header are all different.
std::vector<std::byte> record_of(RecordKind kind, std::uint8_t slots) {
  std::vector<std::byte> bytes(std::size_t{slots} * kSlotSize);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  const RecordHeader header{kind, slots, 3, 77, 1000};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

struct Merged {
  std::vector<std::vector<std::byte>> records;
  RecordMerger::Counts counts;
};
Merged merge(const std::vector<std::byte>& bytes) {
  RecordMerger merger;
  KeepingSink sink;
  EventPart part{.producer = 1, .data = bytes.data(), .size = bytes.size()};
  EXPECT_TRUE(merger.merge(std::span(&part, 1), sink, UINT64_MAX, 100));
  return {sink.records, merger.counts()};
}

TEST(Records, EachRowComesOutAsItWentIn) {
  for (const RecordTraits& row : kRecords) {
    for (const std::uint8_t slots : {row.slots, row.cpu_slots}) {
      const auto written = record_of(row.kind, slots);
      const Merged merged = merge(written);
      EXPECT_EQ(merged.counts.malformed, 0u) << row.name;
      if (row.kind == RecordKind::kPadding) {
        EXPECT_TRUE(merged.records.empty());
      } else {
        ASSERT_EQ(merged.records.size(), 1u) << row.name;
        EXPECT_EQ(merged.records[0], written) << row.name;
      }
    }
  }
}

TEST(Records, AreMalformedWhereTheyAreShorterThanTheirStruct) {
  for (const RecordTraits& row : kRecords) {
    if (row.slots == 1) continue;
    const Merged merged = merge(record_of(row.kind, static_cast<std::uint8_t>(row.slots - 1)));
    EXPECT_TRUE(merged.records.empty()) << row.name;
    EXPECT_EQ(merged.counts.malformed, 1u) << row.name;
  }
  EXPECT_EQ(merge(record_of(static_cast<RecordKind>(std::size(kRecords)), 2)).counts.malformed, 1u);
}

TEST(Records, KindsThatAreNoRowAreNothing) {
  const auto none = static_cast<RecordKind>(std::size(kRecords));
  EXPECT_EQ(least_slots(none), 0);
  for (const RecordKinds kinds : {kElementKinds, kFrameKinds, kCountedKinds, kCalloutKinds, kFreeKinds}) {
    EXPECT_FALSE(is_in(kinds, none));
    EXPECT_FALSE(is_in(kinds, static_cast<RecordKind>(255)));
  }
  EXPECT_EQ(ended_by(none), RecordEnds::kNothing);
}

// A record of bytecode has one slot, or a second one with the cpu time or the object (agent/methods/callout_code.cpp).
TEST(Records, OfBytecodeHaveTwoSlotsAtTheMost) { EXPECT_EQ(kLargestOfBytecode, 2 * kSlotSize); }

std::string without_comments(const std::string& source) {
  std::string code;
  for (const std::string_view line : split(source, '\n')) code.append(line.substr(0, line.find("//"))) += '\n';
  return code;
}

// A kind that nothing in the agent writes is a forgotten callback.
TEST(Records, TheAgentNamesEachKind) {
  std::string agent;
  for (const auto& file : std::filesystem::recursive_directory_iterator(JTRACE_SOURCE_DIR "/agent"))
    if (file.is_regular_file()) agent += without_comments(read_file(file.path()).value_or(""));
  const auto is_named = [&](const std::string& word) {
    for (std::size_t at = agent.find(word); at != agent.npos; at = agent.find(word, at + 1))
      if (std::isalnum(static_cast<unsigned char>(agent[at + word.size()])) == 0) return true;
    return false;
  };
  for (const RecordTraits& row : kRecords)
    EXPECT_TRUE(is_named("RecordKind::k" + std::string(row.name))) << "nothing in agent/ writes a record " << row.name;
}

std::string words_of(std::string_view name) {  // "kSilent" as the docs' table writes it
  std::string text(name);
  text[0] = static_cast<char>(std::tolower(text[0]));
  return text;
}

std::string document() { return read_file(JTRACE_SOURCE_DIR "/docs/wire.md").value_or(""); }

TEST(Wire, DocsHaveARowForEachRecord) {
  const std::string text = document();
#define RECORD(number, Name, Struct, CpuStruct, role, loss, writer, numbered, ends, description)                      \
  {                                                                                                                   \
    const std::string slots =                                                                                         \
        std::to_string(slots_of<Struct>()) +                                                                          \
        (slots_of<Struct>() != slots_of<CpuStruct>() ? ", " + std::to_string(slots_of<CpuStruct>()) : std::string()); \
    const std::string row = "| " + std::to_string(number) + " | " #Name " | " #Struct " | " + slots + " | " +         \
                            words_of(#role) + " | " + words_of(#loss) + " | " + words_of(#writer) + " | " +           \
                            words_of(#numbered) + " | " + words_of(#ends) + " | " + description + " |\n";             \
    EXPECT_THAT(text, testing::HasSubstr(row)) << "the table of docs/wire.md lacks a row";                            \
  }
#include "trace/record/records.def"
#undef RECORD
}

TEST(Wire, DocsHaveARowForEachEventBit) {
  const std::string text = document();
#define EVENT_BIT(number, Name, when, callouts, groups, words)                                            \
  {                                                                                                       \
    const std::string row = "| " + std::to_string(number) + " | " #Name " | " + words_of(#when) + " | " + \
                            words_of(#callouts) + " | " + groups + " | " + words + " |\n";                \
    EXPECT_THAT(text, testing::HasSubstr(row)) << "the table of docs/wire.md lacks a row";                \
  }
#include "trace/record/events.def"
#undef EVENT_BIT
}

TEST(Wire, DocsHaveARowForEachOptionOfStart) {
  const std::string text = document();
  const auto expect_row = [&](const char* key, const std::string& as, const std::string& what) {
    EXPECT_THAT(text, testing::HasSubstr("| " + std::string(key) + " | " + as + " | " + what + " |\n"))
        << "the table of docs/wire.md lacks a row";
  };
#define START_FLAG(bit, Name, member, key, help) expect_row(key, "flag " #bit, help);
#define START_CHOICE(bit, Name, member, key, first, second, help) \
  expect_row(key, "flag " #bit ", " first " or " second, help);
#define START_VALUE(type, Name, member, form, normal, least, most, key, help) \
  expect_row(key, words_of(#form), option_help(help, StartForm::k##form, normal));
#include "trace/record/start_options.def"
}

TEST(Wire, DocsHaveARowForEachFieldOfADefinition) {
  const std::string text = document();
  std::string kind;
#define DEFINITION(number, Name, id, text_of_kind)                                   \
  kind = #Name;                                                                      \
  EXPECT_THAT(text, testing::HasSubstr("| **" #Name "** " + std::to_string(number) + \
                                       " | id | " id " | " text_of_kind " |\n"));
#define FIELD(type, member, text_of_field) \
  EXPECT_THAT(text, testing::HasSubstr("| " + kind + " | " #type " | " #member " | " text_of_field " |\n"));
#include "trace/record/definitions.def"
}

TEST(Wire, DocsHaveARowForEachFieldOfAFrame) {
  const std::string text = document();
  std::string frame;
#define ITEM(Name, what) \
  frame = #Name;         \
  EXPECT_THAT(text, testing::HasSubstr("| **" #Name "** | | | " what " |\n"));
#define FRAME(Name, what) \
  frame = #Name;          \
  EXPECT_THAT(text, testing::HasSubstr("| **" #Name "** | | | " what " |\n"));
#define FIELD(type, member, what) \
  EXPECT_THAT(text, testing::HasSubstr("| " + frame + " | " #type " | " #member " | " what " |\n"));
#include "trace/record/frames.def"
}

}  // namespace
}  // namespace jtrace::trace::record
