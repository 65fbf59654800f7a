// MergeHead: the nodes, processes and agents of several streams, each once. A node or process that two streams describe
// is one: attributes that one leaves out are taken from the other. An agent must be the same in all
// but for its times: the earliest begins it, the latest ends it. A process without
// a host name (a core's) that has the jtrace.vm of one with a host name is that process. One thread.
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
  // Takes node, processCreate, agentCreate and agentDestroy (true), nothing else. `input` stands in messages.
  // kMalformed: an agent that is defined in two ways.
  Result<bool> take(const Event& event, const std::string& input);
  // `agent` says it is of this jtrace.vm ("pid=1,createVmBeginTime=...").
  void note_vm(std::string_view agent, std::string_view vm);
  // Finds out which processes are the same. After it the rest may be called.
  void join();

  // In the order of their definition: nodes, processes, agents.
  Result<> write(EventSink& sink) const;
  // The end of `agent`, where it has said any. Each once.
  Result<> write_end(EventSink& sink, std::string_view agent);
  Result<> write_other_ends(EventSink& sink);
  // The id that stands for `id`.
  Text process(Text id) const { return alias(processes_alias_, id); }
  Text node(Text id) const { return alias(nodes_alias_, id); }
  // The node of an agent; "" where nothing has said any.
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

  CaptureSink texts_;  // owns what the elements below borrow
  Table<Node> nodes_;
  Table<ProcessCreate> processes_;
  Table<AgentCreate> agents_;
  std::map<std::string, AgentDestroy, std::less<>> ends_;
  Ids vm_of_agent_;
  Ids processes_alias_, nodes_alias_;
  std::vector<std::string> differences_;
};

}  // namespace jtrace::trace::io
