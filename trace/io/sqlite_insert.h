// One INSERT or UPDATE of the SQLite outputs, prepared once, with its parameters in order; absent ones are NULL,
// numbers above 2^63-1 are text. Texts are borrowed until run(). One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/values.h"

namespace jtrace::trace::io {

class Insert {
 public:
  Insert(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr); }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  // Selects the next parameter, counted from 1.
  Insert& at(int parameter) {
    at_ = parameter - 1;
    return *this;
  }
  Insert& null() {
    sqlite3_bind_null(statement_, ++at_);
    return *this;
  }
  Insert& number(std::uint64_t value) {
    if (value <= INT64_MAX) {
      sqlite3_bind_int64(statement_, ++at_, static_cast<sqlite3_int64>(value));
      return *this;
    }
    const std::string digits = std::to_string(value);
    sqlite3_bind_text(statement_, ++at_, digits.data(), static_cast<int>(digits.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Insert& integer(std::int64_t value) {
    sqlite3_bind_int64(statement_, ++at_, value);
    return *this;
  }
  // 0 is "not known": NULL.
  Insert& known(std::uint64_t value) { return value != 0 ? number(value) : null(); }
  Insert& real(double value) {
    sqlite3_bind_double(statement_, ++at_, value);
    return *this;
  }
  Insert& text(std::string_view text) {
    sqlite3_bind_text(statement_, ++at_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return *this;
  }
  // As text(), but "" is NULL.
  Insert& known(std::string_view word) { return word.empty() ? null() : text(word); }
  template <class Value>
  Insert& value(const Value& value) {
    return is_present(value) ? number(value.value()) : null();
  }
  Insert& value(Time time) { return time.present() ? number(time.ns()) : null(); }
  Insert& value(Text value) { return value.present() ? text(value.view()) : null(); }
  Insert& value(Boolean truth) { return is_present(truth) ? number(*truth ? 1 : 0) : null(); }
  Insert& value(ObjectId id) {
    if (!id.present()) return null();
    if (id.is_number()) return number(id.value());
    if (id != ObjectId::sleep()) return text("-Unavailable-");
    sqlite3_bind_int64(statement_, ++at_, -1);
    return *this;
  }
  Insert& clear() {
    sqlite3_clear_bindings(statement_);
    return at(1);
  }
  bool run() {
    at_ = 0;
    const bool done = sqlite3_step(statement_) == SQLITE_DONE;
    sqlite3_reset(statement_);
    return done;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int at_ = 0;
};

}  // namespace jtrace::trace::io
