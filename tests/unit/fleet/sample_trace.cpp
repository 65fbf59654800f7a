#include "tests/unit/fleet/sample_trace.h"

#include "tests/testlib/must.h"
#include "trace/io/open_source.h"
#include "trace/io/validator.h"
#include "trace/trace_document.h"
#include "trace/xml_writer.h"

namespace jtrace::fleet::test {

using jtrace::test::must;
namespace io = trace::io;

void write_sample(trace::EventSink& sink, std::uint64_t rounds) {
  constexpr std::uint64_t kBegin = 1'700'000'000'000'000'000;
  trace::TraceDocument document(sink, true, false);
  must(document.begin({.node_id = "node-1",
                       .hostname = "host",
                       .process_id = "process-1",
                       .pid = 7,
                       .agent_id = "agent-1",
                       .agent_name = "jtrace"},
                      kBegin));
  must(document.begin_trace(kBegin, kSampleTrace));
  must(document.write_option("events", "methods"));
  auto& events = document.events();
  std::uint64_t now = kBegin;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const trace::ThreadId thread(round % 5 + 1);
    const std::uint64_t id = round % 40 + 1;
    const std::string name = "name-" + std::to_string(id);
    const auto time = [&] { return trace::Time(now += 1000); };
    if (round < 5) must(events.emit(trace::ThreadStart{.threadId = thread, .time = time(), .threadName = name}));
    if (round < 40) {
      must(events.emit(trace::ClassDef{.classId = trace::ClassId(id), .name = name}));
      must(events.emit(
          trace::MethodDef{.name = name, .classIdRef = trace::ClassId(id), .methodId = trace::MethodId(id)}));
    }
    must(events.emit(trace::MethodEntry{.threadIdRef = thread,
                                        .time = time(),
                                        .methodIdRef = trace::MethodId(id),
                                        .ticket = round + 1,
                                        .classIdRef = trace::ClassId(id)}));
    must(events.emit(trace::ObjAlloc{.threadIdRef = thread,
                                     .time = time(),
                                     .objId = trace::ObjectId(round + 1),
                                     .size = 24,
                                     .classIdRef = trace::ClassId(id)}));
    if (round > 20) must(events.emit(trace::ObjFree{.objIdRef = trace::ObjectId(round - 20)}));
    must(events.emit(trace::MethodExit{.threadIdRef = thread,
                                       .time = time(),
                                       .ticket = round + 1,
                                       .methodIdRef = trace::MethodId(id),
                                       .classIdRef = trace::ClassId(id)}));
  }
  must(document.end_trace(now + 1));
  must(document.end(now + 2));
}

std::string sample_document(std::uint64_t rounds) {
  trace::MemorySink bytes;
  trace::XmlWriter writer(bytes, {.single_trace = true});
  write_sample(writer, rounds);
  must(writer.finish());
  return bytes.text();
}

std::vector<SampleBatch> sample_batches(std::uint64_t rounds, const std::string& stream, std::size_t size,
                                        std::uint32_t segment) {
  std::vector<SampleBatch> batches;
  Batcher batcher({.stream = stream, .producer = "test", .unpacked_size = size, .segment_batches = segment},
                  [&](const BatchHeader& header, const std::string& bytes) {
                    batches.push_back({header, bytes});
                    return Result<bool>(true);
                  });
  // As it is read from a file: the document's own lines.
  const std::string document = sample_document(rounds);
  io::FaultLog faults;
  auto source = must(io::make_event_source(must(io::memory_byte_source(document)), "sample", faults));
  must(source->read(batcher));
  must(batcher.finish());
  return batches;
}

std::vector<std::string> faults_of(const std::string& document) {
  io::FaultLog faults;
  auto source = must(io::make_event_source(must(io::memory_byte_source(document)), "document", faults));
  io::Validator validator("document", faults);
  const io::ReadSummary summary = must(source->read(validator));
  must(validator.finish());
  std::vector<std::string> kinds;
  for (const auto& [kind, count] : faults.counts()) kinds.push_back(kind + " " + std::to_string(count));
  if (summary.truncated) kinds.emplace_back("truncated");
  kinds.push_back("elements " + std::to_string(summary.elements));
  return kinds;
}

}  // namespace jtrace::fleet::test
