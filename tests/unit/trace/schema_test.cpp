#include "trace/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/xml_oracle.h"

namespace jtrace::trace {
namespace {

// The declarations of a DTD, without comments and layout.
struct Declarations {
  std::map<std::string, std::string> models;                   // element: content model without blanks
  std::map<std::string, std::vector<std::string>> attributes;  // element: "name CDATA #IMPLIED" in order
};

std::string words(const std::string& text) {
  std::istringstream in(text);
  std::string out, word;
  while (in >> word) out += out.empty() ? word : " " + word;
  return out;
}

std::string without_blanks(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
  return text;
}

Declarations declarations(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) {
    ADD_FAILURE() << text.error().message();
    return {};
  }
  const std::string dtd = std::regex_replace(*text, std::regex("<!--[^]*?-->"), "");
  Declarations found;
  const std::regex element("<!ELEMENT\\s+(\\S+)\\s+([^>]*)>");
  for (std::sregex_iterator it(dtd.begin(), dtd.end(), element), end; it != end; ++it)
    found.models[(*it)[1]] = without_blanks((*it)[2]);
  const std::regex list("<!ATTLIST\\s+(\\S+)\\s+([^>]*)>");
  const std::regex attribute("\\S+\\s+CDATA\\s+#\\w+");
  for (std::sregex_iterator it(dtd.begin(), dtd.end(), list), end; it != end; ++it) {
    const std::string body = (*it)[2];
    for (std::sregex_iterator a(body.begin(), body.end(), attribute); a != end; ++a)
      found.attributes[(*it)[1]].push_back(words(a->str()));
  }
  return found;
}

std::size_t attribute_count(const Declarations& dtd) {
  std::size_t count = 0;
  for (const auto& [element, list] : dtd.attributes) count += list.size();
  return count;
}

TEST(Schema, TheOriginalDeclaresWhatWeKnowOfIt) {
  const Declarations original = declarations(test::original_declarations());
  EXPECT_EQ(original.models.size(), 41u);
  EXPECT_EQ(original.attributes.size(), 40u);
  EXPECT_EQ(attribute_count(original), 273u);
}

TEST(Schema, OurTraceDtdDeclaresExactlyTheSame) {
  const Declarations original = declarations(test::original_declarations());
  const Declarations ours = declarations(test::shared_file("trace.dtd"));
  EXPECT_EQ(ours.models, original.models);
  EXPECT_EQ(ours.attributes, original.attributes);
}

TEST(Schema, TheCorrectedDtdDiffersOnlyWhereItSaysSo) {
  const Declarations original = declarations(test::original_declarations());
  const Declarations mended = declarations(test::shared_file("jtrace.dtd"));
  std::map<std::string, std::string> models;
  std::set<std::string> attributes;
  for (const auto& [element, model] : mended.models)
    if (original.models.at(element) != model && element != kRootElement) models[element] = model;
  for (const auto& [element, list] : mended.attributes) {
    const std::vector<std::string>& before = original.attributes.at(element);
    ASSERT_GE(list.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), list.begin())) << element;
    for (std::size_t i = before.size(); i < list.size(); ++i) attributes.insert(element + " " + list[i]);
  }
  EXPECT_EQ(models, (std::map<std::string, std::string>{{"methodEntry", "(InvocationContext?,value*)"},
                                                        {"methodExit", "(value*)"},
                                                        {"methodCall", "(value*)"},
                                                        {"methodReturn", "(value*)"}}));
  std::set<std::string> extensions = {"filter methodPattern CDATA #IMPLIED",
                                      "filter methodGenericPattern CDATA #IMPLIED",
                                      "monWait threadOwner CDATA #IMPLIED",
                                      "throw lineNumber CDATA #IMPLIED",
                                      "throw causeIdRef CDATA #IMPLIED",
                                      "throw message CDATA #IMPLIED",
                                      "catch lineNumber CDATA #IMPLIED",
                                      "catch handler CDATA #IMPLIED",
                                      "gcFinish cause CDATA #IMPLIED",
                                      "gcFinish kind CDATA #IMPLIED",
                                      "gcFinish usedObjectSpaceBefore CDATA #IMPLIED"};
  for (const char* element : {"monWait", "monWaited", "monContendedEnter", "monContendedEntered"})
    for (const char* attribute : {" collationValue CDATA #IMPLIED", " traceIdRef CDATA #IMPLIED"})
      extensions.insert(std::string(element) + attribute);
  EXPECT_EQ(attributes, extensions);
}

TEST(Schema, TheRootTakesEveryElementOnce) {
  std::string model = "(";
  for (const ElementInfo& element : kElements) model.append(model.size() > 1 ? "|" : "").append(element.name);
  EXPECT_EQ(declarations(test::shared_file("jtrace.dtd")).models["TRACE"], model + ")*");
}

// docs/trace_format.md mentions every element, every extension and every shipped file.
TEST(Schema, TheDocumentNamesEverything) {
  const Result<std::string> document = read_file(test::source_folder() + "/docs/trace_format.md");
  ASSERT_TRUE(document);
  const auto named = [&](std::string_view name) {
    return std::regex_search(*document, std::regex("\\b" + std::string(name) + "\\b"));
  };
  for (const ElementInfo& element : kElements) {
    EXPECT_TRUE(named(element.name)) << element.name;
    for (const AttributeInfo& attribute : element.attributes)
      EXPECT_TRUE(named(attribute.name)) << element.name << "/" << attribute.name;
  }
}

TEST(OptionKeys, AreDocumented) {
  std::string pages;
  for (const char* page : {"/docs/trace_format.md", "/docs/hsperf.md"})
    pages += test::must(read_file(test::source_folder() + page));
  const std::string header = test::must(read_file(test::source_folder() + "/trace/option_keys.h"));
  const std::regex key("\"((jtrace|hsperf)[.][A-Za-z.]+)\"");
  std::size_t count = 0;
  for (std::sregex_iterator at(header.begin(), header.end(), key), end; at != end; ++at, ++count)
    EXPECT_NE(pages.find((*at)[1]), std::string::npos) << "no row in docs/trace_format.md for the option " << (*at)[1];
  EXPECT_GT(count, 20u);
}

TEST(Schema, KindsAndNamesAgree) {
  for (std::size_t i = 0; i < kElementCount; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kElements[i].kind), i);
    EXPECT_EQ(element_of_name(kElements[i].name), kElements[i].kind);
    EXPECT_FALSE(kElements[i].description.empty());
  }
  EXPECT_EQ(element_of_name("monwait"), std::nullopt);
  EXPECT_EQ(element_info(ElementKind::kCatch).name, "catch");
  EXPECT_EQ(kKindOf<MonWait>, ElementKind::kMonWait);
  EXPECT_EQ(element_kind(Event(MonWait{})), ElementKind::kMonWait);
}

TEST(Schema, RanksCountFromOneWithoutGaps) {
  for (const ElementInfo& element : kElements) {
    std::set<int> ranks;
    for (const AttributeInfo& attribute : element.attributes)
      if (attribute.rank != 0) {
        EXPECT_TRUE(ranks.insert(attribute.rank).second) << element.name;
      }
    if (!ranks.empty()) {
      EXPECT_EQ(*ranks.rbegin(), static_cast<int>(ranks.size())) << element.name;
    }
  }
}

}  // namespace
}  // namespace jtrace::trace
