// Definitions: what elements of a trace refer to, kept by the sender to be restated in a later segment: threads,
// classes, methods, objects by agent, and the head of each trace that runs (node, process, agent, traceStart, its
// options and filters).
//
// Memory: the definitions that are alive; of objects the last kMaxObjects. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "trace/event_sink.h"
#include "trace/io/renumberer.h"

namespace jtrace::fleet {

enum class IdKind : std::uint8_t { kThread, kClass, kMethod, kObject };
struct IdRef {
  std::uint32_t agent = 0;  // index of the agent
  IdKind kind{};
  std::uint64_t id = 0;
  friend auto operator<=>(const IdRef&, const IdRef&) = default;
};

// The agent to which the ids of an event belong: that of its traceIdRef, else of the last traceStart.
class AgentOfEvent {
 public:
  std::uint32_t of(const trace::Event& event);

 private:
  std::map<std::string, std::uint32_t, std::less<>> agents_, traces_;
  std::uint32_t current_ = 0;
  std::string last_trace_;
  std::uint32_t last_ = 0;
};

// The ids of an event: what it defines, and what it refers to.
class IdsOfEvent {
 public:
  // Valid until the next call. `defines` is also among the references of an event that has it.
  const std::vector<IdRef>& references(const trace::Event& event, std::uint32_t agent);
  static bool defined(const trace::Event& event, std::uint32_t agent, IdRef& out);
  // The id that no longer means anything after the event.
  static bool ended(const trace::Event& event, std::uint32_t agent, IdRef& out);

 private:
  trace::io::IdVisitor visitor_;
  std::vector<IdRef> found_;
};

class Definitions {
 public:
  static constexpr std::size_t kMaxObjects = 200'000;

  // Takes note of an event of the document, in its order: keeps what it defines, notes what its batch needs.
  void note(const trace::Event& event);
  // The size of what is to be restated with the open batch, in bytes (estimated).
  std::size_t needed_size() const { return needed_size_; }
  // What the open batch needs, as lines in the order of the document. Begins the next batch.
  struct Restated {
    std::string xml;
    std::uint32_t count = 0;
  };
  Restated restate();
  // The open batch, of which nothing was noted yet, begins a segment: it needs the head, and later ones need every
  // definition again.
  void begin_segment();

 private:
  struct Definition {
    std::uint64_t order = 0;
    std::uint32_t segment = 0;  // the last that has it
    std::string xml;            // "": an object
    trace::Number is_array, size;
    std::uint64_t class_id = UINT64_MAX;
    std::vector<IdRef> refers;
  };
  struct Head {
    std::uint64_t order = 0;
    std::string trace;  // that it belongs to; "": no trace yet
    std::string xml;
  };
  using Table = std::unordered_map<std::uint64_t, Definition>;

  static std::string object_line(const IdRef& ref, const Definition& definition);
  Table& table(const IdRef& ref);
  Definition* find(const IdRef& ref);
  void need(const IdRef& ref);
  void define(const trace::Event& event, const IdRef& ref);
  void note_head(const trace::Event& event);
  void forget_ended();

  AgentOfEvent agents_;
  IdsOfEvent ids_;
  std::vector<std::array<Table, 4>> tables_;
  std::deque<IdRef> objects_;  // the oldest first
  std::vector<IdRef> ended_;   // in this segment
  std::vector<Head> heads_;
  std::string head_trace_;
  bool in_head_ = true;
  bool needs_head_ = true;
  std::uint64_t begun_ = 0;  // the last event before the segment
  std::vector<IdRef> needed_;
  std::size_t needed_size_ = 0;
  std::uint64_t order_ = 0;
  std::uint32_t segment_ = 1;
};

}  // namespace jtrace::fleet
