// A small trace for the tests of fleet/, as a document and as batches.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/batch.h"
#include "fleet/batcher.h"
#include "trace/event_sink.h"

namespace jtrace::fleet::test {

inline constexpr const char* kSampleTrace = "0b2f0f6e-7d0a-4c4e-9d0e-000000000001";

// Threads, classes and methods that are defined at their first use, calls of them, objects; `rounds` of each.
void write_sample(trace::EventSink& sink, std::uint64_t rounds);
// The document that `jtrace` would write of it.
std::string sample_document(std::uint64_t rounds);

struct SampleBatch {
  BatchHeader header;
  std::string bytes;
};
// Small batches, so that there are many.
std::vector<SampleBatch> sample_batches(std::uint64_t rounds, const std::string& stream = "stream-1",
                                        std::size_t size = 4096, std::uint32_t segment = 4);

// The faults of a document, by jtrace validate's own rules; kinds alone, and "elements N" as the last one.
std::vector<std::string> faults_of(const std::string& document);

}  // namespace jtrace::fleet::test
