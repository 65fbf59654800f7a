// What `jtrace profile` says of its samples: how they were taken, and at the end how many, and what they lack.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/tools/profile.h"
#include "sampling/sampler.h"

namespace jtrace::cli {

// A number as it was given: "99", "0.5".
std::string number_text(double value);
// What is sampled and how, for a title.
std::string how_sampled(bool several, const sampling::SamplerOptions& options, const sampling::PerfEvents& events);
// Lines on stderr.
void report_summary(const sampling::SamplerSummary& summary, const sampling::SamplerOptions& options,
                    const sampling::PerfEvents& events);
// What was not sampled besides lost samples and JVMs that were left out: lines that report_summary() has too.
std::vector<std::string> missing_samples(const sampling::SamplerSummary& summary);
// One line, if threads were stopped for each sample.
std::string stopping_summary(const coreinspect::ProfileSummary& summary);

}  // namespace jtrace::cli
