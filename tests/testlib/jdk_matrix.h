// The JDKs that tests run on: those of this machine, and of the tree that scripts/jdks makes those of other versions.
//
// JTRACE_TEST_JDKS=a:b chooses instead: an item is a version ("17"), a name as in Jdk::name, a home directory (also one
// that is not found otherwise), or "all", which has the tree's second builds of a version too. Order: by version, this
// machine's before the tree's.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::test {

enum class Collector { kSerial, kParallel, kG1, kZ, kShenandoah };
std::string_view to_string(Collector collector);

struct Jdk {
  int version = 0;                  // 8, 11, 17, ...
  std::string home;                 // as the JVM sees it: inside `root` if there is one
  std::optional<std::string> root;  // the tree that contains it; started by chroot

  // "jdk17", "jdk17_chroot"; a second one of the same kind has its vendor's folder appended. Unique, a C identifier.
  std::string name;

  // A file of the JDK as this process sees it: host_path("bin/java").
  std::string host_path(std::string_view relative) const;
  std::string libjvm() const;  // as this process sees it
  bool has_javac() const;
  // Whether a flag was compiled into this libjvm: one that was not has no name there. For one thread.
  bool has_flag(std::string_view name) const;
  // The collectors this libjvm was built with, and the flags that choose them.
  std::vector<Collector> collectors() const;
  std::vector<std::string> collector_flags(Collector collector) const;
};
std::ostream& operator<<(std::ostream& stream, const Jdk& jdk);

// All of them; searched once per process.
const std::vector<Jdk>& jdks();
// The newest one with at least that version, of this machine rather than of the tree. None: nullopt.
std::optional<Jdk> any_jdk(int at_least = 8);
// The same as a list of one, or none.
std::vector<Jdk> one_jdk(int at_least = 8);
std::optional<Jdk> jdk_of_version(int version);

struct JdkAndCollector {
  Jdk jdk;
  Collector collector;
};
std::ostream& operator<<(std::ostream& stream, const JdkAndCollector& pair);
std::vector<JdkAndCollector> jdks_and_collectors();

// Names of parameterised tests.
struct NameOf {
  template <class Info>
  std::string operator()(const Info& info) const {
    return name(info.param);
  }
  static std::string name(const Jdk& jdk) { return jdk.name; }
  static std::string name(const JdkAndCollector& pair) {
    return pair.jdk.name + "_" + std::string(to_string(pair.collector));
  }
};

}  // namespace jtrace::test
