#include "coreinspect/runtime/descriptor.h"

namespace jtrace::coreinspect {
namespace {

std::uint32_t words_of(const std::string& type) { return is_wide(type.front()) ? 2 : 1; }

}  // namespace

std::vector<std::string> parameter_types(std::string_view descriptor) {
  std::vector<std::string> types;
  if (!descriptor.starts_with('(')) return types;
  for (std::size_t at = 1; at < descriptor.size() && descriptor[at] != ')';) {
    std::size_t end = descriptor.find_first_not_of('[', at);
    if (end == descriptor.npos) return types;
    if (descriptor[end] == 'L') end = descriptor.find(';', end);
    if (end == descriptor.npos) return types;
    types.emplace_back(descriptor.substr(at, end + 1 - at));
    at = end + 1;
  }
  return types;
}

std::uint32_t argument_words(const JavaMethod& method) {
  std::uint32_t words = method.is_static() ? 0 : 1;
  for (const std::string& type : parameter_types(method.signature)) words += words_of(type);
  return words;
}

std::string argument_type(const JavaMethod& method, std::uint32_t slot) {
  std::uint32_t at = 0;
  if (!method.is_static() && at++ == slot) return "Ljava/lang/Object;";
  for (const std::string& type : parameter_types(method.signature)) {
    if (at == slot) return type;
    at += words_of(type);
  }
  return {};
}

}  // namespace jtrace::coreinspect
