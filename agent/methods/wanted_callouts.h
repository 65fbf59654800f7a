// Which callouts the events and options of a trace need.
//
// Threads: any, once the recorder's configuration and granted events are set.
#pragma once

#include <cstdint>

#include "agent/methods/callout_class.h"

namespace jtrace::agent {

struct Recorder;

// What rewrite_class() is asked for in an included method: bits of classfile::Callout*.
std::uint32_t wanted_callouts(const Recorder& recorder);
// How the class that callouts call takes times, and which calls it writes.
CalloutStyle callout_style(const Recorder& recorder);

}  // namespace jtrace::agent
