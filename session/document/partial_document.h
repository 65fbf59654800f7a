// PartialDocument: the file of a jtrace that died: how many of its lines are whole, what they define, where
// they end. Reads our own writer's form only: one element a line. Pure over the text, any input is safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::session {

struct PartialDocument {
  std::uint64_t whole_size = 0;  // bytes of whole lines, without the end of the document
  bool has_head = false;         // <TRACE> is there
  bool is_ended = false;         // traceEnd is there
  std::string trace_id;
  std::string agent_id;
  std::uint64_t collation = 0;        // of the last element that has one
  std::uint64_t last_event_time = 0;  // wall, ns: of the last element that stands in order of time
  std::vector<std::uint64_t> threads, classes, methods, objects;  // ids that are defined
  std::vector<std::uint64_t> ended_threads, freed_objects, unloaded_classes;
};

// `text`: the file as it is.
PartialDocument read_partial_document(std::string_view text);

}  // namespace jtrace::session
