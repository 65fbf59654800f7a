// java.util.Properties as text (Properties.store, Properties.load): the answers of `properties` and `agentProperties`.
// Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jtrace::attach {

// Keys and values in the order of the text, unescaped, as UTF-8. Comments are skipped.
std::vector<std::pair<std::string, std::string>> parse_properties(std::string_view text);

// Replaces the values of keys that look like secrets (looks_secret) by ***, and the secrets in other values
// (base/secrets.h); changes nothing else.
std::string with_masked_secrets(std::string_view text);

}  // namespace jtrace::attach
