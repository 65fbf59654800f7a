// Paths of the tree and the build to which a test belongs: absolute, without a slash at the end. Any thread.
#pragma once

#include <string>

namespace jtrace::test {

std::string source_folder();     // the checkout
std::string build_folder();      // cmake's output
std::string tools_folder();      // jtrace, hsperf and the tests' own programs
std::string libraries_folder();  // agents and other libraries that a JVM loads

}  // namespace jtrace::test
