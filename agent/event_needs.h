// What the events of a trace need of JVM TI: capabilities, and the JVM TI events that make them. One table of all
// events (event_needs.cpp).
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/config.h"

namespace jtrace::agent {

// Something that was asked for, and the capability that this JVM does not offer.
struct NotOffered {
  std::string_view what;
  unsigned capability;  // bit of jvmtiCapabilities
  std::string_view name;
};

// Takes the capabilities that the events and flags of `config` need. `granted` is what of its events is possible;
// `missing` what is not, and why. nullptr, or the reason why there can be no trace (static text).
const char* take_capabilities(jvmtiEnv* jvmti, const Config& config, std::uint64_t& granted,
                              std::vector<NotOffered>& missing);

// The JVM TI events that make the granted events. Each has a callback (callbacks.h).
std::vector<int> events_of(const Config& config, std::uint64_t granted);
// Switches them.
void switch_events(jvmtiEnv* jvmti, const Config& config, std::uint64_t granted, bool on);

}  // namespace jtrace::agent
