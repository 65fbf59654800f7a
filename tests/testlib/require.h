// Skips with a reason, which a machine can forbid.
//
// A test that needs something of its machine (a JDK, the right to ptrace) skips with a reason if it is missing.
// JTRACE_REQUIRE, a list separated by commas, names what must exist: live, ptrace, bpf, two-jdks. Then a skip for one
// of these is a failure; CI sets all four.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace jtrace::test {

// True if JTRACE_REQUIRE names the capability.
bool required(std::string_view capability);

// Empty if this process may trace other processes' memory (root, or CAP_SYS_PTRACE, or same user with a lax Yama);
// otherwise the reason.
std::string why_no_ptrace();
// Empty if this process may mount in a namespace of its own; otherwise the reason.
std::string why_no_namespaces();

}  // namespace jtrace::test

// Ends the test: skipped with the reason, or failed if JTRACE_REQUIRE names `capability`. More words can be streamed
// into it.
#define JTRACE_SKIP(capability, reason)                                                 \
  do {                                                                                  \
    if (::jtrace::test::required(capability))                                           \
      GTEST_FAIL() << "JTRACE_REQUIRE names " << (capability) << ", but: " << (reason); \
    else GTEST_SKIP() << (reason);                                                      \
  } while (false)
