// Secrets in texts that a user writes: command lines, properties, addresses of services. Pure functions; any thread.
//
// Masked are, in the words of a command line:
//   -Dname=value, --name=value          if looks_secret (base/strings.h) says so of the name
//   --name value, -name value, --name:value, -name:value, -name=value   if names_secret_field says so, or `key`
//   -u name:value, --user name:value    (curl), also --proxy-user
// and anywhere in a text:
//   name=value, "name":"value", name='value'   if names_secret_field says so of the name
//   scheme://user:value@host
// Values true and false are shown, except of the first two forms.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jtrace {

// True if the last noun of a name is a secret's ("dbPassword", "access_token", "apiKey"; not "tokenCount", "key").
bool names_secret_field(std::string_view name);

// The places of the secrets in `text`, in its order: begin and end of each. A value may be empty.
std::vector<std::pair<std::size_t, std::size_t>> find_secrets(std::string_view text);
// With "***" in each of these places.
std::string mask_secrets(std::string_view text);
// The same of words that are known one by one, joined with blanks.
std::string mask_secrets_of_words(const std::vector<std::string>& words);
// The same of a text of lines: no value goes on in the next line.
std::string mask_secrets_of_lines(std::string_view text);

}  // namespace jtrace
