// Which probes the events and options of a trace need.
//
// Threads: any, once the recorder's configuration and granted events are set.
#pragma once

#include <cstdint>

#include "agent/methods/probe_class.h"

namespace jtrace::agent {

struct Recorder;

// What rewrite_class() is asked for in an included method: bits of classfile::Probe*.
std::uint32_t wanted_probes(const Recorder& recorder);
// How the class that probes call takes times, and which calls it writes.
ProbeStyle probe_style(const Recorder& recorder);

}  // namespace jtrace::agent
