// Names of hidden classes without what differs from run to run, so that two runs can be compared. Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace jtrace {

// "App$$Lambda$14/0x0000000800c03000.run", "App$$Lambda/0x00007f01.run" and "App$$Lambda$3/1404928347.run" (JDK 8) are
// "App$$Lambda.run"; "java.lang.invoke.LambdaForm$MH/0x0000000800c00400" is "java.lang.invoke.LambdaForm$MH". In a text
// of several names each is changed.
inline std::string lasting_name(std::string_view text) {
  constexpr std::string_view kLambda = "$$Lambda";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_hex = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  std::size_t at = 0;
  // Passes over the prefix and at least one such character.
  const auto pass = [&](std::string_view prefix, const auto& is_part) {
    if (!text.substr(at).starts_with(prefix)) return false;
    std::size_t end = at + prefix.size();
    while (end < text.size() && is_part(text[end])) ++end;
    if (end == at + prefix.size()) return false;
    at = end;
    return true;
  };
  std::string name;
  while (at < text.size()) {
    if (text.substr(at).starts_with(kLambda)) {
      name += kLambda;
      at += kLambda.size();
      pass("$", is_digit);
      if (!pass("/0x", is_hex)) pass("/", is_digit);
    } else if (!pass("/0x", is_hex) && !pass("+0x", is_hex)) {
      name += text[at++];
    }
  }
  return name;
}

}  // namespace jtrace
