#include "session/spill_state.h"

#include <cstring>

#include "trace/record/layout.h"

namespace jtrace::session {

namespace record = trace::record;
using record::DefinitionKind;
using record::RecordKind;

namespace {

// Those that are no part of the document, or of another element.
bool makes_an_element(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPadding:
    case RecordKind::kGcFigures:
    case RecordKind::kThreadSwitch:
    case RecordKind::kGap: return false;
    default: return !record::is_part(kind);
  }
}

template <class Record>
Record copy_of(const std::byte* from) {
  Record made;
  std::memcpy(&made, from, sizeof made);
  return made;
}

}  // namespace

class SpillState::Learner final : public record::RecordSink {
 public:
  explicit Learner(SpillState& state) : state_(state) {}
  Result<> on_definition(std::span<const std::byte> definition) override {
    state_.learn(definition);
    return {};
  }
  Result<> on_event(const record::RecordHeader&) override { return {}; }

 private:
  SpillState& state_;
};

std::uint64_t SpillState::methods() const {
  return static_cast<std::uint64_t>(std::distance(places_.lower_bound({DefinitionKind::kMethod, 0}),
                                                  places_.upper_bound({DefinitionKind::kMethod, UINT64_MAX})));
}

void SpillState::on_definitions(const record::EventPart& part) {
  stream_position_ = {part.sequence, part.offset + part.size, {}};
  stream_.take_in({part.data, part.size});
  Learner learner(*this);
  (void)stream_.hand_out_definitions(learner);  // the learner has no errors
}

void SpillState::learn(std::span<const std::byte> definition) {
  const auto kind = static_cast<DefinitionKind>(definition[0]);
  // Texts belong to an event; options were said.
  if (kind == DefinitionKind::kText || kind == DefinitionKind::kOption || kind == DefinitionKind::kClock) return;
  const auto id = copy_of<std::uint64_t>(definition.data() + 9);  // behind kind and time
  const auto [place, is_new] = places_.try_emplace({kind, id}, next_place_);
  if (is_new) ++next_place_;
  else if (kind != DefinitionKind::kMethod && kind != DefinitionKind::kStandsFor) return;  // a later one knows more
  const auto size = static_cast<std::uint32_t>(definition.size());
  std::string& kept = definitions_[place->second];
  kept.assign(reinterpret_cast<const char*>(&size), sizeof size);
  kept.append(reinterpret_cast<const char*>(definition.data()), definition.size());
}

void SpillState::forget(DefinitionKind kind, std::uint64_t id) {
  const auto found = places_.find({kind, id});
  if (found == places_.end()) return;
  definitions_.erase(found->second);
  places_.erase(found);
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
    events_ += makes_an_element(header.kind);
    if (size >= sizeof(record::ThreadRecord)) learn_event(header, part.data + at, position);
    at += size;
  }
}

void SpillState::learn_event(const record::RecordHeader& header, const std::byte* from, Position& position) {
  static_assert(sizeof(record::ThreadRecord) == sizeof(record::ObjectRecord));
  switch (header.kind) {
    case RecordKind::kThreadSwitch: position.runs = copy_of<record::ThreadRecord>(from); return;
    case RecordKind::kThreadEnd: return forget(DefinitionKind::kThread, copy_of<record::ThreadRecord>(from).thread);
    case RecordKind::kObjFree: return forget(DefinitionKind::kObject, copy_of<record::ObjectRecord>(from).id);
    default: return;  // methods of a class that is gone may still be counted: its definition stays
  }
}

Result<> SpillState::write_definitions(record::SpillWriter& writer) const {
  for (const auto& [place, definition] : definitions_)
    JTRACE_RETURN_IF_ERROR(writer.write(record::BlockKind::kKnown, definition));
  return {};
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
