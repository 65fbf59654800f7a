#include "session/document/collection_events.h"

#include <algorithm>

#include "trace/collection_option.h"
#include "trace/record/record_kinds.h"

namespace jtrace::session {

namespace record = trace::record;
using record::RecordKind;
using trace::ThreadId;

namespace {
constexpr std::uint64_t kPageSize = 4096;
}  // namespace

Result<> CollectionEvents::write_start(const record::ThreadRecord& record) {
  start_ = record.header.time;
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  JTRACE_RETURN_IF_ERROR(
      emitter_.emit(trace::GcStart{.threadIdRef = ThreadId(record.thread), .time = wall(record.header.time)}));
  return objects_.write_kept_ends();
}

void CollectionEvents::take_cause(const Cause& record) {
  cause_ = record;
  cycles_.settle(cause_);
}

// A cause that was lost is not known.
CollectionEvents::Cause CollectionEvents::cause_of(std::uint32_t number) const {
  return cause_.header.number == number ? cause_ : Cause{};
}

Result<> CollectionEvents::take_finish(const record::GcFinishRecord& record) {
  const bool figures_follow = (record.header.flags & record::kFiguresFollow) != 0;
  const Cause cause = cause_of(record.header.number);
  if (figures_follow) note_pause(record, cause);
  if (!figures_follow && !options_.nested_frees) return write_finish(record, cause);
  holding_ = true;
  held_ = {record, cause, figures_follow, 0};
  return {};
}

Result<bool> CollectionEvents::hold(const TimedRecord& record) {
  const record::RecordHeader& header = record.header();
  if (header.kind == RecordKind::kGcFigures) {
    take_figures(record);
  } else if (options_.nested_frees && record::is_in(record::kFreeKinds, header.kind)) {
    held_.last_free = header.time;
    JTRACE_RETURN_IF_ERROR(objects_.write_end(record.as<record::ObjectRecord>()));
  } else {
    later_.push_back(record);
  }
  const bool next_pair = header.kind == RecordKind::kGcStart && options_.nested_frees && !held_.figures_follow;
  return next_pair || may_release(header.time);
}

void CollectionEvents::take_figures(const TimedRecord& record) {
  const std::uint32_t number = held_.record.header.number;
  if (!held_.figures_follow || record.header().number < number) return;
  held_.figures_follow = false;
  if (record.header().number != number) {
    later_.push_back(record);  // belongs to a later collection, whose own gcFinish follows
    return;
  }
  // What was read within the pause is what it left; the figures came later.
  if ((held_.record.header.flags & record::kHasUsed) == 0) held_.record.used = record.as<record::GcFinishRecord>().used;
  held_.record.total = record.as<record::GcFinishRecord>().total;
  held_.record.header.flags |= record::kHasFigures;
}

void CollectionEvents::note_pause(const record::GcFinishRecord& record, const Cause& cause) {
  pauses_.push_back({record.header.number, start_, cause});
  if (pauses_.size() > kMostPauses) pauses_.pop_front();
}

// Pauses of the next one may have come before the end was seen: it was for another cause.
std::vector<CollectionEvents::Pause> CollectionEvents::take_pauses(const record::GcFinishRecord& end) {
  const auto is_later = [&](const Pause& pause) { return pause.number > end.header.number; };
  auto last = std::find_if(pauses_.begin(), pauses_.end(), is_later);
  const auto is_of_first = [&](const Pause& pause) {
    return cause_text(pause.cause).view() == cause_text(pauses_[0].cause).view();
  };
  if ((end.header.flags & record::kAnotherRuns) != 0)
    while (last != pauses_.begin() && !is_of_first(*(last - 1))) --last;
  std::vector<Pause> taken(pauses_.begin(), last);
  pauses_.erase(pauses_.begin(), last);
  return taken;
}

Result<> CollectionEvents::write_collection(const record::GcFinishRecord& record) {
  const std::vector<Pause> pauses = take_pauses(record);
  if (pauses.empty()) return {};
  const bool is_whole = (record.header.flags & record::kIsPartial) == 0;
  trace::Collection made{.to = wall(record.header.time).ns(), .pauses = pauses.size(), .after = record.used};
  if (record.total != 0) made.total = record.total;
  if (is_whole) {
    const trace::Number before = used_before(pauses.front().cause);
    made.from = wall(pauses.front().start).ns();
    if (before.present()) made.before = before.value_or(0);
  }
  for (const Pause& pause : pauses) {
    if (made.kind.empty()) made.kind = kind_text(pause.cause);
    if (made.cause.empty()) made.cause = cause_text(pause.cause).view();
  }
  return emitter_.emit(trace::Option{.key = trace::kCollectionKey, .value = trace::collection_text(made)});
}

bool CollectionEvents::may_release(std::uint64_t time) const {
  if (later_.size() >= kHoldLimit) return true;
  const std::uint64_t finish = held_.record.header.time;
  if (held_.figures_follow && time < finish + kFiguresWait) return false;
  if (!options_.nested_frees) return true;
  return time >= std::max(finish, held_.last_free) + kFreesWait || time >= finish + kFreesLimit;
}

Result<> CollectionEvents::release(std::deque<TimedRecord>& input) {
  holding_ = false;
  input.insert(input.begin(), later_.begin(), later_.end());
  later_.clear();
  return write_finish(held_.record, held_.cause);
}

Result<> CollectionEvents::write_finish(const record::GcFinishRecord& record, const Cause& cause) {
  JTRACE_RETURN_IF_ERROR(definitions_.need_thread(record.thread, record.header.time));
  const bool known = (record.header.flags & record::kHasFigures) != 0;
  const bool used_known = known || (record.header.flags & record::kHasUsed) != 0;
  // G1 adds 8 bytes to every capacity so that none is 0 (g1MonitoringSupport.hpp, pad_capacity); a heap consists of
  // whole pages.
  const std::uint64_t total = record.total / kPageSize * kPageSize;
  const std::string kind = kind_text(cause);
  return emitter_.emit(trace::GcFinish{.threadIdRef = ThreadId(record.thread),
                                       .time = wall(record.header.time),
                                       .totalObjectSpace = known ? trace::Number(total) : trace::Number(),
                                       .usedObjectSpace = used_known ? trace::Number(record.used) : trace::Number(),
                                       .cause = cause_text(cause),
                                       .kind = kind.empty() ? trace::Text() : trace::Text(kind),
                                       .usedObjectSpaceBefore = used_before(cause)});
}

}  // namespace jtrace::session
