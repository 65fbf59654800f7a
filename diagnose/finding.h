// Finding: the result of a rule about a JVM. A value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jtrace::diagnose {

enum class Confidence {
  kCertain,  // read from the JVM's or the kernel's own records, and the same in a second sample
  kLikely,   // another cause is improbable
  kHint,     // may be harmless; does not count as found
};
std::string_view to_string(Confidence confidence);  // "certain", "likely", "hint"

struct Finding {
  std::string rule;                   // as in docs/diagnose.md
  std::string sentence;               // one sentence, with the names that the JVM uses
  std::vector<std::string> evidence;  // with numbers
  Confidence confidence = Confidence::kHint;
  std::string next;  // the next command; "" for none
};

}  // namespace jtrace::diagnose
