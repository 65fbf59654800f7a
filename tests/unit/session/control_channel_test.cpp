// Frames as the agent writes them, read by jtrace (trace/record/frames.def).
#include "session/control_channel.h"

#include <gtest/gtest.h>

#include <string>

namespace jtrace::session {
namespace {

namespace record = trace::record;

void fill(std::uint8_t& field, int place) { field = static_cast<std::uint8_t>(place); }
void fill(std::uint32_t& field, int place) { field = 0x80000000u + static_cast<std::uint32_t>(place); }
void fill(std::uint64_t& field, int place) { field = (1ull << 60) + static_cast<std::uint64_t>(place); }
void fill(std::string_view& field, int place) {
  field = std::string_view("abcdefghij").substr(0, static_cast<std::size_t>(place));
}

template <class Fields>
std::string payload_of(const Fields& fields) {
  detail::Payload payload;
  write_fields(payload, fields);
  return payload.bytes;
}

Result<Hello> decode(std::string_view payload, const record::HelloFields&) { return decode_hello(payload); }
Result<Started> decode(std::string_view payload, const record::StartedFields&) { return decode_started(payload); }
Result<Refused> decode(std::string_view payload, const record::RefusedFields&) {  // the agent reads it
  ByteReader reader(std::as_bytes(std::span(payload)));
  Refused made{record::read_Utf8(reader)};
  if (reader.failed()) return fail(ErrorCategory::kMalformed, "cut");
  return made;
}
Result<Answer> decode(std::string_view payload, const record::AnswerFields&) { return decode_answer(payload); }

void set_version(record::HelloFields& fields) { fields.version = record::kControlVersion; }
template <class Fields>
void set_version(Fields&) {}

#define FRAME(Name, text)                                                     \
  template <class Step>                                                       \
  void each_field_of(record::Name##Fields& written, const Name& read, Step) { \
    int place = 0;
#define FIELD(type, member, text)                           \
  if constexpr (Step::value) fill(written.member, ++place); \
  else EXPECT_EQ(read.member, written.member) << #member << ++place;
#define FRAME_END(Name) }
#include "trace/record/frames.def"

#define FRAME(Name, text)                                                             \
  TEST(Frames, Name##ComesOutAsItWentIn) {                                            \
    record::Name##Fields written;                                                     \
    each_field_of(written, Name(), std::true_type());                                 \
    set_version(written);                                                             \
    const std::string bytes = payload_of(written);                                    \
    const auto read = decode(bytes, written);                                         \
    ASSERT_TRUE(read);                                                                \
    each_field_of(written, *read, std::false_type());                                 \
    for (std::size_t size = 0; size < bytes.size(); ++size)                           \
      EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size), written)) << size; \
  }
#include "trace/record/frames.def"

TEST(Frames, OfHelloOfAnotherVersionTheVersionAloneIsRead) {
  const auto hello = decode_hello(payload_of(record::HelloFields{.version = 4711}).substr(0, 4));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->version, 4711u);
}

TEST(Frames, AnAnswerHasTheReasonOfARefusal) {
  EXPECT_EQ(refusal_in(Answer{}), "");
  EXPECT_EQ(refusal_in(Answer{.status = static_cast<std::uint32_t>(record::AnswerStatus::kNothingCounted)}),
            "nothing is counted");
  EXPECT_NE(refusal_in(Answer{.status = 99}), "");
}

TEST(Frames, AnAnswerHasTheLinesOfStatus) {
  EXPECT_EQ(agent_lines(Answer{.paused = 1, .collections = 7}), "paused=1\ncollections=7\n");
  EXPECT_EQ(agent_lines(Answer{.has_probes = 1, .rewritten = "classes=3"}),
            "paused=0\ncollections=0\nrewritten=classes=3\n");
}

}  // namespace
}  // namespace jtrace::session
