// The parts of a bundle that are read from the JVM for it: views, files of /proc and of the control group, and, if
// asked for, a small core. Each is a step with a time limit (lanes.h); one that fails is recorded and left out.
// Threads: one calls it; the others are its own.
#pragma once

#include <functional>
#include <string>

#include "coreinspect/tools/views.h"
#include "diagnose/collect.h"

namespace jtrace::diagnose {

// The document that `jtrace inspect --format json` prints for this result.
using ViewDocument = std::function<std::string(const coreinspect::Inspection&, const coreinspect::View&,
                                               const coreinspect::ViewResult&)>;

struct PartOptions {
  OpenTarget open;
  ViewDocument document;
  std::chrono::milliseconds max_stop{10};
  std::chrono::milliseconds budget{3000};  // for everything but the core
  bool core = false;
};

// Adds to collected.parts, .steps and .stops. Errors: none; what failed is in the steps.
void collect_parts(pid_t pid, const PartOptions& options, Collected& collected);

}  // namespace jtrace::diagnose
