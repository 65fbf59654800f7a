// The head of the object that each command prints with --format json (docs/architecture.md, "JSON answers"):
// begin_answer(), the value of `target`, write_missing(). After it the caller writes the members of its view and
// `data`, and ends the object.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace jtrace {

// The view, and the key `target`: the caller writes its value, an object.
JsonWriter& begin_answer(JsonWriter& json, std::string_view view);

// Whether the answer is complete, what is missing, and how many secrets were replaced.
JsonWriter& write_missing(JsonWriter& json, bool complete, const std::vector<std::string>& missing,
                          std::size_t masked = 0);
// Of an answer that is complete if it lists nothing as missing.
JsonWriter& write_missing(JsonWriter& json, const std::vector<std::string>& missing, std::size_t masked = 0);

}  // namespace jtrace
