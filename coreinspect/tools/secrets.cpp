#include "coreinspect/tools/secrets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/strings.h"
#include "perfdata/counter_table.h"

namespace jtrace::coreinspect {
namespace {

constexpr const char* kMasked = "********";
constexpr std::size_t kLongestKey = 1000;  // characters

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Splits "dbPassword", "DB_PASSWORD", "HTTPToken2" into lower-case words; digits belong to no word.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_lower(c) && !is_upper(c)) {
      if (!words.back().empty()) words.emplace_back();
      continue;
    }
    const bool after_lower = i > 0 && is_lower(name[i - 1]);
    const bool before_lower = i > 0 && i + 1 < name.size() && is_upper(name[i - 1]) && is_lower(name[i + 1]);
    if (is_upper(c) && (after_lower || before_lower) && !words.back().empty()) words.emplace_back();
    words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

bool names_secret_field(std::string_view field) {
  // A suffix for the representation does not matter: "passwordChars" is a password.
  constexpr std::array<std::string_view, 9> forms = {"value", "values", "text",  "string", "chars",
                                                     "bytes", "data",   "plain", "hash"};
  constexpr std::array<std::string_view, 12> nouns = {"password", "passwords",  "passwd",      "passphrase",
                                                      "pwd",      "secret",     "secrets",     "token",
                                                      "tokens",   "credential", "credentials", "passcode"};
  constexpr std::array<std::string_view, 2> keys = {"key", "keys"};
  constexpr std::array<std::string_view, 11> of_locks = {
      "api", "access", "secret", "private", "encryption", "signing", "license", "master", "shared", "auth", "session"};
  constexpr std::array<std::string_view, 4> written_as_one = {"apikey", "secretkey", "accesskey", "privatekey"};
  auto words = words_of(field);
  while (words.size() > 1 && is_one_of(forms, words.back())) words.pop_back();
  if (words.empty()) return false;
  if (is_one_of(nouns, words.back()) || is_one_of(written_as_one, words.back())) return true;
  return words.size() > 1 && is_one_of(keys, words.back()) && is_one_of(of_locks, words[words.size() - 2]);
}

bool names_secret_holder(std::string_view holder) { return names_secret_field(holder.substr(holder.rfind('.') + 1)); }

bool refers_to_text(const Inspection& inspection, Address at, std::string_view signature) {
  if (!signature.starts_with('L') && !signature.starts_with('[')) return false;
  const auto object = inspection.objects().load(at);
  if (!object || *object == 0) return false;
  const auto klass = inspection.objects().klass_of(*object);
  const std::string type = klass ? inspection.classes().internal_name(*klass).value_or("") : "";
  return type == "java/lang/String" || type == "[C" || type == "[B";
}

bool SecretMask::is_secret_key(std::string_view key) const { return !show_ && looks_secret(key); }

bool SecretMask::hides_field(const Inspection& inspection, std::string_view name, std::string_view signature,
                             Address at) const {
  return !show_ && names_secret_field(name) && refers_to_text(inspection, at, signature);
}

bool SecretMask::hides_entry(const Inspection& inspection, Address key, std::string_view signature, Address at) const {
  if (show_ || key == 0) return false;
  const auto klass = inspection.objects().klass_of(key);
  if (!klass || inspection.classes().internal_name(*klass).value_or("") != "java/lang/String") return false;
  const auto text = inspection.objects().text(key, kLongestKey);
  return text && is_secret_key(*text) && refers_to_text(inspection, at, signature);
}

std::string SecretMask::property(std::string_view key, std::string value) {
  const bool boolean = value == "true" || value == "false";
  return value_of(!boolean && is_secret_key(key), std::move(value));
}

std::string SecretMask::value_of(bool secret, std::string value) {
  if (!secret) return value;
  ++count_;
  return kMasked;
}

std::string SecretMask::command(const std::string& words) {
  std::string masked = show_ ? words : perfdata::mask_secrets(words);
  if (masked != words) ++count_;
  return masked;
}

}  // namespace jtrace::coreinspect
