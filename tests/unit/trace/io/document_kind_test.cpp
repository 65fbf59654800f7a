#include "trace/io/document_kind.h"

#include <gtest/gtest.h>

namespace jtrace::trace::io {
namespace {

TEST(DocumentKind, IsThatOfTheFirstBytes) {
  EXPECT_EQ(document_kind("<?xml version=\"1.0\"?>"), DocumentKind::kXml);
  EXPECT_EQ(document_kind("<gcStart time=\"1\"/>"), DocumentKind::kXml);
  EXPECT_EQ(document_kind("SDDFA"), DocumentKind::kSddf);
  EXPECT_EQ(document_kind(std::string_view("SQLite format 3\0", 16)), DocumentKind::kDatabase);
  EXPECT_EQ(document_kind("\177ELF\2"), DocumentKind::kElf);
  EXPECT_EQ(document_kind(std::string_view("FLR\0\0\2", 6)), DocumentKind::kJfr);
  EXPECT_EQ(document_kind("\n\4\10\1\20\2"), DocumentKind::kPprof);
  for (const char* other : {"\nmain;a 3", "\n\n\n\n", "FLR", "", " ", "main;a;b 17\n", "JTRSPIL1", "\177EL"})
    EXPECT_EQ(document_kind(other), DocumentKind::kOther) << other;
}

TEST(DocumentKind, TellsTheKindsOfJsonApart) {
  EXPECT_EQ(document_kind("{\"element\":\"option\",\"key\":\"view\",\"value\":\"view\"}"), DocumentKind::kJsonLines);
  EXPECT_EQ(document_kind("{ \"element\" : \"node\"}"), DocumentKind::kJsonLines);
  EXPECT_EQ(document_kind("{\"view\":\"histogram\",\"target\":{}}"), DocumentKind::kAnswer);
  EXPECT_EQ(document_kind("\n {\"view\":\"x\"}"), DocumentKind::kAnswer);
  EXPECT_EQ(document_kind("{\"version\":1,\"traceEvents\":[]}"), DocumentKind::kJson);
}

TEST(DocumentKind, SaysWhatIsNotReadAndWhy) {
  for (const auto kind : {DocumentKind::kPprof, DocumentKind::kJfr})
    EXPECT_NE(why_not_read(kind).find("which jtrace writes and does not read"), std::string_view::npos);
  for (const auto kind : {DocumentKind::kOther, DocumentKind::kXml, DocumentKind::kSddf, DocumentKind::kJsonLines})
    EXPECT_EQ(why_not_read(kind), "");
}

TEST(DocumentKind, AHeadMaySayThatItIsASnapshot) {
  EXPECT_TRUE(may_be_snapshot("<TRACE><option key=\"jtrace.kind\" value=\"snapshot\"/>"));
  EXPECT_FALSE(may_be_snapshot("<TRACE><option key=\"jtrace.kind\" value=\"series\"/>"));
}

}  // namespace
}  // namespace jtrace::trace::io
