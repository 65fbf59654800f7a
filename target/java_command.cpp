#include "target/java_command.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"

namespace jtrace::target {
namespace {

constexpr std::array<std::string_view, 20> kOptionsWithValue = {"-cp",
                                                                "-classpath",
                                                                "--class-path",
                                                                "-p",
                                                                "--module-path",
                                                                "--upgrade-module-path",
                                                                "--add-modules",
                                                                "--add-reads",
                                                                "--add-exports",
                                                                "--add-opens",
                                                                "--limit-modules",
                                                                "--patch-module",
                                                                "-d",
                                                                "--source",
                                                                "--describe-module",
                                                                "--enable-native-access",
                                                                "--illegal-native-access",
                                                                "--sun-misc-unsafe-memory-access",
                                                                "--illegal-final-field-mutation",
                                                                "--enable-final-field-mutation"};

}  // namespace

std::string main_of_command_line(const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool names_main = word == "-jar" || word == "-m" || word == "--module";
    if (names_main) return i + 1 < arguments.size() ? arguments[i + 1] : std::string();
    if (word.starts_with("--module=")) return word.substr(9);
    if (std::find(kOptionsWithValue.begin(), kOptionsWithValue.end(), word) != kOptionsWithValue.end()) ++i;
    else if (!word.empty() && word.front() != '-' && word.front() != '@') return word;
  }
  return {};
}

std::string version_of_release_file(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("JAVA_VERSION=")) continue;
    std::string_view value = trimmed(line.substr(13));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
  }
  return {};
}

int feature_of_version(std::string_view version) {
  if (version.starts_with("1.")) version.remove_prefix(2);
  int feature = 0;
  std::from_chars(version.data(), version.data() + version.size(), feature);
  return feature;
}

std::string home_of_libjvm(std::string_view path) {
  // .../lib/VARIANT/libjvm.so (9 and later), .../lib/ARCH/VARIANT/libjvm.so (8)
  const std::size_t lib = path.rfind("/lib/");
  return lib == path.npos || !path.ends_with("/libjvm.so") ? std::string() : std::string(path.substr(0, lib));
}

}  // namespace jtrace::target
