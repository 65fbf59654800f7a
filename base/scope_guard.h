// ScopeGuard: runs a function at the end of the scope, unless dismissed.
#pragma once

#include <utility>

namespace jtrace {

template <class Function>
class [[nodiscard]] ScopeGuard {
 public:
  explicit ScopeGuard(Function function) : function_(std::move(function)) {}
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ~ScopeGuard() {
    if (armed_) function_();
  }
  void dismiss() { armed_ = false; }

 private:
  Function function_;
  bool armed_ = true;
};

}  // namespace jtrace
