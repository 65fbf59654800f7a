// MergeHead: the nodes, processes and agents of several streams, each once. A node or process that two streams describe
// becomes one: attributes that one description lacks are taken from the other. An agent must be the same in all
// streams, except for its times: the earliest is its begin, the latest its end. A process without a host name (of a
// core) is joined with a process with a host name and the same jtrace.vm. One thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/event_sink.h"

namespace jtrace::trace::io {

class MergeHead {
 public:
  // Takes node, processCreate, agentCreate and agentDestroy (true), no other element. `input` is used in messages.
  // kMalformed: two different definitions of an agent.
  Result<bool> take(const Event& event, const std::string& input);
  // `agent` has this jtrace.vm ("pid=1,createVmBeginTime=...").
  void note_vm(std::string_view agent, std::string_view vm);
  // Determines which processes are the same. Call it before the functions below.
  void join();

  // In the order of their definition: nodes, processes, agents.
  Result<> write(EventSink& sink) const;
  // Writes the end of `agent`, if it has one; once for each agent.
  Result<> write_end(EventSink& sink, std::string_view agent);
  Result<> write_other_ends(EventSink& sink);
  // The id that replaces `id`.
  Text process(Text id) const { return alias(processes_alias_, id); }
  Text node(Text id) const { return alias(nodes_alias_, id); }
  // The node of an agent; "" if unknown.
  std::string node_of(std::string_view agent) const;
  std::size_t joined() const { return processes_alias_.size(); }
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  using Ids = std::map<std::string, std::string, std::less<>>;
  template <class Element>
  struct Defined {
    Element element;
    std::string input;
  };
  template <class Element>
  using Table = std::vector<Defined<Element>>;

  template <class Element>
  Element keep(const Element& element);
  template <class Element>
  void define(Table<Element>& table, const Element& element, Text id, Text Element::*member, const std::string& input);
  static Text alias(const Ids& ids, Text id);

  CaptureSink texts_;  // owns the texts that the elements below borrow
  Table<Node> nodes_;
  Table<ProcessCreate> processes_;
  Table<AgentCreate> agents_;
  std::map<std::string, AgentDestroy, std::less<>> ends_;
  Ids vm_of_agent_;
  Ids processes_alias_, nodes_alias_;
  std::vector<std::string> differences_;
};

}  // namespace jtrace::trace::io
