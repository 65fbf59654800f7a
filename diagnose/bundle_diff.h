// What changed from one bundle to another one: findings, threads, memory by part, classes on the heap, flags.
// Pure functions of two bundles; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/bundle_file.h"

namespace jtrace::diagnose {

struct Growth {
  std::string name;
  double before = 0, after = 0;
  double grown() const { return after - before; }
};

struct BundleName {
  std::string path;
  std::string host, created;  // "": the manifest does not say
  std::optional<long> pid;
};

struct FlagChange {
  std::string name, before, after;
};

struct BundleDiff {
  BundleName before, after;
  bool same_process = false;
  double seconds = 0;                          // between the two
  std::vector<std::string> gone, fresh, stay;  // sentences of findings
  bool found = false;                          // a fresh one is certain or likely
  Growth threads;
  std::vector<Growth> names;    // threads by their names, digits as N; only those that changed
  std::vector<Growth> memory;   // resident bytes by part, the largest change first; from 1 MiB on
  std::vector<Growth> classes;  // bytes on the heap, as memory
  std::vector<FlagChange> flags;
  std::vector<std::string> missing;  // what one of them lacks
};

// Errors: kMalformed, where findings.json is not what it should be.
Result<BundleDiff> compare(const BundleFile& before, const BundleFile& after);
std::string text_of(const BundleDiff& diff);
std::string json_of(const BundleDiff& diff);

}  // namespace jtrace::diagnose
