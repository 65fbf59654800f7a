// Values of arguments and results as `value` elements. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/record/event_record.h"

namespace jtrace::session {

// A value whose methodEntry or methodExit has not come yet.
struct CallValue {
  std::uint32_t method;
  std::uint16_t position;
  trace::record::ValueKind kind;
  std::uint64_t bits;
  std::string text;               // of a string
  std::uint32_t text_length = 0;  // chars of the whole string
};

// The type of a parameter, or with kResultPosition of the result: the first character of its descriptor; '\0' if the
// signature has none there.
char type_at(std::string_view signature, std::uint16_t position);

// Elements and the texts that they refer to; valid until the next make().
class ValueElements {
 public:
  // The elements of those `values` that belong to the method's entry, or with `result` to its exit.
  trace::List<trace::Value> make(const std::vector<CallValue>& values, std::uint32_t method, std::string_view signature,
                                 bool result);

  // The element of an exit by an exception; `object`: 0 if it is not known.
  trace::List<trace::Value> make_exception(std::uint64_t object);

 private:
  std::vector<std::string> texts_;
  std::vector<trace::Value> elements_;
};

}  // namespace jtrace::session
