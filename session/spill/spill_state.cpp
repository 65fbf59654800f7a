#include "session/spill/spill_state.h"

#include <cstring>

#include "trace/record/layout.h"
#include "trace/record/record_kinds.h"
#include "trace/record/record_references.h"

namespace jtrace::session {

namespace record = trace::record;
using record::DefinitionKind;
using record::RecordKind;

namespace {

template <class Record>
Record copy_of(const std::byte* from) {
  Record made;
  std::memcpy(&made, from, sizeof made);
  return made;
}

}  // namespace

class SpillState::Learner final : public record::RecordSink {
 public:
  Learner(SpillDefinitions& definitions, bool written) : definitions_(definitions), written_(written) {}
  Result<> on_definition(std::span<const std::byte> definition) override {
    definitions_.learn(definition, written_);
    return {};
  }
  Result<> on_event(const record::RecordHeader&) override { return {}; }

 private:
  SpillDefinitions& definitions_;
  bool written_;
};

void SpillState::on_definitions(const record::EventPart& part, bool written) {
  stream_position_ = {part.sequence, part.offset + part.size, {}};
  stream_.take_in({part.data, part.size});
  Learner learner(definitions_, written);
  (void)stream_.hand_out_definitions(learner);  // the learner has no errors
}

std::uint64_t SpillState::count_bytes() const {
  const std::uint64_t methods = definitions_.methods();
  return sizeof(MethodCounts::Count) + (is_further_ && methods != 0 ? definitions_.method_bytes() / methods : 0);
}

SpillDefinitions::Missing SpillState::begin_further() {
  is_further_ = true;
  definitions_.begin_file();
  return definitions_.of_head();
}

SpillDefinitions::Missing SpillState::missing(const MethodCounts& counts) {
  SpillDefinitions::Missing missing;
  if (!is_further_) return missing;
  for (const MethodCounts::Count& each : counts.counts)
    definitions_.need(DefinitionKind::kMethod, each.method, missing);
  return missing;
}

SpillDefinitions::Missing SpillState::missing(const record::EventPart& part) {
  SpillDefinitions::Missing missing;
  if (!is_further_) return missing;
  const std::span<const std::byte> all(part.data, part.size);
  for (std::uint64_t at = 0; at + record::kSlotSize <= part.size;) {
    const auto header = copy_of<record::RecordHeader>(part.data + at);
    const std::uint64_t size = std::uint64_t{header.slots} * record::kSlotSize;
    if (size == 0 || size > part.size - at) break;
    record::for_each_reference(header, all.subspan(at, size),
                               [&](DefinitionKind kind, std::uint64_t id) { definitions_.need(kind, id, missing); });
    if (counts_methods_ && header.kind == RecordKind::kClassUnload && size >= sizeof(record::ObjectRecord))
      definitions_.need_methods_of(copy_of<record::ObjectRecord>(part.data + at).id, missing);
    at += size;
  }
  return missing;
}

void SpillState::on_events(const record::EventPart& part) {
  Position& position = producers_[part.producer];
  position.sequence = part.sequence;
  position.end = part.offset + part.size;
  for (std::uint64_t at = 0; at + record::kSlotSize <= part.size;) {
    const auto header = copy_of<record::RecordHeader>(part.data + at);
    const std::uint64_t size = std::uint64_t{header.slots} * record::kSlotSize;
    if (size == 0 || size > part.size - at) {
      ++malformed_;
      return;
    }
    events_ += record::is_in(record::kElementKinds, header.kind);
    if (size >= sizeof(record::ThreadRecord)) learn_event(header, part.data + at, position);
    at += size;
  }
}

void SpillState::learn_event(const record::RecordHeader& header, const std::byte* from, Position& position) {
  static_assert(sizeof(record::ThreadRecord) == sizeof(record::ObjectRecord));
  if (header.kind == RecordKind::kThreadSwitch) position.runs = copy_of<record::ThreadRecord>(from);
  switch (record::ended_by(header.kind)) {
    case record::RecordEnds::kThread:
      return definitions_.forget(DefinitionKind::kThread, copy_of<record::ThreadRecord>(from).thread);
    case record::RecordEnds::kObject:
      return definitions_.forget(DefinitionKind::kObject, copy_of<record::ObjectRecord>(from).id);
    case record::RecordEnds::kClass:  // its methods may still be counted: its definition stays
    case record::RecordEnds::kNothing: return;
  }
}

Result<> SpillState::write_positions(record::SpillWriter& writer) const {
  std::span<const std::byte> copy;
  const auto write = [&](record::BlockKind kind, std::uint32_t producer, const Position& at,
                         std::span<const std::byte> bytes) {
    return writer.write_part(kind,
                             {.producer = producer,
                              .sequence = at.sequence,
                              .offset = at.end - bytes.size(),
                              .data = bytes.data(),
                              .size = bytes.size()},
                             copy);
  };
  // A definition may have begun in the earlier spill.
  JTRACE_RETURN_IF_ERROR(write(record::BlockKind::kDefinitions, 0, stream_position_, stream_.unfinished()));
  for (const auto& [producer, position] : producers_) {
    std::span<const std::byte> runs;
    if (position.runs) runs = std::as_bytes(std::span(&*position.runs, 1));
    JTRACE_RETURN_IF_ERROR(write(record::BlockKind::kEvents, producer, position, runs));
  }
  return {};
}

}  // namespace jtrace::session
