// Facts in a java command line and in a JDK's `release` file. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jtrace::target {

// The main class, "module/class", jar or source file of a launcher's command line ("java [options] MAIN args"); "" if
// it has none. Source of the options whose value is the next argument: `java --help` of JDK 8 to 27.
std::string main_of_command_line(const std::vector<std::string>& arguments);

// JAVA_VERSION of a JDK's `release` file ("17.0.15"); "" if there is none.
std::string version_of_release_file(std::string_view text);

// The feature release: 8 of "1.8.0_504", 17 of "17.0.15", 27 of "27-ea"; 0 if the text is not a version.
int feature_of_version(std::string_view version);

// The JDK's or JRE's directory of a libjvm.so path ("/jdk/lib/server/libjvm.so",
// "/jdk/jre/lib/amd64/server/libjvm.so"); "" if the path has another form.
std::string home_of_libjvm(std::string_view path);

}  // namespace jtrace::target
