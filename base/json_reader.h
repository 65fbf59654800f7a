// JsonValue: a JSON text (RFC 8259) as values, for files of some hundred MB at the most: all of it is in memory. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace jtrace {

class JsonValue {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kText, kArray, kObject };
  static constexpr std::size_t kMaxDepth = 200;  // of arrays and objects in one another

  // Errors: kMalformed, with the offset of the byte.
  static Result<JsonValue> parse(std::string_view text);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool truth() const { return number_ != 0; }
  double number() const { return number_; }          // 0 of what is none
  const std::string& text() const { return text_; }  // "" of what is none
  const std::vector<JsonValue>& items() const { return items_; }
  // The member of that name; a null if there is none.
  const JsonValue& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

 private:
  friend class JsonReader;
  const JsonValue* find(std::string_view name) const;

  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string text_;
  std::vector<JsonValue> items_;  // of an array; of an object, in the order of names_
  std::vector<std::string> names_;
};

}  // namespace jtrace
