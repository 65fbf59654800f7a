// Masks the texts of a target whose name marks them as secrets, by default, and counts them.
//
// A secret is a text. Numbers, booleans and references to other objects are always shown. For a field the last noun of
// its name counts ("dbPassword", "accessToken", "apiKey"), not other words in it ("tokenCount", "key"). For an entry of
// a map, a system property and a text flag, base/strings.h (looks_secret) decides, because users choose those keys; of
// the other properties and text flags, and of command lines, the secrets in their values are masked (base/secrets.h).
// Ownership: nothing. Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

#include "base/secrets.h"
#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

// True if a holder (HolderFields) of that name probably holds a secret, provided that it holds a text:
// "Shop$Account.password". The same of a field: names_secret_field.
bool names_secret_holder(std::string_view holder);
// True if the object is a String, char[] or byte[]; of a reference of that type at `at`, if it leads to one.
bool is_text(const Inspection& inspection, Address object);
bool refers_to_text(const Inspection& inspection, Address at, std::string_view signature);

class SecretMask {
 public:
  explicit SecretMask(bool show) : show_(show) {}

  // For a system property and the like.
  std::string property(std::string_view key, std::string value);
  std::string flag(const VmFlag& flag) { return flag.is_text() ? property(flag.name, flag.value) : flag.value; }
  // For the words of a command line, and any text that may have secrets in it.
  std::string command(const std::string& words);
  // For a field or element that the caller has judged.
  std::string value_of(bool secret, std::string value);
  // For field `name` of type `signature` at `at`.
  bool hides_field(const Inspection& inspection, std::string_view name, std::string_view signature, Address at) const;
  // For a map's value at `at` whose key `key` refers to.
  bool hides_entry(const Inspection& inspection, Address key, std::string_view signature, Address at) const;
  // The same of a value that is read already.
  bool hides_entry(const Inspection& inspection, Address key, Address value) const;

  bool shows() const { return show_; }          // everything
  std::size_t count() const { return count_; }  // masked values

 private:
  bool is_secret_key(std::string_view key) const;
  bool is_secret_key(const Inspection& inspection, Address key) const;

  bool show_;
  std::size_t count_ = 0;
};

}  // namespace jtrace::coreinspect
