// The schema table as text: the DTDs and the XML schema in share/jtrace. The same table gives the same bytes.
#pragma once

#include <string>

namespace jtrace::trace {

// The declarations of the original trace.dtd: same content models (faults included) and attribute lists, with our
// comments.
std::string original_dtd();
// The same with content models that documents can satisfy and with our extensions: every document that jtrace writes is
// valid against it.
std::string mended_dtd();
// The corrected DTD as a schema, with types for the attributes' values.
std::string xml_schema();

}  // namespace jtrace::trace
