// What an objAlloc stands for. `--events objects` has the JVM sample: HotSpot lets each thread allocate a number of
// bytes that is exponentially distributed with the sampling interval R as its mean (threadHeapSampler.cpp, JDK 11 and
// later; R is option sample-interval, 0 is every object) and tells of the object in which they end. An object of s
// bytes is told of with the probability 1 - exp(-s/R), so that a sample stands for 1 / (1 - exp(-s/R)) objects of its
// size: an estimate without bias. `--events allocations` and the probes tell of every object. Pure functions; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/event.h"
#include "trace/io/scopes.h"

namespace jtrace::trace::io {

// What a producer's objAlloc are.
enum class AllocationKind : std::uint8_t {
  kNone,     // it has told of none
  kExact,    // each stands for itself
  kSampled,  // estimates
  kUnknown,  // by jtrace, and the trace does not say how it was told to sample
};

struct AllocationWeight {
  double objects = 1, bytes = 0;
};

AllocationKind allocation_kind(const Scope& scope);
// Of an exact or unknown kind: itself.
AllocationWeight allocation_weight(const Scope& scope, const ObjAlloc& alloc);

// "estimated: each of 12 samples (one each 524288 bytes) stands for what was allocated around it"; "" where exact.
std::string allocation_note(AllocationKind kind, std::uint64_t samples, std::uint64_t interval);

// Of an objAlloc or objDef: "java.lang.String", "byte[]", "java.lang.String[]"; "?" where it says neither class nor
// kind.
std::string allocated_type(const Scope& scope, Number is_array, ClassId class_id);
// "byte[]" for 8; "" for what is no array of primitives.
std::string_view primitive_array(std::uint64_t is_array);

}  // namespace jtrace::trace::io
