// PartialDocument: the file of a jtrace that died: the number of its complete lines, their definitions, and where they
// end. Reads only the form of jtrace's own writer: one element a line. Pure over the text, any input is safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jtrace::session {

struct PartialDocument {
  struct Call {
    std::uint64_t method, ticket;
    bool is_callers;  // methodCall, not methodEntry
  };
  std::uint64_t whole_size = 0;  // bytes of complete lines, without the end of the document
  bool has_head = false;         // it has <TRACE>
  bool is_ended = false;         // it has a traceEnd
  std::string trace_id;
  std::string agent_id;
  std::uint64_t collation = 0;        // of the last element that has one
  std::uint64_t last_event_time = 0;  // wall, ns: of the last element that is in the order of time
  std::vector<std::uint64_t> threads, classes, methods, objects;  // ids that are defined
  std::vector<std::uint64_t> ended_threads, freed_objects, unloaded_classes;
  std::map<std::uint64_t, std::vector<Call>> open_calls;  // by threadId: the outermost first
};

// `text`: the contents of the file.
PartialDocument read_partial_document(std::string_view text);

}  // namespace jtrace::session
