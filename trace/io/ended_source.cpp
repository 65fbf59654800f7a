#include "trace/io/ended_source.h"

#include <set>
#include <utility>

#include "base/strings.h"

namespace jtrace::trace::io {
namespace {

class EndWatch final : public EventSink {
 public:
  explicit EndWatch(EventSink& next) : next_(next) {}
  Result<> write(const Event& event) override {
    if (const auto* start = std::get_if<TraceStart>(&event); start && start->collationValue.present())
      open_.emplace(start->traceId.view());
    else if (const auto* end = std::get_if<TraceEnd>(&event)) open_.erase(std::string(end->traceIdRef.view()));
    return next_.write(event);
  }
  bool has_open() const { return !open_.empty(); }

 private:
  EventSink& next_;
  std::set<std::string> open_;
};

class EndedSource final : public EventSource {
 public:
  EndedSource(std::unique_ptr<EventSource> source, std::string name, bool strict)
      : source_(std::move(source)), name_(std::move(name)), strict_(strict) {}
  Result<ReadSummary> read(EventSink& sink) override {
    EndWatch watch(sink);
    auto summary = source_->read(watch);
    if (!summary || !watch.has_open()) return summary;
    if (strict_)
      return fail(malformed_at(name_, position(), "truncated after " + counted(summary->elements, "element")));
    summary->truncated = true;
    return summary;
  }
  Position position() const override { return source_->position(); }

 private:
  std::unique_ptr<EventSource> source_;
  std::string name_;
  bool strict_;
};

}  // namespace

std::unique_ptr<EventSource> watch_for_the_end(std::unique_ptr<EventSource> source, std::string name, bool strict) {
  return std::make_unique<EndedSource>(std::move(source), std::move(name), strict);
}

}  // namespace jtrace::trace::io
