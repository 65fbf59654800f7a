#include "tests/testlib/java_app.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <vector>

#include "base/file.h"
#include "tests/testlib/jdk_matrix.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"

namespace jtrace::test {
namespace {

namespace fs = std::filesystem;

// A JDK of this machine that can still compile for JDK 8, the newest first (later ones may have dropped it).
Result<> compile(const std::string& source, const std::string& into, bool with_variables) {
  std::string tried;
  const std::vector<Jdk>& all = jdks();
  for (auto jdk = all.rbegin(); jdk != all.rend(); ++jdk) {
    if (jdk->root || !jdk->has_javac()) continue;
    std::vector<std::string> argv{jdk->host_path("bin/javac"), "-d", into, "-Xlint:-options", "-encoding", "UTF-8"};
    if (with_variables) argv.emplace_back("-g");
    if (jdk->version >= 9) argv.insert(argv.end(), {"--release", "8"});
    argv.push_back(source);
    JTRACE_ASSIGN_OR_RETURN(const CommandOutput done, run_command(argv));
    if (done.status == 0) return {};
    tried += jdk->name + ": " + done.err;
  }
  return fail(ErrorCategory::kSystem,
              "compiling " + source + ": " + (tried.empty() ? "no javac on this machine" : tried),
              "scripts/setup installs one");
}

// Compiled in a folder next to it and renamed, so that every reader sees the complete folder.
Result<std::string> compile_once(const std::string& name, const std::string& text) {
  const std::string folder = build_folder() + "/tests/apps";
  const std::string done = folder + "/" + name + "-" + std::to_string(std::hash<std::string>{}(text));
  if (fs::exists(done)) return done;
  std::string work = folder + "/work.XXXXXX";
  std::error_code error;
  fs::create_directories(folder, error);
  if (::mkdtemp(work.data()) == nullptr) return fail(system_error("making a folder for classes", work));
  ::chmod(work.c_str(), 0755);
  const std::string source = work + "/" + name + ".java";
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd file, open_file(source, O_WRONLY | O_CREAT, 0644));
  JTRACE_RETURN_IF_ERROR(write_whole(file.get(), text, source));
  JTRACE_RETURN_IF_ERROR(compile(source, work, text.find("Compiled with -g.") != text.npos));
  fs::rename(work, done, error);
  if (error) fs::remove_all(work, error);
  return done;
}

}  // namespace

Result<std::string> compiled_app(std::string_view name) {
  const std::string path = source_folder() + "/tests/apps/" + std::string(name) + ".java";
  JTRACE_ASSIGN_OR_RETURN(const std::string text, read_file(path));
  return compile_once(std::string(name), text);
}

Result<std::string> compiled_source(std::string_view name, std::string_view source) {
  return compile_once(std::string(name), std::string(source));
}

}  // namespace jtrace::test
