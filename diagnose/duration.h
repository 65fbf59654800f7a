// How long something has lasted at the last look: what the looks have seen, and what the kernel knew at the first one.
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "diagnose/facts.h"

namespace jtrace::diagnose {

// The least time, ns, for which these threads have waited as they do in all looks from this one on: who has not run is
// where it was. Of a look that is not the first, only what came after it is known.
std::uint64_t least_duration(const Facts& facts, std::size_t first_look, std::span<const ThreadKey> threads);

// That long until the last look: "20.1 s (since 13:20:31 UTC, or before)".
std::string lasted_words(const Facts& facts, std::uint64_t ns);

// "20.1 s", "12 min", "3.2 h", "4.5 days"; rounded down.
std::string duration_words(std::uint64_t ns);

}  // namespace jtrace::diagnose
