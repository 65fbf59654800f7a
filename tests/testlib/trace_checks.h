// Checks of traces for GoogleTest bodies.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tests/testlib/jdk_matrix.h"
#include "tests/testlib/jvm_process.h"
#include "tests/testlib/must.h"
#include "tests/testlib/require.h"
#include "tests/testlib/trace_document.h"
#include "tests/testlib/xml_oracle.h"

// A JDK of this machine with that name, for a test that needs only one.
#define JTRACE_NEED_JDK(name)                                                \
  const std::optional<::jtrace::test::Jdk> name = ::jtrace::test::any_jdk(); \
  if (!name) JTRACE_SKIP("live", "no JDK on this machine")

// The tests of a suite run on every JDK that is found: TEST_P(suite, Name); GetParam() is the Jdk.
#define JTRACE_ON_EACH_JDK(suite)                       \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(Jdks, suite, ::testing::ValuesIn(::jtrace::test::jdks()), ::jtrace::test::NameOf())

// The same for what no JDK changes: with one of them, of at least that version.
#define JTRACE_ON_ONE_JDK(suite, at_least)              \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite); \
  INSTANTIATE_TEST_SUITE_P(Jdk, suite, ::testing::ValuesIn(::jtrace::test::one_jdk(at_least)), ::jtrace::test::NameOf())

namespace jtrace::test {

// Success, or one line per fault.
inline ::testing::AssertionResult none(const std::vector<std::string>& faults) {
  if (faults.empty()) return ::testing::AssertionSuccess();
  ::testing::AssertionResult result = ::testing::AssertionFailure() << faults.size() << " faults:";
  for (const std::string& fault : faults) result << "\n  " << fault;
  return result;
}

template <class T>
::testing::AssertionResult succeeded(const Result<T>& result) {
  if (result) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << result.error().message();
}

// The JDK's own parser finds the document valid against jtrace.dtd and trace.xsd.
inline ::testing::AssertionResult valid(const std::string& path) {
  const auto verdict = judge_document(path);
  if (!verdict) return succeeded(verdict);
  if (verdict->valid) return ::testing::AssertionSuccess();
  return none(verdict->faults) << "\nnot valid: " << path;
}

// Options for a JVM that is attached to: from JDK 21 on it would print a warning about agents that are loaded later
// (JEP 451).
inline JvmOptions attachable(const Jdk& jdk, std::vector<std::string> flags = {}) {
  JvmOptions options;
  options.flags = std::move(flags);
  if (jdk.version >= 21) options.flags.push_back("-XX:+EnableDynamicAgentLoading");
  return options;
}

// Number of `element` that refer to a thread whose name starts with `prefix`.
inline int count_by_thread(const TraceDocument& trace, std::string_view element, std::string_view prefix) {
  std::map<std::string, std::string> names;
  for (const TraceElement* thread : trace.all("threadStart"))
    names[thread->get("threadId")] = thread->get("threadName");
  int count = 0;
  for (const TraceElement* event : trace.all(element)) count += names[event->get("threadIdRef")].starts_with(prefix);
  return count;
}

inline int count_classes(const TraceDocument& trace, std::string_view name) {
  int count = 0;
  for (const TraceElement* definition : trace.all("classDef")) count += definition->get("name") == name;
  return count;
}

// The number after "KEY=" in an answer of tests/apps/Workload, 0 if there is none.
inline long value_in(const std::string& answer, const std::string& key) {
  const std::size_t at = answer.find(key + "=");
  return at == std::string::npos ? 0 : std::strtol(answer.c_str() + at + key.size() + 1, nullptr, 10);
}

}  // namespace jtrace::test
