// What a collection or a map of the JDK holds, as rows of the view object: of a live JVM, a core and a heap dump.
// Ownership: nothing. Threads: one at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "coreinspect/oops/java_contents.h"

namespace jtrace::coreinspect {

struct ShownContents {
  struct Value {
    std::string text;
    Address reference = 0;  // 0: null, or masked
  };
  struct Row {
    std::string key;  // of an element "[0]"
    Value value;
  };
  bool is_map = false;
  std::vector<Row> rows;  // the first ones, in the order of the iterator
  std::uint64_t count = 0;

  std::uint64_t left_out() const { return count - rows.size(); }
  // Lines of text, each after `indent`.
  std::string text(const std::string& indent) const;
  // The member "entries" of an object.
  void write(JsonWriter& json) const;
};

// None: the object is neither a collection nor a map whose class is known. `value_of` gets the key of an entry, 0 of an
// element.
std::optional<ShownContents> shown_contents(
    JavaContents& contents, Address object, std::size_t most, const std::function<std::string(Address)>& text_of,
    const std::function<ShownContents::Value(Address key, Address value)>& value_of);

}  // namespace jtrace::coreinspect
