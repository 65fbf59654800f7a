#include "coreinspect/tools/secrets.h"

#include <vector>

#include "base/strings.h"

namespace jtrace::coreinspect {
namespace {

constexpr const char* kMasked = "********";
constexpr std::size_t kLongestKey = 1000;  // characters

}  // namespace

bool names_secret_holder(std::string_view holder) { return names_secret_field(holder.substr(holder.rfind('.') + 1)); }

bool is_text(const Inspection& inspection, Address object) {
  const auto klass = inspection.objects().klass_of(object);
  const std::string type = klass ? inspection.classes().internal_name(*klass).value_or("") : "";
  return type == "java/lang/String" || type == "[C" || type == "[B";
}

bool refers_to_text(const Inspection& inspection, Address at, std::string_view signature) {
  if (!signature.starts_with('L') && !signature.starts_with('[')) return false;
  const auto object = inspection.objects().load(at);
  return object && *object != 0 && is_text(inspection, *object);
}

bool SecretMask::is_secret_key(std::string_view key) const { return !show_ && looks_secret(key); }

bool SecretMask::hides_field(const Inspection& inspection, std::string_view name, std::string_view signature,
                             Address at) const {
  return !show_ && names_secret_field(name) && refers_to_text(inspection, at, signature);
}

bool SecretMask::is_secret_key(const Inspection& inspection, Address key) const {
  if (show_ || key == 0) return false;
  const auto klass = inspection.objects().klass_of(key);
  if (!klass || inspection.classes().internal_name(*klass).value_or("") != "java/lang/String") return false;
  const auto text = inspection.objects().text(key, kLongestKey);
  return text && is_secret_key(*text);
}

bool SecretMask::hides_entry(const Inspection& inspection, Address key, std::string_view signature, Address at) const {
  return is_secret_key(inspection, key) && refers_to_text(inspection, at, signature);
}

bool SecretMask::hides_entry(const Inspection& inspection, Address key, Address value) const {
  return is_secret_key(inspection, key) && value != 0 && is_text(inspection, value);
}

std::string SecretMask::property(std::string_view key, std::string value) {
  if (value == "true" || value == "false") return value;
  return is_secret_key(key) ? value_of(true, std::move(value)) : command(value);
}

std::string SecretMask::value_of(bool secret, std::string value) {
  if (!secret) return value;
  ++count_;
  return kMasked;
}

std::string SecretMask::command(const std::string& words) {
  std::string masked = show_ ? words : mask_secrets(words);
  if (masked != words) ++count_;
  return masked;
}

}  // namespace jtrace::coreinspect
