#include "perfdata/process_figures.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/strings.h"
#include "target/proc_text.h"

namespace jtrace::perfdata {
namespace {

std::string read(const std::string& path) { return read_file(path, 65536).value_or(""); }

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words = split(text, ' ');
  std::erase(words, "");
  return words;
}

// The words of a line after its name.
std::vector<std::string_view> words_after(std::string_view text, std::string_view name) {
  for (const std::string_view line : split(text, '\n'))
    if (line.starts_with(name)) return words_of(line.substr(name.size()));
  return {};
}

std::optional<std::int64_t> pages(const std::vector<std::string_view>& statm, std::size_t index) {
  const auto count = index < statm.size() ? parse_decimal<std::int64_t>(statm[index]) : std::nullopt;
  return count ? std::optional(*count * ::sysconf(_SC_PAGESIZE)) : std::nullopt;
}

std::optional<std::int64_t> entries(const std::string& folder) {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) ++count;
  return error ? std::nullopt : std::optional(count);
}

}  // namespace

ProcessFigures process_figures(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  ProcessFigures figures;
  if (const std::string stat = read(folder + "stat"); !stat.empty())
    figures.cpu_seconds =
        static_cast<double>(target::parse_cpu_ticks(stat)) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string statm = read(folder + "statm");
  figures.virtual_bytes = pages(words_of(statm), 0);
  figures.resident_bytes = pages(words_of(statm), 1);
  figures.open_files = entries(folder + "fd");
  const std::string limits = read(folder + "limits");
  if (const auto words = words_after(limits, "Max open files"); !words.empty())
    figures.max_files = parse_decimal<std::int64_t>(words[0]);
  return figures;
}

}  // namespace jtrace::perfdata
