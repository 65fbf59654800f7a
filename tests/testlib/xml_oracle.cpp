#include "tests/testlib/xml_oracle.h"

#include <chrono>

#include "base/strings.h"
#include "tests/testlib/java_app.h"
#include "tests/testlib/jdk_matrix.h"
#include "tests/testlib/places.h"
#include "tests/testlib/run_command.h"

namespace jtrace::test {
namespace {

constexpr std::chrono::minutes kLongestJudgement{10};

// A JDK that this process can start: not one of the chroot tree.
Result<Jdk> own_jdk() {
  const std::vector<Jdk>& all = jdks();
  for (auto jdk = all.rbegin(); jdk != all.rend(); ++jdk)
    if (!jdk->root) return *jdk;
  return fail(ErrorCategory::kNotFound, "judging XML: no JDK on this machine", "scripts/setup installs one");
}

Result<XmlVerdict> judge(std::vector<std::string> arguments) {
  JTRACE_ASSIGN_OR_RETURN(const Jdk jdk, own_jdk());
  JTRACE_ASSIGN_OR_RETURN(const std::string classes, compiled_app("XmlOracle"));
  // The parser of JDK 25 counts every &lt; towards limits against entity bombs (100,000 characters).
  std::vector<std::string> argv{jdk.host_path("bin/java"),
                                "-Djdk.xml.maxGeneralEntitySizeLimit=0",
                                "-Djdk.xml.totalEntitySizeLimit=0",
                                "-Djdk.xml.entityExpansionLimit=0",
                                "-cp",
                                classes,
                                "XmlOracle"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  JTRACE_ASSIGN_OR_RETURN(const CommandOutput done, run_command(argv, {.timeout = kLongestJudgement}));
  XmlVerdict verdict;
  bool judged = false;
  for (std::string_view line : split(done.out, '\n')) {
    if (line.starts_with("valid ") || line.starts_with("invalid ")) judged = true;
    else if (!line.empty()) verdict.faults.emplace_back(line);
  }
  if (!judged || done.status > 1) return fail(ErrorCategory::kSystem, "judging XML: " + done.err);
  verdict.valid = done.status == 0;
  return verdict;
}

}  // namespace

std::string shared_file(std::string_view name) { return build_folder() + "/share/jtrace/" + std::string(name); }
std::string original_declarations() { return source_folder() + "/tests/golden/seed_declarations.txt"; }

Result<XmlVerdict> judge_document(const std::string& path, const std::string& dtd, const std::string& schema) {
  return judge({"document", dtd, schema, path});
}

Result<XmlVerdict> judge_fragments(const std::string& path, const std::string& dtd) {
  return judge({"fragments", dtd, path});
}

}  // namespace jtrace::test
