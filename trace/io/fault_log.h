// FaultLog: faults of an input that do not end the reading: counted by kind; printed once for each name, or up to a
// limit; errors if the caller wants to be strict. Every text is "file:line:column: message". One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::trace::io {

// The begin of an element in the input; lines and columns count from 1, 0 is unknown.
struct Position {
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};
// "file:line:column: message", without the unknown parts.
std::string at_position(std::string_view file, Position position, std::string_view message);
Error malformed_at(std::string_view file, Position position, std::string_view message, std::string help = {});

class FaultLog {
 public:
  // The faults that are printed: one for each kind and name, or all.
  enum class Repeats { kOncePerName, kAll };
  struct Options {
    bool strict = false;  // add() returns the first fault as an error
    Repeats repeats = Repeats::kOncePerName;
    std::uint64_t limit = 20;                                 // number of printed faults
    std::function<void(const std::string& text)> print = {};  // prints one fault
  };
  FaultLog() = default;
  explicit FaultLog(Options options) : options_(std::move(options)) {}

  // `kind`: under which it is counted ("unknown attribute"); `name`: of the attribute, element...; "" for none.
  Result<> add(std::string_view file, Position position, std::string_view kind, std::string_view name,
               const std::string& message);
  // As add(), but never an error: a duplicate that was dropped, a definition that replaces another.
  void note(std::string_view kind, std::uint64_t count = 1) { counts_[std::string(kind)] += count; }

  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  std::uint64_t count(std::string_view kind) const;
  std::uint64_t total() const;
  std::uint64_t printed() const { return printed_; }

 private:
  Options options_;
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> names_;
  std::uint64_t printed_ = 0;
};

}  // namespace jtrace::trace::io
