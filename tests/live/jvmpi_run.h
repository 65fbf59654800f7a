// Shared by the tests of the JVMPI bridge: JVMs that see the bridge, profilers and a scratch folder.
#pragma once

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <string>

#include "tests/testlib/places.h"
#include "tests/testlib/support_matrix.h"
#include "tests/testlib/trace_checks.h"

namespace jtrace::test {

class JvmpiRun : public ::testing::TestWithParam<Jdk> {
 protected:
  bool chrooted() const { return GetParam().root.has_value(); }
  // Paths as the JVM sees them: a JDK of the tree sees the build folder and the scratch folder below /srv and /media.
  std::string library(const std::string& name) const {
    return (chrooted() ? "/srv/lib" : libraries_folder()) + std::string("/lib") + name + ".so";
  }
  std::string for_jvm(const std::string& file) const { return (chrooted() ? "/media" : folder_.path()) + "/" + file; }
  JvmOptions seeing_folders(JvmOptions options = {}) const {
    if (chrooted())
      options.in_child = [folder = folder_.path()](const std::string& root) {
        return ::mount(build_folder().c_str(), (root + "/srv").c_str(), nullptr, MS_BIND, nullptr) == 0 &&
               ::mount(folder.c_str(), (root + "/media").c_str(), nullptr, MS_BIND, nullptr) == 0;
      };
    return options;
  }
  // -agentpath with the bridge and this profiler.
  JvmOptions with_profiler(const std::string& name, const std::string& options) const {
    JvmOptions made = seeing_folders();
    made.flags = {"-agentpath:" + library("jtrace_jvmpi") + "=" + library(name) + "," + options};
    return made;
  }
  void matrix(const std::string& feature) const { record_support(GetParam(), "yes", "JVMPI", feature); }

  ScratchDir folder_;
};

}  // namespace jtrace::test
