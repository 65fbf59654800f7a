#include "fleet/stream_document.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "base/file.h"
#include "base/strings.h"
#include "fleet/spool_records.h"
#include "trace/gap_option.h"
#include "trace/io/xml_source.h"
#include "trace/option_keys.h"
#include "trace/xml_writer.h"

namespace jtrace::fleet {
namespace {

namespace io = trace::io;

// Passes each element to a function.
class EachElement final : public trace::EventSink {
 public:
  explicit EachElement(std::function<Result<>(const trace::Event&)> f) : f_(std::move(f)) {}
  Result<> write(const trace::Event& event) override { return f_(event); }

 private:
  std::function<Result<>(const trace::Event&)> f_;
};

// Reads lines of elements, strictly: returns their number. What is not an element of ours, or no XML, is an error.
Result<std::uint64_t> read_lines(std::string_view xml, trace::EventSink& sink) {
  if (xml.empty()) return 0;
  if (xml.front() != '<' || xml.back() != '\n') return fail(ErrorCategory::kMalformed, "they are no lines of elements");
  io::FaultLog faults({.strict = true});
  JTRACE_ASSIGN_OR_RETURN(auto bytes, io::memory_byte_source(xml));
  io::XmlSource source(std::move(bytes), "line", faults, {.strict = true});
  JTRACE_ASSIGN_OR_RETURN(const io::ReadSummary summary, source.read(sink));
  if (!summary.fragments) return fail(ErrorCategory::kMalformed, "they are a document of their own");
  return summary.elements;
}

struct Frame {
  std::string begin, end;
};
// What encloses the elements of a document.
const Frame& frame() {
  static const Frame kFrame = [] {
    trace::MemorySink bytes(4096);
    trace::XmlWriter writer(bytes);
    (void)writer.begin();  // memory: it cannot fail
    Frame made{bytes.text(), {}};
    (void)writer.finish();
    made.end = bytes.text().substr(made.begin.size());
    return made;
  }();
  return kFrame;
}

std::string line_of(const trace::Event& event) {
  trace::MemorySink bytes(512);
  trace::XmlWriter writer(bytes, {.form = trace::XmlForm::kFragments});
  (void)writer.write(event);
  (void)writer.finish();
  return bytes.text();
}

Result<> write_at(int fd, std::string_view bytes, std::uint64_t at, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(system_error("cannot write", name));
    bytes.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  return {};
}

constexpr std::string_view kStateHead = "jtrace-stream 1";
// The numbers of a state in their order.
template <class State, class F>
void each_number(State& state, F&& f) {
  f("next", state.next), f("position", state.position), f("bytes", state.bytes), f("written", state.written);
  f("missing", state.missing), f("gaps", state.gaps), f("last-time", state.last_time), f("gap-from", state.gap_from);
}

}  // namespace

std::string state_text(const StreamState& state) {
  std::string text(kStateHead);
  text += "\nnode " + state.node + "\nstream " + state.stream + "\nfile " + state.file + "\n";
  each_number(state, [&](std::string_view key, std::uint64_t value) {
    text.append(key).append(" ").append(std::to_string(value)).append("\n");
  });
  return text + "finished " + (state.is_finished ? "1" : "0") + "\nend\n";
}

Result<StreamState> read_state(std::string_view text, const std::string& path) {
  const std::vector<std::string_view> lines = split(text, '\n');
  StreamState state;
  std::size_t at = 0;
  bool good = !lines.empty() && lines[at++] == kStateHead;
  const auto value = [&](std::string_view key) -> std::string_view {
    good = good && at < lines.size() && lines[at].starts_with(key) && lines[at].substr(key.size()).starts_with(" ");
    return good ? lines[at++].substr(key.size() + 1) : std::string_view();
  };
  state.node = value("node");
  state.stream = value("stream");
  state.file = value("file");
  each_number(state, [&](std::string_view key, std::uint64_t& number) {
    const auto parsed = parse_decimal<std::uint64_t>(value(key));
    good = good && parsed.has_value();
    number = parsed.value_or(0);
  });
  state.is_finished = value("finished") == "1";
  if (good && at < lines.size() && lines[at] == "end") return state;
  return fail(Error{.category = ErrorCategory::kMalformed,
                    .text = "no state of a collected stream",
                    .path = path,
                    .help = "if it was damaged, remove it and the stream's document: what is in the broker comes again "
                            "to a collector with another --name"});
}

Result<> StreamDocument::restore() {
  if (state_.is_finished) return {};
  const std::string name = folder_ + "/" + state_.file;
  const auto fd = open_file(name, O_RDWR);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) < state_.bytes)
    return fail(Error{.category = ErrorCategory::kRefused,
                      .text = "the document is not whole any more (" + std::to_string(state_.bytes) +
                              " bytes were written), and its stream continues",
                      .path = name,
                      .help = "put it back, or collect into another folder under another --name"});
  const std::string& end = frame().end;
  JTRACE_RETURN_IF_ERROR(write_at(fd->get(), end, state_.bytes, name));
  if (::ftruncate(fd->get(), static_cast<off_t>(state_.bytes + end.size())) != 0)
    return fail(system_error("cannot cut", name));
  return {};
}

