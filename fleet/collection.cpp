#include "fleet/collection.h"

#include <xxhash.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/uuid.h"
#include "fleet/spool_records.h"
#include "fleet/subject.h"

namespace jtrace::fleet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIdFile = "id";

Result<> make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(system_error(error.value(), "cannot make the folder", folder));
  return {};
}

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string seconds_text(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

// The trace's id, and enough of the stream's to be a name of its own: a file may be shipped again after a change.
std::string file_name_of(const BatchHeader& header) {
  const std::string name = StreamDocument::state_name(header.node, header.stream);
  return header.trace + "-" + hex(XXH64(name.data(), name.size(), 0)).substr(0, 8) + ".trcxml";
}

}  // namespace

Result<Collection> Collection::open(const std::string& folder, const CollectionOptions& options) {
  Collection collection;
  collection.folder_ = folder;
  collection.states_ = folder + "/.state/streams";
  collection.parked_ = folder + "/parked";
  collection.options_ = options;
  JTRACE_RETURN_IF_ERROR(make_folder(folder));
  JTRACE_RETURN_IF_ERROR(make_folder(collection.states_));
  JTRACE_ASSIGN_OR_RETURN(collection.lock_, lock_folder(folder + "/.state", "lock", "another collector"));
  JTRACE_RETURN_IF_ERROR(collection.load());
  return collection;
}

Result<> Collection::load() {
  const std::string place = folder_ + "/.state";
  id_ = read_setting(place + "/" + kIdFile);
  if (!is_token(id_)) {
    id_ = random_uuid();
    JTRACE_RETURN_IF_ERROR(replace_file(place, kIdFile, id_ + "\n", true));
  }
  std::error_code error;
  for (fs::directory_iterator at(states_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(".new")) continue;  // a replacement that a kill ended
    JTRACE_ASSIGN_OR_RETURN(const std::string text, read_file(at->path().string(), 1u << 16));
    JTRACE_ASSIGN_OR_RETURN(StreamState state, read_state(text, at->path().string()));
    Stream& stream = streams_[name];
    stream.document = std::make_unique<StreamDocument>(folder_, states_, std::move(state));
    JTRACE_RETURN_IF_ERROR(stream.document->restore());
  }
  if (error) return fail(system_error(error.value(), "cannot list", states_));
  return {};
}

Collection::Stream& Collection::stream_of(const BatchHeader& header) {
  Stream& stream = streams_[StreamDocument::state_name(header.node, header.stream)];
  if (!stream.document) {
    StreamState state{.node = header.node, .stream = header.stream, .file = file_name_of(header)};
    stream.document = std::make_unique<StreamDocument>(folder_, states_, std::move(state));
  }
  return stream;
}

Result<> Collection::park(std::string_view bytes, const std::string& name, const std::string& why) {
  notes_.push_back(name + " is parked: " + why);
  if (++totals_.parked > options_.most_parked) return {};
  JTRACE_RETURN_IF_ERROR(make_folder(parked_));
  const std::string file = hex(XXH64(bytes.data(), bytes.size(), 0));
  JTRACE_RETURN_IF_ERROR(replace_file(parked_, file + ".reason", name + ": " + why + "\n", false));
  return replace_file(parked_, file + ".batch", bytes, true);
}

void Collection::note_clock(const BatchHeader& header) {
  const std::uint64_t now = realtime_ns();
  if (header.realtime <= now) return;
  std::uint64_t& said = ahead_[header.node];
  const std::uint64_t ahead = header.realtime - now;
  if (ahead < 100'000'000 || ahead < 2 * said) return;  // not each tenth of a second
  said = ahead;
  notes_.push_back("the clock of node " + header.node + " is at least " + seconds_text(ahead) + " ahead of this one");
}

Result<> Collection::take(std::string_view reply, std::string_view subject, std::string_view bytes, std::uint64_t now) {
  Result<BatchHeader> header = decode_batch_header(bytes);
  std::string why;
  if (!header) why = header.error().text;
  else if (subject_of(*header) != subject) why = "its subject is not the one that its header says";
  if (!why.empty()) {
    replies_.emplace_back(reply);
    return park(bytes, "a message of " + std::string(subject.substr(0, 200)), why);
  }
  note_clock(*header);
  Stream& stream = stream_of(*header);
  const std::uint64_t next = stream.document->state().next;
  Held item{*header, std::string(bytes), std::string(reply), std::string(subject)};
  if (header->batch < next) {
    ++totals_.duplicates;
    replies_.emplace_back(reply);
    return {};
  }
  if (header->batch > next && header->previous + 1 > next) {
    hold(stream, std::move(item), now);
    return write_held(stream, now, kMaxHeldOfStream);
  }
  if (header->batch > next) stream.document->begin_gap(header->batch);  // the sender reports it
  JTRACE_RETURN_IF_ERROR(write(stream, std::move(item)));
  return write_held(stream, now, kMaxHeldOfStream);
}

