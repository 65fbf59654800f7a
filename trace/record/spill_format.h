// A spill: the contents of a pool, stored unchanged, to be converted to a document later (`jtrace convert`).
// Native byte order; records and definitions are those of event_record.h and definition.h.
//
//   SpillHeader, then blocks: BlockHeader | payload | zeros up to the next multiple of 8 bytes
//
// clang-format off
//   kSession               whose trace it is, and its options: text (session/document/session_text.h). The first block.
//   kKnown*                a definition that came before this file, a whole record with its size: first those of the
//                          threads that live, later each before the first block that refers to it
//   kTraceStart            StartBlock | traceId, 36 characters
//   kDefinitions, kEvents  a part of a chunk of the pool: the block's header has its producer, sequence and offset
//   kPass                  PassBlock: the parts since the last one were taken in one pass; record_merger.h can now merge
//                          everything older than its watermark
//   kFilters, kPaused      commands to the trace: rules, one a line; a byte
//   kCounts                methodCounts that were asked for (session/document/method_counts.h)
//   kOption                an option element of the trace: key | a NUL | value
//   kStandstill            StandstillBlock
//   kTraceEnd              EndBlock. The last one.
// clang-format on
//
// A file whose writer was killed may end at any position; everything before is valid. A definition precedes the events
// that refer to it; no event precedes one with a time below an earlier watermark.
#pragma once

#include <cstdint>

namespace jtrace::trace::record {

inline constexpr char kSpillMagic[8] = {'J', 'T', 'R', 'S', 'P', 'I', 'L', '1'};
inline constexpr std::uint32_t kSpillVersion = 3;
// No block is larger: a part is at most a chunk (16 MiB, pool_reader.cpp), and texts are short.
inline constexpr std::uint32_t kLargestBlock = 1u << 24;

struct SpillHeader {
  char magic[8];
  std::uint32_t version;         // kSpillVersion: of the blocks
  std::uint32_t layout_version;  // kLayoutVersion: of records and definitions
};
static_assert(sizeof(SpillHeader) == 16);

enum class BlockKind : std::uint32_t {
  kSession = 1,
  kKnown = 2,
  kTraceStart = 3,
  kDefinitions = 4,
  kEvents = 5,
  kPass = 6,
  kFilters = 7,
  kPaused = 8,
  kTraceEnd = 9,
  kCounts = 10,
  kOption = 11,
  kStandstill = 12,
  kLastKind = kStandstill,
};

struct BlockHeader {
  BlockKind kind;
  std::uint32_t size;      // of the payload
  std::uint32_t producer;  // kEvents
  std::uint32_t sequence;  // kEvents, kDefinitions: of the chunk within its producer
  std::uint64_t offset;    // kEvents, kDefinitions: of the payload in the chunk
  std::uint64_t check;     // XXH64 of the payload, seeded with that of the fields above
};
static_assert(sizeof(BlockHeader) == 32);

// One moment on both clocks (base/clock.h), ns.
struct SpillMoment {
  std::uint64_t monotonic;
  std::uint64_t realtime;
};

struct StartBlock {
  SpillMoment moment;
  std::uint64_t time;   // monotonic: the trace's start
  std::uint64_t later;  // 1: an earlier file has the trace's beginning
};
inline constexpr std::uint32_t kTraceIdSize = 36;

struct PassBlock {
  SpillMoment moment;
  std::uint64_t watermark;  // no record with an earlier time will follow; UINT64_MAX: none at all
  std::uint64_t dropped;    // events that were lost since the file's beginning
};

struct StandstillBlock {
  std::uint64_t time;   // monotonic
  std::uint64_t still;  // 1: the process is stopped from then on, 0: until then
};

// Flags of EndBlock.
inline constexpr std::uint64_t kWriterEnded = 1;    // otherwise the trace was stopped; another file may continue it
inline constexpr std::uint64_t kOutputWasFull = 2;  // before all records were written

struct EndBlock {
  SpillMoment moment;
  std::uint64_t dropped;
  std::uint64_t flags;
};

}  // namespace jtrace::trace::record
