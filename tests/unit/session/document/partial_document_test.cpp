// The open calls of a file that breaks off: those whose exits come from the ring memory.
#include "session/document/partial_document.h"

#include <gtest/gtest.h>

namespace jtrace::session {
namespace {

std::string entry(int thread, int method, int ticket) {
  return "<methodEntry threadIdRef=\"" + std::to_string(thread) + "\" time=\"1.000000000\" methodIdRef=\"" +
         std::to_string(method) + "\" ticket=\"" + std::to_string(ticket) + "\" stackDepth=\"1\"/>\n";
}
std::string exit_of(int thread, int ticket) {
  return "<methodExit threadIdRef=\"" + std::to_string(thread) + "\" time=\"1.000000000\" ticket=\"" +
         std::to_string(ticket) + "\" methodIdRef=\"1\"/>\n";
}
// "thread: method/ticket ...", of the calls that are open.
std::string open_in(const std::string& text) {
  std::string out;
  for (const auto& [thread, calls] : read_partial_document(text).open_calls)
    for (const PartialDocument::Call& call : calls)
      out += std::to_string(thread) + ":" + std::to_string(call.method) + "/" + std::to_string(call.ticket) +
             (call.is_callers ? "c " : " ");
  return out;
}

TEST(PartialDocument, KnowsTheCallsThatAreOpenWhereTheFileEnds) {
  EXPECT_EQ(open_in(entry(1, 7, 1) + entry(1, 8, 2) + entry(2, 7, 1) + exit_of(1, 2) + entry(1, 9, 3)),
            "1:7/1 1:9/3 2:7/1 ");
}

TEST(PartialDocument, AnExitEndsWhatIsAboveItsCall) {
  EXPECT_EQ(open_in(entry(1, 7, 1) + entry(1, 8, 2) + entry(1, 9, 3) + exit_of(1, 2)), "1:7/1 ");
  EXPECT_EQ(open_in(entry(1, 7, 1) + exit_of(1, 5)), "1:7/1 ") << "an exit without its entry";
}

TEST(PartialDocument, CallersSidesAreCallsToo) {
  EXPECT_EQ(open_in("<methodCall threadIdRef=\"1\" methodIdRef=\"7\" ticket=\"4\"/>\n"), "1:7/4c ");
}

TEST(PartialDocument, WhereEventsAreMissingNoCallIsKnown) {
  const std::string open = entry(1, 7, 1) + entry(2, 7, 1);
  EXPECT_EQ(open_in(open + "<threadEnd threadIdRef=\"1\" time=\"1.000000000\"/>\n"), "2:7/1 ");
  EXPECT_EQ(open_in(open + "<option key=\"jtrace.paused\" value=\"1\"/>\n"), "");
  EXPECT_EQ(open_in(open + "<option key=\"jtrace.gap\" value=\"nothing to read\"/>\n"), "");
}

}  // namespace
}  // namespace jtrace::session
