// A trace that was cut off between two elements, in every format that is read.
#include "trace/io/ended_source.h"

#include <gtest/gtest.h>

#include "tests/testlib/must.h"
#include "trace/io/format_writer.h"
#include "trace/io/open_source.h"

namespace jtrace::trace::io {
namespace {

using test::must;

constexpr std::string_view kTrace =
    "<node nodeId=\"n\" hostname=\"h\" ipaddress=\"\" time=\"0.5\"/>\n"
    "<processCreate processId=\"p\" pid=\"42\" nodeIdRef=\"n\" time=\"1.0\" name=\"app\"/>\n"
    "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\" time=\"1.0\"/>\n"
    "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\" collationValue=\"1\"/>\n"
    "<threadStart threadId=\"7\" time=\"1.0\" threadName=\"main\" collationValue=\"2\"/>\n"
    "<gcStart time=\"3.0\" collationValue=\"3\"/>\n"
    "<gcFinish time=\"3.25\" totalObjectSpace=\"5\" usedObjectSpace=\"4\" collationValue=\"4\"/>\n";
constexpr std::string_view kEnd = "<traceEnd traceIdRef=\"t\" time=\"7.0\" collationValue=\"5\"/>\n";

Result<ReadSummary> read(const std::string& text, EventSink& sink) {
  FaultLog faults;
  auto source = must(make_event_source(must(memory_byte_source(text)), "in", faults));
  return watch_for_the_end(std::move(source))->read(sink);
}
bool is_truncated(const std::string& text) {
  NullSink nothing;
  return must(read(text, nothing)).truncated;
}
std::string as(const std::string& format, const std::string& text) {
  MemorySink bytes;
  FormatWriter writer = FormatWriter::to_bytes(bytes, {.format = format});
  must(read(text, writer.sink()));
  must(writer.sink().finish());
  return bytes.text();
}

TEST(EndedSource, ATraceWithoutItsEndIsCutOff) {
  const std::string trace(kTrace), end(kEnd);
  EXPECT_FALSE(is_truncated("<TRACE>\n" + trace + end + "</TRACE>\n"));
  EXPECT_TRUE(is_truncated("<TRACE>\n" + trace + "</TRACE>\n"));
  for (const std::string format : {"fragments", "jsonl", "sddf"}) {
    EXPECT_FALSE(is_truncated(as(format, trace + end))) << format;
    EXPECT_TRUE(is_truncated(as(format, trace))) << format;
  }
}

TEST(EndedSource, StrictlyItIsRefused) {
  FaultLog faults;
  NullSink nothing;
  auto source = must(make_event_source(must(memory_byte_source(std::string(kTrace))), "in", faults));
  const auto read = watch_for_the_end(std::move(source), "in", true)->read(nothing);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message(), "in:8:1: truncated after 7 elements");
}

TEST(EndedSource, ATraceThatDoesNotCountNeedsNoEnd) {
  EXPECT_FALSE(is_truncated("<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\"/>\n<gcStart time=\"3.0\"/>\n"));
  EXPECT_FALSE(is_truncated("<gcStart time=\"3.0\"/>\n"));
}

TEST(EndedSource, AnSddfFileMayEndWithinARecord) {
  const std::string whole = as("sddf", std::string(kTrace) + std::string(kEnd));
  const std::size_t end = whole.find("<traceEnd"), first = whole.find("<traceStart");
  ASSERT_LT(first, end);
  NullSink nothing;
  std::uint64_t most = 0;
  for (std::size_t size = end; size > whole.find(";;", first); --size) {
    const auto summary = read(whole.substr(0, size), nothing);
    ASSERT_TRUE(summary) << size << ": " << summary.error().message();
    EXPECT_TRUE(summary->truncated) << size;
    most = std::max(most, summary->elements);
  }
  EXPECT_GT(most, 4u);
}

}  // namespace
}  // namespace jtrace::trace::io
