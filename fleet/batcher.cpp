#include "fleet/batcher.h"

#include <algorithm>

#include "base/clock.h"
#include "fleet/subject.h"
#include "trace/io/scopes.h"

namespace jtrace::fleet {

Batcher::Batcher(BatcherOptions options, Take take) : options_(std::move(options)), take_(std::move(take)) {
  begin_batch();
}

void Batcher::begin_batch() {
  open_ = {};
  bytes_ = std::make_unique<trace::MemorySink>(options_.unpacked_size + (64u << 10));
  writer_ = std::make_unique<trace::XmlWriter>(*bytes_, trace::XmlWriterOptions{.form = trace::XmlForm::kFragments});
}

// The ids and times of the header.
void Batcher::note(const trace::Event& event) {
  const auto* node = std::get_if<trace::Node>(&event);
  const auto* process = std::get_if<trace::ProcessCreate>(&event);
  // Those of the first batch: a stream has one name.
  if (node != nullptr && number_ == 0 && node_ == kUnknown) node_ = token_of(node->nodeId.view());
  if (process != nullptr && number_ == 0 && process_ == kUnknown) process_ = token_of(process->processId.view());
  if (const auto* agent = std::get_if<trace::AgentCreate>(&event)) agent_ = token_of(agent->agentId.view());
  if (const auto* start = std::get_if<trace::TraceStart>(&event)) {
    if (number_ == 0 && trace_ == kUnknown) trace_ = token_of(start->traceId.view());
  }
  const trace::io::Common common = trace::io::common_of(event);
  if (common.collation.present()) {
    if (open_.first_collation == 0) open_.first_collation = common.collation.value();
    open_.last_collation = common.collation.value();
  }
  if (common.time.present()) {
    if (open_.first_time == 0) open_.first_time = common.time.ns();
    open_.last_time = common.time.ns();
  }
}

Result<> Batcher::write(const trace::Event& event) {
  before_last_ = {bytes_->bytes_written(), open_.last_collation, open_.last_time};
  definitions_.note(event);
  note(event);
  if (open_.elements == 0) opened_ = monotonic_ns();
  JTRACE_RETURN_IF_ERROR(writer_->write(event));
  ++open_.elements;
  if (bytes_->bytes_written() + definitions_.needed_size() < options_.unpacked_size) return {};
  return close(false);
}

Result<> Batcher::close_if_older(std::uint64_t age) {
  return open_.elements != 0 && monotonic_ns() - opened_ >= age ? close(false) : Result<>();
}

Result<> Batcher::finish() { return close(true); }

Result<> Batcher::close(bool ends_stream) {
  JTRACE_RETURN_IF_ERROR(writer_->finish());
  Definitions::Restated restated = definitions_.restate();
  Batch batch{open_, std::move(restated.xml), bytes_->text()};
  batch.header.restated = restated.count;
  const bool handed = encode_batch(complete(batch, ends_stream)).has_value();
  if (!handed && open_.elements > 1) JTRACE_RETURN_IF_ERROR(hand_over_without_last(batch));
  JTRACE_RETURN_IF_ERROR(hand_over(complete(batch, ends_stream)));
  begin_batch();
  return {};
}

// The last element made the batch larger than a message may be: those before it need not be lost with it.
Result<> Batcher::hand_over_without_last(Batch& batch) {
  Batch front = batch;
  front.elements.resize(before_last_.size);
  --front.header.elements;
  front.header.last_collation = before_last_.collation;
  front.header.last_time = before_last_.time;
  batch.elements.erase(0, before_last_.size);
  batch.restated.clear();
  batch.header.restated = 0;
  batch.header.elements = 1;
  return hand_over(complete(front, false));
}

// The rest of the header.
Batch& Batcher::complete(Batch& batch, bool ends_stream) const {
  const ClockAnchor now = ClockAnchor::now();
  BatchHeader& header = batch.header;
  header.stream = options_.stream;
  header.node = node_, header.process = process_, header.agent = agent_, header.trace = trace_;
  header.producer = options_.producer;
  header.batch = number_ + 1;
  header.previous = previous_;
  header.segment = segment_;
  header.begins_segment = begins_segment_;
  header.ends_stream = ends_stream;
  header.is_cut = ends_stream && is_cut_;
  header.elements_before = elements_before_;
  header.realtime = now.realtime, header.monotonic = now.monotonic;
  return batch;
}

Result<> Batcher::hand_over(const Batch& batch) {
  bool kept = false;
  if (const Result<std::string> bytes = encode_batch(batch)) {
    JTRACE_ASSIGN_OR_RETURN(kept, take_(batch.header, *bytes));
  }
  ++number_;
  elements_before_ += batch.header.elements;
  if (kept) {
    previous_ = number_;
  } else {  // larger than a message may be, or without room
    ++lost_batches_;
    lost_elements_ += batch.header.elements;
  }
  begins_segment_ = !kept || ++in_segment_ >= options_.segment_batches;
  if (!begins_segment_) return {};
  definitions_.begin_segment();
  ++segment_;
  in_segment_ = 0;
  return {};
}

}  // namespace jtrace::fleet
