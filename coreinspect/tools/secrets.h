// What of a target is masked by default, and how much was: texts whose name says that they are secrets.
//
// A secret is a text. Numbers and booleans, and references to objects that are none, are shown whatever they are
// called. A field counts by the noun its name ends in ("dbPassword", "accessToken", "apiKey"), not by what it mentions
// ("tokenCount", "key"); an entry of a map, a system property and a text flag by base/strings.h, looks_secret, since
// their keys are what a user configured. Ownership: nothing. Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// True where a field of that name is likely to hold a secret, if it holds a text.
bool names_secret_field(std::string_view field);
// Whether the reference of that type at `at` leads to a String, char[] or byte[].
bool refers_to_text(const Inspection& inspection, Address at, std::string_view signature);

class SecretMask {
 public:
  explicit SecretMask(bool show) : show_(show) {}

  // Of a system property and its like.
  std::string property(std::string_view key, std::string value);
  std::string flag(const VmFlag& flag) { return value_of(flag.is_text() && is_secret_key(flag.name), flag.value); }
  // Words of a command line.
  std::string command(const std::string& words);
  // Of a field or element of which the caller knows whether it is a secret.
  std::string value_of(bool secret, std::string value);
  // What field `name` of type `signature` at `at` shows.
  bool hides_field(const Inspection& inspection, std::string_view name, std::string_view signature, Address at) const;
  // A map's value at `at` under the key that `key` refers to.
  bool hides_entry(const Inspection& inspection, Address key, std::string_view signature, Address at) const;

  std::size_t count() const { return count_; }  // of values that were masked

 private:
  bool is_secret_key(std::string_view key) const;

  bool show_;
  std::size_t count_ = 0;
};

}  // namespace jtrace::coreinspect
