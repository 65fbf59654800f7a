// PlainFacts: one JVM that runs tests/apps/PlainFacts, and jtrace's output about it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {

// Flags with which objects do not move.
inline std::vector<std::string> calm_flags() { return {"-Xms32m", "-Xmx32m", "-XX:+UseSerialGC"}; }

class PlainFacts : public ::testing::TestWithParam<Jdk> {
 protected:
  using json = nlohmann::json;

  void start(std::vector<std::string> flags = calm_flags()) {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
    auto jvm = must(JvmProcess::start(GetParam(), "PlainFacts", {.flags = std::move(flags)}));
    jvm_ = std::move(jvm);
  }
  CommandOutput inspect(std::vector<std::string> words) {
    words.insert(words.begin(), {"inspect", jvm_->pid_text()});
    const auto done = run_jtrace(words, {.timeout = std::chrono::minutes(2)});
    return done ? *done : CommandOutput{.err = done.error().message()};
  }
  json inspected(std::vector<std::string> words) {
    words.insert(words.end(), {"--format", "json"});
    const CommandOutput done = inspect(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return json::accept(done.out) ? json::parse(done.out) : json::object({{"data", json::array()}});
  }
  json thread(const std::string& name) {
    const json document = inspected({"threads"});
    for (const json& row : document["data"])
      if (row["name"] == name) return row;
    return json::object();
  }
  // Waits until the thread is at its place; threads get there in their own time.
  json thread_that_waits_for(const std::string& name, const std::string& kind) {
    json row;
    for (int i = 0; i < 100; ++i) {
      row = thread(name);
      if (row.contains("waitingOn") && row["waitingOn"]["kind"] == kind) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return row;
  }
  std::string address_of(const std::string& field) {
    const json document = inspected({"statics", "PlainFacts"});
    for (const json& row : document["data"])
      if (row["name"] == field) {
        const std::string value = row["value"];
        return value.substr(value.find('@') + 1);
      }
    return "";
  }

  std::unique_ptr<JvmProcess> jvm_;
};
}  // namespace jtrace::test