// The definitions that the document has so far, from its file.
Result<> StreamDocument::load_defined() {
  if (defined_) return {};
  auto defined = std::make_unique<DefinedIds>();
  if (state_.bytes + pending_.size() != 0) {
    JTRACE_RETURN_IF_ERROR(commit());
    io::FaultLog faults;
    const std::string name = folder_ + "/" + state_.file;
    JTRACE_ASSIGN_OR_RETURN(auto bytes, io::open_byte_source(name));
    io::XmlSource source(std::move(bytes), name, faults);
    EachElement each([&](const trace::Event& event) {
      defined->note(event);
      return Result<>();
    });
    JTRACE_RETURN_IF_ERROR(source.read(each));
  }
  defined_ = std::move(defined);
  return {};
}

Result<> StreamDocument::read_elements(const Batch& batch) {
  EachElement each([&](const trace::Event& event) {
    if (defined_) defined_->note(event);
    return Result<>();
  });
  Result<std::uint64_t> count = read_lines(batch.elements, each);
  if (!count) return fail(std::move(count).error().with_context("its elements cannot be read"));
  if (*count == batch.header.elements) return {};
  return fail(ErrorCategory::kMalformed, "it has " + counted(*count, "element") + ", and its header says " +
                                             std::to_string(batch.header.elements));
}

Result<> StreamDocument::add_restated(const Batch& batch) {
  std::string lines;
  EachElement each([&](const trace::Event& event) {
    if (defined_->is_missing(event)) lines += line_of(event);
    return Result<>();
  });
  Result<std::uint64_t> count = read_lines(batch.restated, each);
  if (!count) return fail(std::move(count).error().with_context("what it restates cannot be read"));
  pending_ += lines;
  return {};
}

// The gap ends with the batch `last`; `until` elements came before what follows, which begins at `time`.
void StreamDocument::write_gap(std::uint64_t last, std::uint64_t until, std::uint64_t time) {
  const std::uint64_t lost = until - state_.position;
  const trace::Gap gap{.from = state_.last_time, .to = time, .lost = lost};
  const std::string option = trace::gap_text(gap), dropped = std::to_string(lost);
  if (state_.bytes + pending_.size() != 0) {  // else there is no trace that it could be in
    pending_ += line_of(trace::Option{.key = trace::kGapKey, .value = option});
    pending_ += line_of(trace::Option{.key = trace::kDroppedKey, .value = dropped});
  }
  const bool one = state_.gap_from == last;
  gap_text_ = (one ? "batch " : "batches " + std::to_string(state_.gap_from) + "-") + std::to_string(last) +
              (one ? " is" : " are") + " missing: " + dropped + " elements";
  state_.missing += lost;
  ++state_.gaps;
  state_.position = until;
  state_.gap_from = 0;
}

void StreamDocument::begin_gap(std::uint64_t before) {
  if (state_.gap_from == 0) state_.gap_from = state_.next;
  state_.next = before;
  is_dirty_ = true;
}

void StreamDocument::skip(const BatchHeader& header) {
  state_.next = header.batch + 1;
  if (header.ends_stream) {
    write_gap(header.batch, std::max(header.elements_before + header.elements, state_.position), 0);
    state_.is_finished = true;
    state_.is_cut = header.is_cut;
  }
  is_dirty_ = true;
}

Result<> StreamDocument::append(const Batch& batch) {
  const BatchHeader& header = batch.header;
  if (state_.gap_from == 0 ? header.elements_before != state_.position : header.elements_before < state_.position)
    return fail(ErrorCategory::kMalformed, "its header says that " + counted(header.elements_before, "element") +
                                               " come before it, and it is " + std::to_string(state_.position));
  if (state_.is_incomplete()) JTRACE_RETURN_IF_ERROR(load_defined());
  const std::size_t before = pending_.size();
  if (state_.bytes + pending_.size() == 0) pending_ = frame().begin;
  if (state_.is_incomplete()) {
    if (Result<> added = add_restated(batch); !added) {
      pending_.resize(before);
      return added;
    }
  }
  if (Result<> read = read_elements(batch); !read) {
    pending_.resize(before);
    return read;
  }
  if (state_.gap_from != 0) write_gap(header.batch - 1, header.elements_before, header.first_time);
  pending_ += batch.elements;
  state_.position += header.elements;
  state_.written += header.elements;
  state_.next = header.batch + 1;
  if (header.last_time != 0) state_.last_time = header.last_time;
  state_.is_finished = header.ends_stream;
  state_.is_cut = header.is_cut;
  is_dirty_ = true;
  return {};
}

Result<> StreamDocument::commit() {
  if (!is_dirty_) return {};
  if (!pending_.empty()) {
    const std::string name = folder_ + "/" + state_.file;
    JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_file(name, O_WRONLY | O_CREAT, 0600));
    const std::size_t size = pending_.size();
    JTRACE_RETURN_IF_ERROR(write_at(fd.get(), pending_ + frame().end, state_.bytes, name));
    if (::fdatasync(fd.get()) != 0) return fail(system_error("cannot sync", name));
    state_.bytes += size;
    pending_.clear();
  }
  JTRACE_RETURN_IF_ERROR(replace_file(states_, state_name(state_.node, state_.stream), state_text(state_), false));
  is_dirty_ = false;
  return {};
}

}  // namespace jtrace::fleet
