// JsonWriter: writes JSON text (RFC 8259) into a string and places the commas. The caller balances begin and end.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace jtrace {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  JsonWriter& value(double number);  // null if it is not finite
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T number) { return raw(std::to_string(number)); }
  JsonWriter& null() { return raw("null"); }
  // A value, or members with the commas between them, that is JSON already; not empty.
  JsonWriter& json(std::string_view text) { return raw(text); }
  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    return key(name).value(content);
  }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();

  std::string& out_;
  bool first_ = true;       // nothing was written on this level yet
  bool after_key_ = false;  // a key was written and its value follows
};

}  // namespace jtrace