void Collection::hold(Stream& stream, Held item, std::uint64_t now) {
  if (held_bytes_ + item.bytes.size() > kMaxHeld) return;  // not acknowledged: it comes again
  if (stream.held.empty()) stream.waiting_since = now;
  const std::uint64_t number = item.header.batch;
  const std::size_t size = item.bytes.size();
  const auto [at, fresh] = stream.held.try_emplace(number, std::move(item));
  if (fresh) held_bytes_ += size;
  else at->second.reply = item.reply;  // delivered again: the new acknowledgement counts
}

// Writes a batch whose turn it is.
Result<> Collection::write(Stream& stream, Held item) {
  StreamDocument& document = *stream.document;
  replies_.push_back(item.reply);
  const std::string name = "batch " + std::to_string(item.header.batch) + " of stream " + item.header.stream;
  if (document.state().gap_from != 0 && !item.header.begins_segment) {
    document.skip(item.header);
    note_progress(document);
    return park(item.bytes, name, "a batch before it is missing, which may have definitions that it needs");
  }
  Result<Batch> batch = decode_batch(item.bytes);
  Result<> appended = batch ? document.append(*batch) : Result<>(fail(batch.error()));
  if (!appended) {
    if (appended.error().category != ErrorCategory::kMalformed) return appended;
    document.begin_gap(item.header.batch + 1);
    return park(item.bytes, name, appended.error().text);
  }
  ++totals_.batches;
  totals_.elements += item.header.elements;
  note_progress(document);
  return {};
}

void Collection::note_progress(StreamDocument& document) {
  const StreamState& state = document.state();
  if (const std::string gap = document.take_gap(); !gap.empty()) {
    ++totals_.gaps;
    notes_.push_back(state.file + ": " + gap);
  }
  if (!state.is_finished) return;
  ++(state.is_cut ? totals_.cut : totals_.finished);
  notes_.push_back(state.file +
                   (state.is_cut ? ": the trace was cut off before it was sent, " : ": the trace is complete, ") +
                   counted(state.written, "element") +
                   (state.missing == 0 ? "" : " and " + std::to_string(state.missing) + " missing"));
}

// Writes what is held as far as it is complete, and over gaps: those that the sender says, those whose time has come,
// and others until at most `most` batches are held.
Result<> Collection::write_held(Stream& stream, std::uint64_t now, std::size_t most) {
  while (!stream.held.empty()) {
    const auto first = stream.held.begin();
    const std::uint64_t next = stream.document->state().next, number = first->first;
    const bool is_lost = first->second.header.previous < next || stream.held.size() > most ||
                         now - stream.waiting_since >= options_.gap_after;
    if (number > next && !is_lost) return {};
    Held item = std::move(first->second);
    held_bytes_ -= item.bytes.size();
    stream.held.erase(first);
    if (number < next) {
      ++totals_.duplicates;
      replies_.push_back(item.reply);
      continue;
    }
    if (number > next) stream.document->begin_gap(number);
    JTRACE_RETURN_IF_ERROR(write(stream, std::move(item)));
    stream.waiting_since = now;
  }
  return {};
}

Result<> Collection::tick(std::uint64_t now) {
  for (auto& [name, stream] : streams_)
    if (!stream.held.empty()) JTRACE_RETURN_IF_ERROR(write_held(stream, now, kMaxHeldOfStream));
  return {};
}

Result<std::vector<std::string>> Collection::commit() {
  bool any = false;
  totals_.missing = 0;
  for (auto& [name, stream] : streams_) {
    totals_.missing += stream.document->state().missing;
    if (!stream.document->is_dirty()) continue;
    JTRACE_RETURN_IF_ERROR(stream.document->commit());
    any = true;
  }
  if (any) {
    JTRACE_RETURN_IF_ERROR(sync_folder(states_));
    JTRACE_RETURN_IF_ERROR(sync_folder(folder_));
  }
  return std::exchange(replies_, {});
}

std::size_t Collection::held() const {
  std::size_t sum = 0;
  for (const auto& [name, stream] : streams_) sum += stream.held.size();
  return sum;
}

std::vector<StreamState> Collection::states() const {
  std::vector<StreamState> states;
  for (const auto& [name, stream] : streams_) states.push_back(stream.document->state());
  return states;
}

}  // namespace jtrace::fleet
