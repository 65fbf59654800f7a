// Objects of a live JVM or a core as a reader wants them in one line. Pure, any thread.
#pragma once

#include <optional>
#include <string>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// Of an enum's constant its name, of boxes, decimals, dates and the like what toString() returns. None of other
// objects, and of builders of texts, which may hold a secret.
std::optional<std::string> plain_value(const Inspection& inspection, Address object);
// That, or the text of a string, or class@address, with the size of a collection or map: "java.util.ArrayList@0x40
// (3)".
std::string readable_text(const Inspection& inspection, Address object);

}  // namespace jtrace::coreinspect
