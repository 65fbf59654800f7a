// The first fields of an object of a live JVM or a core, for a line that names it: "{code="A-7", cents=4080}".
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coreinspect/tools/secrets.h"

namespace jtrace::coreinspect {

// Name and value of each, those of its class before those of its superclasses, at most 12; what `mask` hides is masked.
// `klass`: its class. Fewer where memory is missing.
using FieldTexts = std::vector<std::pair<std::string, std::string>>;
FieldTexts first_fields(const Inspection& inspection, SecretMask& mask, Address object, Address klass);
// " {code="A-7", cents=4080}"; "" without fields.
std::string fields_text(const FieldTexts& fields);

}  // namespace jtrace::coreinspect
