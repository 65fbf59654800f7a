#include "cli/selector.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/strings.h"
#include "target/jvm_discovery.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kMostCandidates = 10;  // listed in the error

std::string candidates(const std::vector<target::Jvm>& jvms) {
  std::string text;
  for (std::size_t i = 0; i < std::min(jvms.size(), kMostCandidates); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(jvms[i].pid) + " " + jvms[i].main_class;
  if (jvms.size() > kMostCandidates) text += ", ...";
  return text;
}

Error none_has(std::string_view part, Takes takes) {
  const std::string word = "'" + std::string(part) + "'";
  std::string text = takes == Takes::kJvmOrFile
                         ? "there is no file " + word + ", and no JVM whose main class contains it"
                         : word + " is not a process id, and no JVM's main class contains it";
  std::error_code unknown;
  if (takes == Takes::kJvm && std::filesystem::is_regular_file(part, unknown)) text += ": a file is not taken here";
  if (takes == Takes::kJvmOrFile && std::filesystem::is_directory(part, unknown))
    text = word + " is a folder, and no JVM's main class contains it";
  return Error{ErrorCategory::kNotFound, text}.with_help("jtrace list shows the JVMs");
}

Result<pid_t> select_by_main_class(std::string_view part, Takes takes) {
  std::vector<target::Jvm> matches;
  for (target::Jvm& jvm : target::discover_jvms().jvms)
    if (jvm.main_class.find(part) != std::string::npos) matches.push_back(std::move(jvm));
  if (matches.size() == 1) return matches.front().pid;
  if (matches.empty()) return fail(none_has(part, takes));
  return fail(ErrorCategory::kUsage,
              "'" + std::string(part) + "' is in the main class of " + std::to_string(matches.size()) +
                  " JVMs: " + candidates(matches),
              "say which by its process id");
}

}  // namespace

bool names_input(const std::string& word) {
  return word == "-" || word.find('/') != std::string::npos || ::access(word.c_str(), F_OK) == 0;
}

Result<pid_t> select_jvm(std::string_view selector, Takes takes) {
  if (selector.find_first_not_of("0123456789") == selector.npos) return target::parse_pid(selector);
  if (selector.find_first_not_of("0123456789,") == selector.npos)
    return fail(ErrorCategory::kUsage, "one JVM is expected, " + std::string(selector) + " are several",
                "one command for each");
  return select_by_main_class(selector, takes);
}

bool selects_all(std::string_view selectors) {
  const auto words = split(selectors, ',');
  return std::find(words.begin(), words.end(), "all") != words.end();
}

Result<std::vector<pid_t>> select_jvms(std::string_view selectors, Takes takes) {
  std::vector<pid_t> pids;
  const auto add = [&](pid_t pid) {
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  };
  for (std::string_view selector : split(selectors, ',')) {
    if (selector == "all") {
      for (const target::Jvm& jvm : target::discover_jvms().jvms) add(jvm.pid);
      continue;
    }
    JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(selector, takes));
    add(pid);
  }
  if (pids.empty()) return fail(ErrorCategory::kNotFound, "there is no JVM on this machine");
  return pids;
}

Result<target::Process> open_selected(std::string_view selector, Takes takes) {
  JTRACE_ASSIGN_OR_RETURN(const pid_t pid, select_jvm(selector, takes));
  return target::Process::open(pid);
}

}  // namespace jtrace::cli
