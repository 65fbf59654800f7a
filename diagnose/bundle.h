// The bundle of a diagnosis: one zip archive with the verdict, what it rests on, and what was not read and why.
//
// The archive is made in memory and is written as a whole by the caller, so that it is never half a one. Members:
// SUMMARY.txt, report.html, manifest.json, findings.json, threads.json (processor time of each thread between the
// samples), views/NAME.json and views/NAME.txt, proc/FILE, cgroup/FILE, and jvm.core if it was asked for. One thread.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "diagnose/collect.h"
#include "diagnose/verdict.h"

namespace jtrace::diagnose {

inline constexpr std::string_view kBundleFormat = "jtrace-bundle";
inline constexpr int kBundleVersion = 1;
// A bundle of the default parts stays far below it; the largest parts are left out if it would not.
inline constexpr std::size_t kMostOfBundle = 256u << 20;  // bytes, unpacked

struct BundleFrame {
  std::string tool;            // "jtrace 0.1.0"
  std::string text, findings;  // the verdict as `jtrace diagnose` prints it, as text and as JSON
  int status = 0;              // with which jtrace diagnose ends
  bool anonymize = false;
  std::string reason;      // why it was taken now: the condition of --when; "" for none
  std::size_t judged = 0;  // steps of the verdict: those after them are of the bundle alone
  ClockAnchor begin;       // of the diagnosis
};

// Removes the largest parts until all are not larger than `most`. Each removed one is a step that failed.
void leave_out_largest(Collected& collected, std::size_t most = kMostOfBundle);
// What of the bundle could not be read, one line each.
std::vector<std::string> missing_parts(const Collected& collected, std::size_t judged);

// Errors: kRefused, if it would be too large.
Result<std::string> bundle_of(const Collected& collected, const BundleFrame& frame);

}  // namespace jtrace::diagnose
