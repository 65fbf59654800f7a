// The result of `jtrace diagnose`, as tests look at it.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/testlib/jvm_process.h"
#include "tests/testlib/must.h"
#include "tests/testlib/places.h"
#include "tests/testlib/require.h"
#include "tests/testlib/run_command.h"

namespace jtrace::test {

struct Diagnosis {
  CommandOutput done;
  nlohmann::json document = nlohmann::json::object({{"data", nlohmann::json::array()}});

  // Of all findings but hints.
  std::vector<std::string> rules() const {
    std::vector<std::string> names;
    for (const nlohmann::json& each : document["data"])
      if (each["confidence"] != "hint") names.push_back(each["rule"]);
    return names;
  }
  // Of the findings of a rule: sentence and evidence as one text each.
  std::vector<std::string> texts(const std::string& rule) const {
    std::vector<std::string> texts;
    for (const nlohmann::json& each : document["data"])
      if (each["rule"] == rule) texts.push_back(each["confidence"].get<std::string>() + ": " + each.dump());
    return texts;
  }
};

inline Diagnosis diagnose(const std::string& target, std::vector<std::string> words = {}) {
  words.insert(words.begin(), {"diagnose", target, "--format", "json"});
  // Tests of a trouble are not about time: other tests have the processors meanwhile.
  if (target[0] != '/' && std::find(words.begin(), words.end(), "--budget") == words.end())
    words.insert(words.end(), {"--budget", "60"});
  const auto done = run_jtrace(words, {.timeout = std::chrono::minutes(2)});
  Diagnosis diagnosis{.done = done ? *done : CommandOutput{.err = done.error().message()}};
  diagnosis.document = nlohmann::json::parse(diagnosis.done.out, nullptr, false);
  if (diagnosis.document.is_object()) return diagnosis;
  ADD_FAILURE() << diagnosis.done.out << diagnosis.done.err;
  diagnosis.document = nlohmann::json::object({{"data", nlohmann::json::array()}});
  return diagnosis;
}

// Again, where the machine did not let the JVM do what it is looked at for: the trouble lasts.
inline Diagnosis diagnose_until(const JvmProcess& jvm, const std::string& rule) {
  Diagnosis found = diagnose(jvm.pid_text());
  for (int i = 0; i < 4 && found.texts(rule).empty(); ++i) found = diagnose(jvm.pid_text());
  return found;
}

// The same, until it is more than a hint.
inline Diagnosis diagnose_until_found(const JvmProcess& jvm, const std::string& rule) {
  const auto is_found = [&](const Diagnosis& one) {
    const std::vector<std::string> rules = one.rules();
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  Diagnosis found = diagnose(jvm.pid_text());
  for (int i = 0; i < 4 && !is_found(found); ++i) found = diagnose(jvm.pid_text());
  return found;
}

// Starts tests/apps/Ailing.
class OnAilingJvm : public ::testing::TestWithParam<Jdk> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_ptrace(); !why.empty()) JTRACE_SKIP("ptrace", why);
  }
  std::unique_ptr<JvmProcess> start(JvmOptions options = {}, std::string_view app = "Ailing") {
    options.flags.insert(options.flags.end(), {"-Xmx64m", "-XX:+UseSerialGC"});
    return must(JvmProcess::start(GetParam(), app, options));
  }
};

// A JVM with the agent of diagnose_agent.c. A JDK of the tree sees the folder of the libraries at /srv.
inline JvmOptions with_diagnose_agent(const Jdk& jdk, const std::string& option) {
  const bool chrooted = jdk.root.has_value();
  const std::string folder = chrooted ? "/srv" : libraries_folder();
  JvmOptions options{.flags = {"-agentpath:" + folder + "/libdiagnose_agent.so=" + option}};
  if (chrooted)
    options.in_child = [](const std::string& root) {
      return ::mount(libraries_folder().c_str(), (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0;
    };
  return options;
}

}  // namespace jtrace::test
