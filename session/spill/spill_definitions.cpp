#include "session/spill/spill_definitions.h"

#include <algorithm>
#include <cstring>

#include "trace/record/definition_reader.h"

namespace jtrace::session {

namespace record = trace::record;
using record::DefinitionKind;

namespace {

std::size_t index_of(DefinitionKind kind) { return static_cast<std::size_t>(kind); }

constexpr std::size_t kClassOfMethodAt = 1 + 2 * sizeof(std::uint64_t);  // after kind, time and id
// Offset in a thread's definition with its size in front: after kind, time, id and tid.
constexpr std::size_t kThreadFlagsAt = sizeof(std::uint32_t) + 1 + 3 * sizeof(std::uint64_t);

std::uint64_t bytes_in_spill(std::size_t definition) {
  return sizeof(record::BlockHeader) + (std::uint64_t{definition} + 7) / 8 * 8;
}

}  // namespace

void SpillDefinitions::learn(std::span<const std::byte> definition, bool written) {
  const auto kind = static_cast<DefinitionKind>(definition[0]);
  // Nothing refers to definitions of these kinds.
  if (kind == DefinitionKind::kOption || kind == DefinitionKind::kClock || index_of(kind) >= kKinds) return;
  std::uint64_t id = 0;
  std::memcpy(&id, definition.data() + 9, sizeof id);  // after kind and time
  if (written) written_[index_of(kind)].insert(id);
  const bool is_text = kind == DefinitionKind::kText;
  if (is_text && texts_.size() >= kMostTexts) texts_.erase(texts_.begin());
  std::string& kept = is_text ? texts_[id] : known_[index_of(kind)][id];
  // A later definition of a method has more facts.
  if (!kept.empty() && kind != DefinitionKind::kMethod && kind != DefinitionKind::kStandsFor) return;
  const std::size_t before = kept.size();
  const auto size = static_cast<std::uint32_t>(definition.size());
  kept.assign(reinterpret_cast<const char*>(&size), sizeof size);
  kept.append(reinterpret_cast<const char*>(definition.data()), definition.size());
  count(kind, before, kept.size());
  if (kind == DefinitionKind::kMethod) learn_method(id, definition, before == 0);
}

void SpillDefinitions::learn_method(std::uint64_t id, std::span<const std::byte> definition, bool is_new) {
  least_method_ = least_method_ == 0 ? id : std::min(least_method_, id);
  std::uint64_t class_id = 0;
  if (!is_new || definition.size() < kClassOfMethodAt + sizeof class_id) return;
  std::memcpy(&class_id, definition.data() + kClassOfMethodAt, sizeof class_id);
  methods_of_[class_id].push_back(id);
}

void SpillDefinitions::count(DefinitionKind kind, std::size_t before, std::size_t after) {
  if (kind != DefinitionKind::kMethod && kind != DefinitionKind::kClass) return;
  methods_ += kind == DefinitionKind::kMethod && before == 0;
  if (before != 0) method_bytes_ -= bytes_in_spill(before);
  method_bytes_ += bytes_in_spill(after);
}

void SpillDefinitions::forget(DefinitionKind kind, std::uint64_t id) { known_[index_of(kind)].erase(id); }

void SpillDefinitions::begin_file() {
  for (IdSet& set : written_) set.clear();
}

void SpillDefinitions::take(DefinitionKind kind, std::uint64_t id, Missing& missing) {
  if (id == 0 || !written_[index_of(kind)].insert(id)) return;
  if (kind == DefinitionKind::kText) {
    if (const auto text = texts_.find(id); text != texts_.end()) missing.push_back(&text->second);
    return;
  }
  const auto& all = known_[index_of(kind)];
  if (const auto found = all.find(id); found != all.end()) missing.push_back(&found->second);
}

void SpillDefinitions::take_method(std::uint64_t id, Missing& missing) {
  take(DefinitionKind::kMethod, id, missing);
  take(DefinitionKind::kStandsFor, id, missing);
}

void SpillDefinitions::take_references(const record::ClassDefinition& of, Missing& missing) {
  take(DefinitionKind::kThread, of.thread, missing);
}
void SpillDefinitions::take_references(const record::MethodDefinition& of, Missing& missing) {
  take(DefinitionKind::kClass, of.class_id, missing);
}
void SpillDefinitions::take_references(const record::ObjectDefinition& of, Missing& missing) {
  take(DefinitionKind::kClass, of.class_id, missing);
}
void SpillDefinitions::take_references(const record::StandsForDefinition& of, Missing& missing) {
  take_method(of.method, missing);
}
void SpillDefinitions::take_references(const record::StackDefinition& of, Missing& missing) {
  for (const record::StackFrame& frame : of.frames) take_method(frame.method, missing);
}

void SpillDefinitions::take_references_of(const std::string& definition, Missing& missing) {
  const auto bytes = std::as_bytes(std::span(definition)).subspan(sizeof(std::uint32_t));
  const auto read = record::read_definition(bytes);
  if (!read) return;
  std::visit([&](const auto& fields) { take_references(fields, missing); }, read->fields);
}

// No recursion: the definitions come from a foreign process.
void SpillDefinitions::need(DefinitionKind kind, std::uint64_t id, Missing& missing) {
  std::size_t next = missing.size();
  if (kind == DefinitionKind::kMethod) take_method(id, missing);
  else take(kind, id, missing);
  for (; next < missing.size(); ++next) take_references_of(*missing[next], missing);
}

void SpillDefinitions::need_methods_of(std::uint64_t class_id, Missing& missing) {
  const auto found = methods_of_.find(class_id);
  if (found == methods_of_.end() || !written_[index_of(DefinitionKind::kClass)].contains(class_id)) return;
  for (const std::uint64_t method : found->second) need(DefinitionKind::kMethod, method, missing);
}

SpillDefinitions::Missing SpillDefinitions::of_head() {
  std::vector<std::uint64_t> threads;
  for (auto& [id, definition] : known_[index_of(DefinitionKind::kThread)]) {
    threads.push_back(id);
    // What the thread did when the trace began was for the first file.
    if (definition.size() > kThreadFlagsAt)
      definition[kThreadFlagsAt] =
          static_cast<char>(record::without_state(static_cast<std::uint8_t>(definition[kThreadFlagsAt])));
  }
  std::sort(threads.begin(), threads.end());
  Missing missing;
  for (const std::uint64_t id : threads) need(DefinitionKind::kThread, id, missing);
  need(DefinitionKind::kMethod, least_method_, missing);
  return missing;
}

std::uint64_t SpillDefinitions::size_of(const Missing& missing) {
  std::uint64_t size = 0;
  for (const std::string* definition : missing) size += bytes_in_spill(definition->size());
  return size;
}

Result<> SpillDefinitions::write(const Missing& missing, record::SpillWriter& writer) {
  for (const std::string* definition : missing)
    JTRACE_RETURN_IF_ERROR(writer.write(record::BlockKind::kKnown, *definition));
  return {};
}

}  // namespace jtrace::session
