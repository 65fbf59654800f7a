// The page of jtrace report (trace/io/page) with the data of a profile: the JSON of trace/io/report_json.cpp, as far as
// a profile has the data.
#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "sampling/own_methods.h"
#include "sampling/profile_writers.h"
#include "trace/io/report_page.h"

namespace jtrace::sampling {
namespace {

constexpr std::size_t kMostNodes = 20'000;  // that the page shows
constexpr std::size_t kMostRows = 500;      // of its table, and beside them what has this share of all samples:
constexpr double kLeastTotal = 0.005;

// Stacks merged from the thread's first frame on. Node 0 is the root; a node comes after its parent.
struct Tree {
  struct Node {
    std::uint32_t parent = 0, name = 0;
    std::uint64_t samples = 0, weight = 0;  // with its children's
  };
  std::vector<Node> nodes{Node{}};
  std::unordered_map<std::uint64_t, std::uint32_t> children;  // parent, name

  explicit Tree(const ProfileCounts& counts) {
    for (const auto& [stack, count] : counts.stacks()) {
      std::uint32_t node = 0;
      add(node, count);
      for (const std::uint32_t name : stack) {
        const auto [child, fresh] = children.try_emplace(std::uint64_t{node} << 32 | name, nodes.size());
        if (fresh) nodes.push_back({.parent = node, .name = name + 1});
        node = child->second;
        add(node, count);
      }
    }
  }
  void add(std::uint32_t node, const ProfileCounts::Count& count) {
    nodes[node].samples += count.samples;
    nodes[node].weight += count.weight;
  }
  // Nodes with less of `size` are not shown.
  std::uint64_t threshold(std::uint64_t Node::*size) const {
    if (nodes.size() <= kMostNodes) return 0;
    std::vector<std::uint64_t> sizes;
    for (const Node& node : nodes) sizes.push_back(node.*size);
    std::nth_element(sizes.begin(), sizes.begin() + kMostNodes, sizes.end(), std::greater<>());
    return sizes[kMostNodes] + 1;
  }
};

void put_flame(JsonWriter& json, const ProfileCounts& counts, const ProfileHead& head) {
  const Tree tree(counts);
  // A single wait may be all the time that a thread has.
  const auto size = counts.shape().waits ? &Tree::Node::weight : &Tree::Node::samples;
  const std::uint64_t least = tree.threshold(size);
  json.key("flame").begin_object().member("source", head.how).member("note", "");
  json.member("frames", tree.nodes.size() - 1).member("folded", 0).key("nodes").begin_array();
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
    const Tree::Node& node = tree.nodes[i];
    if (node.*size < least) continue;  // its children have no more
    place.emplace(i, place.size());
    // parent, name, calls, wall, cpu, bytes, samples
    const bool waits = counts.shape().waits;
    json.value(place[node.parent]).value(node.name).value(0);
    json.value(waits ? node.weight : 0).value(waits ? 0 : node.weight).value(0).value(node.samples);
  }
  json.end_array().key("names").begin_array().value("all");
  for (const std::string& name : counts.names()) json.value(name);
  json.end_array().key("kinds").begin_array().value(0);
  for (const ProfileCounts::Kind kind : counts.kinds()) json.value(static_cast<int>(kind));
  json.end_array().end_object();
}

// [caller or null, method, samples]: null for all of the method's; those that brought most of them follow.
void put_own_methods(JsonWriter& json, const ProfileCounts& counts) {
  constexpr std::size_t kCallers = 5;
  std::vector<OwnMethod> methods = own_methods(counts);
  if (methods.size() > kMostRows) methods.resize(kMostRows);
  json.key("own").begin_array();
  for (const OwnMethod& method : methods) {
    const std::string& name = counts.names()[method.name];
    json.begin_array().null().value(name).value(method.samples).end_array();
    for (std::size_t i = 0; i < std::min(method.callers.size(), kCallers); ++i)
      json.begin_array()
          .value(counts.names()[method.callers[i].name])
          .value(name)
          .value(method.callers[i].samples)
          .end_array();
  }
  json.end_array();
}

// Those with the most samples, their own or with what they called.
void put_methods(JsonWriter& json, const ProfileCounts& counts) {
  if (counts.shape().waits) return;  // samples of waits are of any length: the table of waits has them
  std::vector<FrameRow> rows = frame_rows(counts);
  const auto order = [](const FrameRow& a, const FrameRow& b) {
    return std::pair(a.self, a.total) > std::pair(b.self, b.total);
  };
  std::stable_sort(rows.begin(), rows.end(), order);
  json.key("sampled").begin_object().member("samples", counts.total().samples).member("all", rows.size());
  json.key("rows").begin_array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double share = static_cast<double>(rows[i].total) / static_cast<double>(counts.total().samples);
    if (i >= kMostRows && share < kLeastTotal) continue;
    json.begin_array().value(counts.names()[rows[i].name]).value(rows[i].self).value(rows[i].total).end_array();
  }
  json.end_array();
  put_own_methods(json, counts);
  json.end_object();
}

void put_waits(JsonWriter& json, const ProfileCounts& counts, const ProfileHead& head) {
  if (!counts.shape().waits) return;
  json.key("offCpu").begin_object().member("note", head.no_wakers).key("rows").begin_array();
  for (const WaitRow& row : wait_rows(counts)) {
    json.begin_array().value(row.name).value(row.waits).value(row.time).value(row.longest);
    json.value(party_text(row.parties.owners(), row.time))
        .value(party_text(row.parties.wakers(), row.time))
        .end_array();
  }
  json.end_array().end_object();
}

std::string page_data(const ProfileCounts& counts, const ProfileHead& head) {
  std::string text;
  JsonWriter json(text);
  json.begin_object().member("title", head.title).member("version", JTRACE_VERSION);
  json.member("events", counts.total().samples).member("truncated", false);
  json.key("faults").begin_object().end_object().key("elements").begin_array();
  json.begin_array().value("samples").value(counts.total().samples).end_array().end_array();
  json.key("processes").begin_array().begin_object().member("id", "profile");
  json.member("start", std::to_string(head.start)).member("span", head.elapsed / 1000);
  json.key("producers").begin_array().begin_object().member("agent", "jtrace profile");
  json.member("version", JTRACE_VERSION).member("parameters", head.how).member("process", head.process);
  json.member("pid", head.pid).member("host", "").member("command", "").member("snapshot", false);
  json.member("events", counts.total().samples).member("dropped", head.lost).member("traces", 1);
  json.member("from", 0).member("to", head.elapsed / 1000).end_object().end_array();
  put_methods(json, counts);
  put_flame(json, counts, head);
  put_waits(json, counts, head);
  json.end_object().end_array().end_object();
  return text;
}

}  // namespace

std::string profile_page(const ProfileCounts& counts, const ProfileHead& head) {
  return trace::io::page_with(page_data(counts, head));
}

}  // namespace jtrace::sampling
