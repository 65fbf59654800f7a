// The schema table as text: the DTDs and the XML schema that are shipped in share/jtrace. Same table, same bytes.
#pragma once

#include <string>

namespace jtrace::trace {

// The declarations of the original trace.dtd: same content models (faults included) and attribute lists, our comments.
std::string original_dtd();
// The same with content models that can be satisfied and with our extensions: every document we write is valid against
// it.
std::string mended_dtd();
// As the mended DTD, and the attributes' values have types.
std::string xml_schema();

}  // namespace jtrace::trace
