#include "perfdata/process_figures.h"

#include <filesystem>
#include <string>

#include "base/file.h"
#include "target/proc_text.h"
#include "target/process_cpu.h"

namespace jtrace::perfdata {
namespace {

std::string read(const std::string& path) { return read_file(path, 65536).value_or(""); }

std::optional<std::int64_t> with_sign(std::optional<std::uint64_t> number) {
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::optional<std::int64_t> entries(const std::string& folder) {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) ++count;
  return error ? std::nullopt : std::optional(count);
}

}  // namespace

ProcessFigures process_figures(pid_t pid) {
  ProcessFigures figures;
  if (pid == 0) return figures;
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  if (const auto cpu = target::process_cpu_ns(pid)) figures.cpu_seconds = static_cast<double>(*cpu) / 1e9;
  const std::string status = read(folder + "status");
  figures.virtual_bytes = with_sign(target::bytes_of_status(status, "VmSize"));
  figures.resident_bytes = with_sign(target::bytes_of_status(status, "VmRSS"));
  figures.open_files = entries(folder + "fd");
  figures.max_files = with_sign(target::soft_limit(read(folder + "limits"), "Max open files"));
  return figures;
}

}  // namespace jtrace::perfdata
