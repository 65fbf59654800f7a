// The rule about circles through Java's locks and those below, which neither kind shows alone.
#include <algorithm>
#include <map>

#include "coreinspect/tools/circles.h"
#include "diagnose/rules.h"
#include "diagnose/words.h"

namespace jtrace::diagnose {
namespace {

// A thread by its native id; a virtual one, which has none of its own, by that of its carrier, or by its key.
struct Node {
  pid_t nid = 0;
  ThreadKey key = 0;  // of a virtual thread without a carrier
  auto operator<=>(const Node&) const = default;
};
struct Edge {
  Node owner;
  bool below = false;  // the lock is below Java
  std::string text;    // "\"a\" waits ..."
};
using Edges = std::map<Node, Edge>;

Node node_of(const ThreadsLook& look, const ThreadFact& thread) {
  if (!thread.is_virtual) return {.nid = thread.nid};
  for (const ThreadFact& each : look.threads)
    if (!thread.carrier.empty() && each.key != 0 && !each.is_virtual && each.name == thread.carrier)
      return {.nid = each.nid};
  return {.key = thread.key};
}

// What both of the last two samples have.
void add_of_java(const Facts& facts, Edges& edges) {
  const ThreadsLook& look = facts.looks.back();
  const ThreadsLook& earlier = facts.looks.size() > 1 ? facts.looks[facts.looks.size() - 2] : look;
  for (const ThreadFact& each : look.threads) {
    const ThreadFact* owner = each.wait && each.wait->blocks() ? look.find(each.wait->owner) : nullptr;
    const ThreadFact* then = owner ? earlier.find(each.key) : nullptr;
    if (!then || !then->wait || then->wait->owner != each.wait->owner || then->wait->kind != each.wait->kind) continue;
    edges[node_of(look, each)] = {node_of(look, *owner), false, quoted(each) + " is " + each.wait->text};
  }
}

// What both looks have. A thread that waits there does nothing else.
void add_of_mutexes(const Facts& facts, Edges& edges) {
  const auto same = [&](const MutexFact& mutex) {
    const auto& held = facts.mutexes.front().held;
    return std::find_if(held.begin(), held.end(), [&](const MutexFact& each) {
             return each.name == mutex.name && each.owner_tid == mutex.owner_tid;
           }) != held.end();
  };
  for (const MutexFact& mutex : facts.mutexes.back().held) {
    if (!same(mutex)) continue;
    for (const MutexFact::Waiter& each : mutex.waiters)
      edges[{.nid = each.tid}] = {
          {.nid = mutex.owner_tid},
          true,
          quoted(each.name) + " waits for " + printable(mutex.name) + ", which " + quoted(mutex.owner) + " has"};
  }
}

}  // namespace

void find_mixed_deadlocks(const Facts& facts, std::vector<Finding>& found) {
  if (facts.looks.empty() || facts.mutexes.empty()) return;
  Edges edges;
  add_of_java(facts, edges);
  add_of_mutexes(facts, edges);
  std::map<Node, Node> owners;
  for (const auto& [node, edge] : edges) owners.emplace(node, edge.owner);
  for (const std::vector<Node>& circle : coreinspect::circles_in(owners)) {
    const auto below =
        std::count_if(circle.begin(), circle.end(), [&](const Node& each) { return edges.at(each).below; });
    if (below == 0 || static_cast<std::size_t>(below) == circle.size()) continue;
    Finding finding{.rule = "mixed-deadlock",
                    .sentence = "Deadlock: " + std::to_string(circle.size()) +
                                " threads wait for each other in a circle, partly for locks of Java and partly for "
                                "locks below it, and none of them can go on.",
                    .confidence = Confidence::kCertain,
                    .next = "jtrace inspect " + facts.target + " locks"};
    for (const Node& each : circle) finding.evidence.push_back(edges.at(each).text);
    found.push_back(std::move(finding));
  }
}

}  // namespace jtrace::diagnose
