// must(): the value of a Result, or the end of the test with the error's text as its failure, at the line of the call.
//
//   const auto jvm = must(JvmProcess::start(jdk, "Idle"));
//
// It throws what GoogleTest treats as a failed assertion, so it also ends a test from within a function that returns a
// value, a constructor or SetUp(). In another thread use it under std::async, whose get() throws it again.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace jtrace::test {

// Fails the test at that line and ends it.
[[noreturn]] inline void end_test(const std::string& why, const char* file, int line) {
  [&] { GTEST_FAIL_AT(file, line) << why; }();
  // The failure is recorded: GoogleTest catches this and adds nothing.
  throw ::testing::AssertionException(
      ::testing::TestPartResult(::testing::TestPartResult::kFatalFailure, file, line, why.c_str()));
}

// The caller's line; clang 14 has these builtins and no std::source_location.
template <class T>
T must(Result<T> result, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!result) end_test(result.error().message(), file, line);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace jtrace::test
