// RecordMerger: makes definitions out of the bytes of their stream, and orders the events of several producers: by
// time, those of one producer exactly in the order in which they were written.
//
// Its input comes from a foreign process or a file: everything is copied once into own memory and checked before it is
// used. Invalid contents are counted and skipped. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/record/record_source.h"

namespace jtrace::trace::record {

// Whole records of one producer: a part of a chunk.
struct EventPart {
  std::uint32_t producer = 0;
  std::uint32_t sequence = 0;  // of the chunk within the producer
  std::uint64_t offset = 0;    // within the chunk
  const std::byte* data = nullptr;
  std::uint64_t size = 0;   // bytes
  std::uint64_t taken = 0;  // bytes that merge() has returned or dropped
  std::uint32_t tag = 0;    // the caller's
};

class RecordMerger {
 public:
  struct Counts {
    std::uint64_t events = 0;
    std::uint64_t definitions = 0;
    std::uint64_t malformed = 0;
  };

  // Takes the next bytes of the stream of definitions. Returns the offset in them of the first record that begins
  // there; their size if none does.
  std::size_t take_in(std::span<const std::byte> bytes);
  // Passes all complete definitions to `sink`.
  Result<> hand_out_definitions(RecordSink& sink);
  // The next bytes begin a record: drops what came before them.
  void restart_definitions() { stream_.clear(); }
  // The beginning of a definition whose end was not read yet.
  std::span<const std::byte> unfinished() const { return std::as_bytes(std::span(stream_)); }

  // Passes events with times below `watermark` to `sink`, at most `limit`. `parts` are sorted; `taken` of each is
  // advanced.
  Result<RecordSource::Pass> merge(std::span<EventPart> parts, RecordSink& sink, std::uint64_t watermark,
                                   std::uint64_t limit);
  const Counts& counts() const { return counts_; }

 private:
  struct Cursor {  // the next record of one producer
    std::uint64_t time;
    std::size_t part;
    std::size_t end;
    std::uint32_t slots;
  };
  void make_heap();
  bool advance(Cursor& cursor);
  Result<> hand_out(RecordSink& sink, const Cursor& cursor);

  std::span<EventPart> parts_;  // during merge()
  std::vector<Cursor> heap_;
  std::string stream_;  // bytes of the stream of definitions that do not form a whole record yet
  bool stream_broken_ = false;
  std::uint64_t reached_ = 0;        // the latest time returned
  std::uint32_t last_producer_ = 0;  // of the last returned event; 0: none
  Counts counts_;
};

}  // namespace jtrace::trace::record
