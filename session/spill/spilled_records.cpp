#include "session/spill/spilled_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace jtrace::session {

namespace record = trace::record;

namespace {

constexpr std::uint64_t kMostHeld = std::uint64_t{8} << 30;  // twice the largest pool

constexpr std::size_t kMostChunks = 1u << 19;  // of a producer; twice those of the largest pool

// The part from `end` on, an offset in its chunk; empty if that is after it.
record::EventPart rest_from(record::EventPart part, std::uint64_t end) {
  const std::uint64_t known = std::min(part.size, end - std::min(end, part.offset));
  part.offset += known;
  part.data += known;
  part.size -= known;
  return part;
}

}  // namespace

Result<> SpilledRecords::add(record::SpillReader::Block& block) {
  const record::BlockHeader& header = block.header;
  const std::uint64_t end = header.offset + block.payload.size();
  if (header.kind == record::BlockKind::kDefinitions) {
    stream_position_ = {header.sequence, end};
    definitions_.insert(definitions_.end(), block.payload.begin(), block.payload.end());
    return {};
  }
  Chunks& chunks = chunks_[header.producer];
  chunks[header.sequence] = end;
  if (chunks.size() > kMostChunks) chunks.erase(chunks.begin());
  held_ += block.payload.size();
  if (held_ > kMostHeld) return fail(ErrorCategory::kMalformed, "a pass of the spill holds more than any ring memory");
  std::uint32_t index = static_cast<std::uint32_t>(bytes_.size());
  if (unused_.empty()) {
    bytes_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  bytes_[index].swap(block.payload);
  parts_.push_back({.producer = header.producer,
                    .sequence = header.sequence,
                    .offset = header.offset,
                    .data = bytes_[index].data(),
                    .size = bytes_[index].size(),
                    .tag = index});
  return {};
}

void SpilledRecords::set_pass(std::uint64_t watermark, std::uint64_t dropped) {
  watermark_ = watermark;
  dropped_ = dropped;
}

Result<record::RecordSource::Pass> SpilledRecords::drain(record::RecordSink& sink, Mode mode, std::uint64_t) {
  merger_.take_in(definitions_);
  definitions_.clear();
  JTRACE_RETURN_IF_ERROR(merger_.hand_out_definitions(sink));
  const std::uint64_t watermark = mode == Mode::kLive ? watermark_ : UINT64_MAX;
  JTRACE_ASSIGN_OR_RETURN(const Pass pass, merger_.merge(parts_, sink, watermark, UINT64_MAX));
  std::erase_if(parts_, [this](const record::EventPart& part) {
    if (part.taken < part.size) return false;
    unused_.push_back(part.tag);
    held_ -= bytes_[part.tag].size();
    return true;
  });
  // The remainder begins with the next record.
  for (record::EventPart& part : parts_) {
    part.offset += part.taken;
    part.data += part.taken;
    part.size -= std::exchange(part.taken, 0);
  }
  return pass;
}

// Parts of a pool, without those that the spill has.
class SpilledRecords::Rest final : public record::PartSink {
 public:
  explicit Rest(SpilledRecords& records) : records_(records) {}
  Result<> on_definitions(const record::EventPart& part) override {
    const Position& known = records_.stream_position_;
    if (part.sequence < known.sequence) return {};
    return add(record::BlockKind::kDefinitions, part.sequence == known.sequence ? rest_from(part, known.end) : part);
  }
  Result<> on_events(const record::EventPart& part) override {
    const Chunks& chunks = records_.chunks_[part.producer];
    if (!chunks.empty() && part.sequence < chunks.begin()->first) return {};
    const auto known = chunks.find(part.sequence);
    return add(record::BlockKind::kEvents, known == chunks.end() ? part : rest_from(part, known->second));
  }

 private:
  Result<> add(record::BlockKind kind, const record::EventPart& part) {
    if (part.size == 0) return {};
    record::SpillReader::Block block{{.kind = kind,
                                      .size = static_cast<std::uint32_t>(part.size),
                                      .producer = part.producer,
                                      .sequence = part.sequence,
                                      .offset = part.offset,
                                      .check = 0},
                                     {part.data, part.data + part.size}};
    return records_.add(block);
  }
  SpilledRecords& records_;
};

Result<> SpilledRecords::add_rest(record::PoolReader& pool) {
  Rest rest(*this);
  JTRACE_ASSIGN_OR_RETURN(const auto pass, pool.take(rest, Mode::kReadOnly));
  set_pass(pass.time, std::max(dropped_, pool.counts().dropped_events));
  return {};
}

record::RecordSource::Counts SpilledRecords::counts() const {
  return {.events = merger_.counts().events,
          .definitions = merger_.counts().definitions,
          .malformed = merger_.counts().malformed,
          .dropped_events = dropped_};
}

}  // namespace jtrace::session
