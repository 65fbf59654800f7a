// Merged stacks, one a line.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/strings.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/call_stacks.h"
#include "trace/io/call_tree.h"
#include "trace/io/converter.h"
#include "trace/record/control.h"

namespace jtrace::trace::io {
namespace {

class CollapsedWriter final : public Converter, private CallListener {
 public:
  CollapsedWriter(ByteSink& bytes, Weight weight) : bytes_(bytes), weight_(weight), calls_(*this) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    calls_.note(event, scope);
    switch (element_kind(event)) {
      case ElementKind::kMethodEntry:
      case ElementKind::kMethodExit:
        if (scope.snapshot) lose(event);
        else count_lost(event);
        break;
      case ElementKind::kObjAlloc:
        if (weight_ == Weight::kAllocation) allocate(scope, std::get<ObjAlloc>(event));
        else lose(event);
        if (weight_ == Weight::kAllocation) count_lost(event);
        break;
      case ElementKind::kClassDef:
      case ElementKind::kMethodDef:
      case ElementKind::kThreadStart: count_lost(event); break;
      case ElementKind::kOption:
        if (!gap_of(event, scope)) lose(event);
        break;
      default: lose(event);
    }
    return {};
  }

  Result<> finish() override {
    calls_.close_all();
    lose_exits(calls_.unmatched_exits());
    if (weight_ == Weight::kAllocation) choose_allocations();
    Result<> written;
    bool has_lines = false;
    for (std::uint32_t node = 1; node < weights_.size() && written; ++node) {
      if (weights_[node] == 0) continue;
      has_lines = true;
      written = bytes_.write(line_of(node));
    }
    if (!has_lines) notes_.push_back(why_empty());
    if (tree_.has_folded_calls())
      notes_.push_back("stacks are folded from " + std::to_string(CallTree::kFoldedFrom) + " frames on: below '" +
                       std::string(kFoldedCalls) + "' a method that calls itself is shown once");
    Result<> finished = bytes_.finish();
    return written ? std::move(finished) : std::move(written);
  }

