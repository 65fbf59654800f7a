#include "trace/io/part_joiner.h"

#include "trace/io/scopes.h"
#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

// True if `id` was seen before.
template <class Id>
bool again(std::unordered_set<std::uint64_t>& ids, Id id) {
  return id.present() && !ids.insert(id.value()).second;
}
template <class Id>
void forget(std::unordered_set<std::uint64_t>& ids, Id id) {
  if (id.present()) ids.erase(id.value());
}
std::string joined(std::string_view a, Text b, Text c = {}) {
  return std::string(a).append("\n").append(b.view()).append("\n").append(c.view());
}

}  // namespace

void PartJoiner::begin_part(Follows follows, bool is_last, bool ends_agent) {
  follows_ = follows;
  is_last_ = is_last;
  ends_agent_ = ends_agent;
  in_head_ = true;
  counts_.reset();
  last_read_ = 0;
  if (follows == Follows::kNothing) last_written_ = 0;
}

// Definitions that an earlier part has made.
bool PartJoiner::is_restated(const Event& event) {
  switch (element_kind(event)) {
    case ElementKind::kThreadStart: return again(threads_, std::get<ThreadStart>(event).threadId);
    case ElementKind::kThreadEnd: forget(threads_, std::get<ThreadEnd>(event).threadIdRef); return false;
    case ElementKind::kClassDef: return again(classes_, std::get<ClassDef>(event).classId);
    case ElementKind::kClassUnload: forget(classes_, std::get<ClassUnload>(event).classIdRef); return false;
    case ElementKind::kMethodDef: return again(methods_, std::get<MethodDef>(event).methodId);
    case ElementKind::kObjDef: return again(objects_, std::get<ObjDef>(event).objId);
    case ElementKind::kObjAlloc: again(objects_, std::get<ObjAlloc>(event).objId); return false;
    case ElementKind::kObjFree: forget(objects_, std::get<ObjFree>(event).objIdRef); return false;
    default: return false;
  }
}

// Facts about the whole trace that a later part repeats.
bool PartJoiner::is_of_head(const Event& event) {
  switch (element_kind(event)) {
    case ElementKind::kNode: return !head_.insert(joined("node", std::get<Node>(event).nodeId)).second;
    case ElementKind::kProcessCreate:
      return !head_.insert(joined("process", std::get<ProcessCreate>(event).processId)).second;
    case ElementKind::kAgentCreate: return !head_.insert(joined("agent", std::get<AgentCreate>(event).agentId)).second;
    case ElementKind::kTraceStart:
      if (follows_ != Follows::kNothing) return true;
      trace_ = std::get<TraceStart>(event).traceId.view();
      return false;
    case ElementKind::kFilter: return in_head_ && follows_ != Follows::kNothing;
    case ElementKind::kOption: {
      const Option& option = std::get<Option>(event);
      if (option.key.view() == kContinuesKey) return follows_ == Follows::kThat;
      if (!in_head_) return false;
      return !head_.insert(joined(trace_, option.key, option.value)).second && follows_ != Follows::kNothing;
    }
    default: in_head_ = false; return false;
  }
}

bool PartJoiner::is_end_in_the_middle(const Event& event) const {
  if (std::holds_alternative<TraceEnd>(event)) return !is_last_;
  return std::holds_alternative<AgentDestroy>(event) && !ends_agent_;
}

// Counts are cumulative: those at the end of a part are valid until the next part has its own.
bool PartJoiner::take_count(const Event& event) {
  const auto* option = std::get_if<Option>(&event);
  const bool counts = std::holds_alternative<MethodCount>(event) ||
                      (option != nullptr && (option->key.view() == kCountedKey || option->key.view() == kUncountedKey));
  if (!counts || is_last_) return false;
  if (!counts_) counts_ = std::make_unique<CaptureSink>();
  (void)counts_->write(event);  // memory: it cannot fail
  return true;
}

Result<> PartJoiner::write_counts() {
  const std::unique_ptr<CaptureSink> counts = std::move(counts_);
  for (const Event& each : counts->events()) JTRACE_RETURN_IF_ERROR(pass(each));
  return {};
}

Result<> PartJoiner::write(const Event& event) {
  const Common common = common_of(event);
  if (common.collation.present()) {
    // What a part lost, the whole lost.
    const std::uint64_t value = common.collation.value();
    if (value > last_read_ + 1) last_written_ += value - last_read_ - 1;
    last_read_ = std::max(last_read_, value);
  }
  const bool of_head = is_of_head(event), restated = is_restated(event);
  if (of_head || restated || is_end_in_the_middle(event) || take_count(event)) return {};
  const bool defines = std::holds_alternative<MethodDef>(event) || std::holds_alternative<ClassDef>(event) ||
                       std::holds_alternative<ThreadStart>(event);
  if (counts_ && !defines) JTRACE_RETURN_IF_ERROR(write_counts());  // they were requested in the middle
  return pass(event);
}

Result<> PartJoiner::pass(const Event& event) {
  Event copy = event;
  std::visit(
      [&](auto& element) {
        if constexpr (requires { element.traceIdRef; }) {
          if (element.traceIdRef.present()) element.traceIdRef = trace_;
        }
        if constexpr (requires { element.collationValue; }) {
          if (element.collationValue.present()) element.collationValue = ++last_written_;
        }
      },
      copy);
  ++elements_;
  return next_.write(copy);
}

}  // namespace jtrace::trace::io
