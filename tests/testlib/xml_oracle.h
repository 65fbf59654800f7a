// What the JDK's own XML parser says about a trace: the judge that is not of our making (tests/apps/XmlOracle.java).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::test {

struct XmlVerdict {
  bool valid = false;
  std::vector<std::string> faults;  // "FILE:LINE: what", the first twenty
};

// The files of share/jtrace as built, and the declarations of the original DTD as committed (made by nobody's code).
std::string shared_file(std::string_view name);
std::string original_declarations();

// A document against a DTD and a schema ("-" for none): those we ship unless others are named.
Result<XmlVerdict> judge_document(const std::string& path, const std::string& dtd = shared_file("jtrace.dtd"),
                                  const std::string& schema = shared_file("trace.xsd"));
// Each line as a document of its own with its element as the root: against the original declarations.
Result<XmlVerdict> judge_fragments(const std::string& path, const std::string& dtd = original_declarations());

}  // namespace jtrace::test
