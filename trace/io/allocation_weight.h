// The weight of an objAlloc. With `--events objects` the JVM samples: HotSpot lets each thread allocate a number of
// bytes that is exponentially distributed with the sampling interval R as its mean (threadHeapSampler.cpp, JDK 11 and
// later; R is option sample-interval, 0 is every object) and reports the object in which they end. An object of s bytes
// is reported with the probability 1 - exp(-s/R), so a sample represents 1 / (1 - exp(-s/R)) objects of its size: an
// unbiased estimate. `--events allocations` and the USDT probes report every object. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/io/scopes.h"

namespace jtrace::trace::io {

// How a producer records objAlloc.
enum class AllocationKind : std::uint8_t {
  kNone,     // it has recorded none
  kExact,    // every object is recorded
  kPartial,  // every object was asked for, and the JVM does not report all of them (jtrace.unavailable)
  kSampled,  // estimates
  kUnknown,  // by jtrace, in a trace that does not have the interval
};

struct AllocationWeight {
  double objects = 1, bytes = 0;
};

AllocationKind allocation_kind(const Scope& scope);
// "exact", "partial", "estimated" or "unknown", for tables.
std::string_view word_of(AllocationKind kind);
// One object of its size, but for kSampled.
AllocationWeight allocation_weight(const Scope& scope, const ObjAlloc& alloc);

// Objects of classes that the trace's filters do not include are left out, whoever makes them.
bool filters_objects(const Scope& scope);
// "estimated from 12 samples, one each 524288 bytes on average", and what the JVM does not report; "" if exact.
std::string allocation_note(const Scope& scope, std::uint64_t samples);

// Of samples: not small compared with the interval.
bool is_large_sample(const Scope& scope, const ObjAlloc& alloc);
// For samples of large objects and of others, taken by a JDK whose sampler then takes too many; "" of other JDKs.
std::string surplus_note(const Scope& scope);

// The type in an objAlloc or objDef: "java.lang.String", "byte[]", "java.lang.String[]"; "?" if it has neither class
// nor kind.
std::string allocated_type(const Scope& scope, Number is_array, ClassId class_id);
// The same of an object that is alive, by its objId; "?" if the trace does not have it.
std::string type_of_object(const Scope& scope, std::uint64_t object);
// "byte[]" for 8; "" for anything but an array of primitives.
std::string_view primitive_array(std::uint64_t is_array);

}  // namespace jtrace::trace::io