 private:
  static constexpr Carried kOfTime[] = {{"methodEntry", "threadIdRef time methodIdRef traceIdRef"},
                                        {"methodExit", "threadIdRef time traceIdRef"},
                                        {"classDef", "name classId traceIdRef"},
                                        {"methodDef", "name methodId classIdRef traceIdRef"},
                                        {"threadStart", "threadId threadName traceIdRef"}};
  static constexpr Carried kOfProcessor[] = {{"methodEntry", "threadIdRef methodIdRef threadCpuTime traceIdRef"},
                                             {"methodExit", "threadIdRef threadCpuTime traceIdRef"},
                                             {"classDef", "name classId traceIdRef"},
                                             {"methodDef", "name methodId classIdRef traceIdRef"},
                                             {"threadStart", "threadId threadName traceIdRef"}};
  static constexpr Carried kOfAllocations[] = {
      {"methodEntry", "threadIdRef methodIdRef traceIdRef"},
      {"methodExit", "threadIdRef traceIdRef"},
      {"objAlloc", "threadIdRef isArray size classIdRef contextData traceIdRef"},
      {"classDef", "name classId traceIdRef"},
      {"methodDef", "name methodId classIdRef traceIdRef"},
      {"threadStart", "threadId threadName traceIdRef"}};
  void count_lost(const Event& event) {
    if (weight_ == Weight::kWall) lose_attributes<kOfTime>(event);
    else if (weight_ == Weight::kCpu) lose_attributes<kOfProcessor>(event);
    else lose_attributes<kOfAllocations>(event);
  }
  std::string why_empty() const {
    const std::string empty = "no line was written: ";
    if (weight_ == Weight::kAllocation) return empty + why_no_allocations();
    if (weights_.empty()) return empty + "the trace has no calls";
    return empty +
           (weight_ == Weight::kCpu ? "no call has processor time (attach with --cpu-time)" : "no call took any time");
  }
  std::string why_no_allocations() const {
    if (!producers_.empty()) return "the allocations of the trace have no size";
    std::string why = "the trace has no allocations";
    bool is_told = false;
    for (const auto& scope : scopes_.all()) {
      for (const std::string& each : scope->unavailable_of(record::kObjAllocEvent | record::kAllocationEvent)) {
        why += "; not in it: " + printable(each);
        is_told = true;
      }
      if (scope->losses.events != 0)
        why += "; " + counted(scope->losses.events, "event") + " " + was_were(scope->losses.events) + " lost";
    }
    return is_told ? why : why + " (attach with --events objects, or allocations)";
  }
  // A name within a line: the separators of the format are replaced.
  static void append_clean(std::string& line, std::string_view name) {
    for (const char c : name) line += c == ';' || c == '\n' || c == '\r' ? ':' : c;
  }
  std::string line_of(std::uint32_t node) const {
    std::vector<std::uint32_t> path;
    for (std::uint32_t at = node; at != 0; at = tree_.nodes[at].parent) path.push_back(at);
    std::string line;
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      if (at != path.rbegin()) line += ';';
      append_clean(line, tree_.names[tree_.nodes[*at].name]);
    }
    return line + " " + std::to_string(weights_[node]) + "\n";
  }
  void add(std::uint32_t node, std::uint64_t weight) {
    if (weights_.size() < tree_.nodes.size()) weights_.resize(tree_.nodes.size());
    weights_[node] += weight;
  }
  // The node of the thread's innermost open call; without one, the node of its name.
  std::uint32_t& top_of(const Scope& scope, std::uint64_t thread) {
    std::uint32_t& top = tops_[{scope.index, thread}];
    if (top == 0) top = tree_.child(0, tree_.name_of(scope.thread_name(thread)));
    return top;
  }
  // OpenFrame::user: the time of its callees.
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override {
    std::uint32_t& top = top_of(scope, thread);
    if (stack.back().cut) top = tree_.base(top, true);
    top = stack.back().node = tree_.enter(top, tree_.name_of(scope, stack.back().method));
  }
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t cpu_time) override {
    const OpenFrame& frame = stack.back();
    std::uint64_t whole = time - frame.time;
    if (weight_ == Weight::kCpu) whole = cpu_time > frame.cpu_time ? cpu_time - frame.cpu_time : 0;
    if (weight_ != Weight::kAllocation) add(frame.node, whole - std::min(whole, frame.user));
    if (stack.size() > 1) stack[stack.size() - 2].user += whole;
    top_of(scope, thread) = stack.size() > 1 ? stack[stack.size() - 2].node : caller_of_outermost(frame);
  }
  std::uint32_t caller_of_outermost(const OpenFrame& frame) const {
    const std::uint32_t parent = tree_.nodes[frame.node].parent;
    return frame.cut ? tree_.nodes[parent].parent : parent;
  }
  void allocate(Scope& scope, const ObjAlloc& alloc) {
    const std::uint64_t thread = alloc.threadIdRef.present() ? alloc.threadIdRef.value() : 0;
    std::uint32_t node = top_of(scope, thread);
    if (alloc.contextData.present() && !alloc.contextData.view().empty())
      node = tree_.descend(tree_.child(0, tree_.name_of(scope.thread_name(thread))), alloc.contextData.view());
    node = tree_.child(node, tree_.name_of(allocated_type(scope, alloc.isArray, alloc.classIdRef)));
    if (producers_.size() <= scope.index) producers_.resize(scope.index + 1);
    Producer& producer = producers_[scope.index];
    producer.scope = &scope;
    producer.kind = allocation_kind(scope);
    ++producer.count;
    producer.bytes[node] += allocation_weight(scope, alloc).bytes;
  }
  // Of the producers of one process, chooses the one that reports every object, otherwise the one that reports most:
  // the same bytes are counted once.
  void choose_allocations() {
    std::map<std::string, const Producer*> chosen;
    const auto rank = [](const Producer& each) { return std::pair(each.kind == AllocationKind::kExact, each.count); };
    for (const Producer& each : producers_) {
      if (each.scope == nullptr) continue;
      const Producer*& best = chosen[each.scope->process_id];
      if (best == nullptr || rank(each) > rank(*best)) best = &each;
    }
    for (const Producer& each : producers_)
      if (each.scope != nullptr && chosen[each.scope->process_id] != &each)
        lost_["objAlloc of a producer beside another"] += each.count;
    for (const auto& [process, producer] : chosen) {
      for (const auto& [node, bytes] : producer->bytes) add(node, static_cast<std::uint64_t>(std::llround(bytes)));
      const std::string note = allocation_note(*producer->scope, producer->count);
      if (!note.empty()) notes_.push_back("allocated bytes are " + note);
    }
  }

  struct Producer {
    const Scope* scope = nullptr;
    AllocationKind kind = AllocationKind::kNone;
    std::uint64_t count = 0;
    std::map<std::uint32_t, double> bytes;  // by node
  };

  ByteSink& bytes_;
  Weight weight_;
  std::vector<Producer> producers_;  // of allocations, by scope
  Scopes scopes_;
  CallStacks calls_;
  CallTree tree_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t> tops_;
  std::vector<std::uint64_t> weights_;  // of the tree's nodes
};

}  // namespace

std::unique_ptr<Converter> make_collapsed_writer(ByteSink& bytes, Weight weight) {
  return std::make_unique<CollapsedWriter>(bytes, weight);
}

}  // namespace jtrace::trace::io
