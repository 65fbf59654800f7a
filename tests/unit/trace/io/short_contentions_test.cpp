// What a trace says of contentions that it leaves out: in tables, pages, databases and comparisons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/io/open_source.h"
#include "trace/io/report.h"
#include "trace/io/slow_text.h"
#include "trace/io/statistics.h"

namespace jtrace::trace::io {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string document(const std::string& events) {
  return "<node nodeId=\"n\"/>\n<processCreate processId=\"p\" nodeIdRef=\"n\"/>\n"
         "<agentCreate agentId=\"a\" processIdRef=\"p\" agentName=\"jtrace\"/>\n"
         "<traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1.0\"/>\n"
         "<option key=\"min-contention\" value=\"0.001\"/>\n" +
         events + "<traceEnd time=\"9.0\"/>\n<agentDestroy agentIdRef=\"a\" time=\"9.0\"/>\n";
}

const std::string kShort =
    "<option key=\"jtrace.shortContentions\" value=\"count=30,total=0.002000000,class=shop/Stock\"/>\n"
    "<option key=\"jtrace.shortContentions\" value=\"count=10,total=0.001000000,class=shop/Stock\"/>\n"
    "<option key=\"jtrace.shortContentions\" value=\"count=2,total=0.000500000\"/>\n";
const std::string kCall =
    "<threadStart threadId=\"1\" time=\"1.0\" threadName=\"main\"/>\n"
    "<methodEntry threadIdRef=\"1\" time=\"2.0\" methodIdRef=\"1\" ticket=\"1\" stackDepth=\"1\"/>\n"
    "<methodExit threadIdRef=\"1\" time=\"4.0\" methodIdRef=\"1\" ticket=\"1\"/>\n";

template <class Sink>
void feed(const std::string& text, Sink& sink) {
  FaultLog faults;
  auto source = make_event_source(std::move(*memory_byte_source(text)), "in", faults);
  ASSERT_TRUE((*source)->read(sink));
  ASSERT_TRUE(sink.finish());
}

// Though no event of a contention is there.
TEST(ShortContentions, AreInTheTablesOfMonitors) {
  Statistics statistics;
  feed(document(kShort), statistics);
  EXPECT_THAT(statistics_text(statistics, 20),
              AllOf(HasSubstr("42 contentions of less than 1ms, 0.003500000 s in all, are only counted"),
                    HasSubstr("        40     0.003000            -  shop.Stock\n"),
                    HasSubstr("         2     0.000500            -  (other classes)\n")));
  EXPECT_THAT(statistics_json(statistics, "in", 20),
              HasSubstr("\"shortContention\":[{\"class\":\"shop.Stock\",\"times\":40,\"total\":0.003}"));
}

TEST(ShortContentions, AreMissingInWhatSlowCallsWaitedFor) {
  Statistics with, without;
  feed(document(kCall + kShort), with);
  feed(document(kCall), without);
  EXPECT_THAT(slow_text(with, {.over = 1, .rows = 5}), HasSubstr("what calls waited for is without them"));
  EXPECT_THAT(slow_json(with, "in", {.over = 1, .rows = 5}), HasSubstr("\"waitsWithout\":{\"times\":42,"));
  EXPECT_THAT(slow_text(without, {.over = 1, .rows = 5}), Not(HasSubstr("without them")));
}

TEST(ShortContentions, AreOnThePage) {
  const auto report = make_report_collector();
  feed(document(kShort), *report);
  EXPECT_THAT(report_json(*report, {.title = "x"}, 1),
              AllOf(HasSubstr("[\"shop.Stock\",40,3000]"), HasSubstr("42 contentions of less than 1ms")));
}

}  // namespace
}  // namespace jtrace::trace::io
