#include "tests/live/planted_word.h"

#include <algorithm>

#include "base/file.h"
#include "tests/testlib/must.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {
namespace {

constexpr std::size_t kMost = 10, kAround = 24;

std::vector<std::pair<std::string, std::string>> forms() {
  const std::string ascii(kPlantedWord);
  std::string little, big;
  for (const char each : ascii) {
    little += {each, '\0'};
    big += {'\0', each};
  }
  return {{"ASCII", ascii}, {"UTF-16LE", little}, {"UTF-16BE", big}, {"a number", {ascii.rbegin(), ascii.rend()}}};
}

std::string around(const std::string& bytes, std::size_t at) {
  std::string text = bytes.substr(at > kAround ? at - kAround : 0, 3 * kAround);
  std::replace_if(
      text.begin(), text.end(), [](char each) { return each < ' ' || each > '~'; }, '.');
  return text;
}

}  // namespace

std::unique_ptr<JvmProcess> start_with_word(const Jdk& jdk, std::vector<std::string> flags) {
  const std::string word(kPlantedWord);
  flags.push_back("-Dplanted.text=" + word);
  JvmOptions options = attachable(jdk, flags);
  options.arguments.push_back(word);
  options.environment.push_back("PLANTED=" + word);
  auto jvm = must(JvmProcess::start(jdk, "Secrets", options));
  must(jvm->ask("plant " + word));
  return jvm;
}

std::vector<std::string> places_of_word(const std::string& path) {
  const std::string bytes = must(read_file(path, std::uint64_t{4} << 30));
  std::vector<std::string> places;
  for (const auto& [name, form] : forms())
    for (std::size_t at = bytes.find(form); at != bytes.npos && places.size() < kMost; at = bytes.find(form, at + 1))
      places.push_back(name + " at " + std::to_string(at) + ": " + around(bytes, at));
  return places;
}

}  // namespace jtrace::test
