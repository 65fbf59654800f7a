// FirstError. One thread.
#pragma once

#include <optional>
#include <utility>

#include "base/result.h"

namespace jtrace::session {

// The first error of several steps, all of which must be executed.
class FirstError {
 public:
  void add(Result<> result) {
    if (!result && !error_) error_ = std::move(result).error();
  }
  Result<> result() const { return error_ ? Result<>(fail(*error_)) : Result<>(); }

 private:
  std::optional<Error> error_;
};

}  // namespace jtrace::session
