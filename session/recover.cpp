#include "session/recover.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "session/document/drainer.h"
#include "session/document/partial_document.h"
#include "session/document/session_text.h"
#include "session/document/trace_output.h"
#include "session/left_pools.h"
#include "session/pool_file.h"
#include "session/spill/spill_source.h"
#include "trace/byte_sink.h"
#include "trace/file_sink.h"
#include "trace/io/byte_source.h"
#include "trace/io/compress_sink.h"
#include "trace/record/spill_format.h"
#include "trace/trace_document.h"
#include "trace/xml_writer.h"

namespace jtrace::session {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 30;

// A file without a head gets no end either.
trace::XmlWriterOptions options_after(const PartialDocument& document, const TraceOptions& options) {
  trace::XmlWriterOptions xml = xml_options(options);
  if (document.has_head) xml.form = trace::XmlForm::kDocument;
  else if (xml.form == trace::XmlForm::kDocument) xml.form = trace::XmlForm::kFragments;
  return xml;
}

// The document continues the file: first the file's lines, then what the pool has after them.
class Continuation {
 public:
  Continuation(trace::ByteSink& bytes, const Session& session, const PartialDocument& document)
      : bytes_(bytes),
        writer_(bytes, options_after(document, session.options)),
        trace_(writer_, !session.options.strict_dtd, session.options.writes_fragments()),
        builder_(trace_.events(), session.anchor, builder_options(session.options)),
        session_(session),
        document_(document) {
    writer_.go_on();
  }

  // Writes the document to its end, and finishes the destination.
  Result<> write(std::string_view text, trace::record::PoolReader& reader) {
    JTRACE_RETURN_IF_ERROR(copy(text.substr(0, document_.whole_size)));
    trace_.resume(document_.agent_id, document_.trace_id, document_.collation);
    const std::uint64_t last = monotonic_of(document_.last_event_time);
    builder_.go_on_after(document_, last);
    for (bool more = true; more;) {
      JTRACE_ASSIGN_OR_RETURN(const auto pass, reader.drain(builder_, trace::record::PoolReader::Mode::kReadOnly));
      more = pass.more;
    }
    JTRACE_RETURN_IF_ERROR(builder_.finish());
    events_ = trace_.events().total();
    const std::uint64_t end = session_.anchor.wall_of(std::max({builder_.last_time(), last, session_.start}));
    JTRACE_RETURN_IF_ERROR(trace_.end_trace(end));
    JTRACE_RETURN_IF_ERROR(trace_.end(end));
    return writer_.finish();
  }
  std::uint64_t events() const { return events_; }
  std::uint64_t malformed() const { return builder_.malformed(); }

 private:
  Result<> copy(std::string_view text) {
    constexpr std::size_t kPiece = 256u << 10;
    while (!text.empty()) {
      JTRACE_RETURN_IF_ERROR(bytes_.write(text.substr(0, kPiece)));
      text.remove_prefix(std::min(kPiece, text.size()));
    }
    return {};
  }
  std::uint64_t monotonic_of(std::uint64_t wall) const {
    return wall == 0 ? 0 : wall - session_.anchor.realtime + session_.anchor.monotonic;
  }

  trace::ByteSink& bytes_;
  trace::XmlWriter writer_;
  trace::TraceDocument trace_;
  EventBuilder builder_;
  const Session& session_;
  const PartialDocument& document_;
  std::uint64_t events_ = 0;
};

Result<std::unique_ptr<trace::ByteSink>> open_bytes(const std::string& path) {
  if (path == "-") return std::unique_ptr<trace::ByteSink>(new trace::FdSink(STDOUT_FILENO, "standard output"));
  JTRACE_ASSIGN_OR_RETURN(auto file, trace::FileSink::create(path, {.visible_at_once = false}));
  return trace::io::compressing(std::move(file), trace::io::compression_of_name(path));
}

// The text of the document, decompressed.
Result<std::string> read_document(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(const auto source, trace::io::open_byte_source(path));
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::string text;
  for (std::size_t count = kPiece; count == kPiece && text.size() < kLargestFile;) {
    const std::size_t start = text.size();
    text.resize(start + kPiece);
    JTRACE_ASSIGN_OR_RETURN(count, trace::io::read_fully(*source, text.data() + start, kPiece));
    text.resize(start + count);
  }
  return text;
}

Result<Recovered> continue_file(const Session& session, std::string_view text, const PartialDocument& document,
                                trace::record::PoolReader& reader, const std::string& output) {
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_bytes(output));
  Continuation continuation(*bytes, session, document);
  JTRACE_RETURN_IF_ERROR(continuation.write(text, reader));
  return Recovered{.from_file = document.whole_size,
                   .events = continuation.events(),
                   .malformed = reader.counts().malformed + continuation.malformed(),
                   .dropped = reader.counts().dropped_events,
                   .whole = true};
}

// There is no file: makes a document of what the pool holds.
Result<Recovered> write_anew(Session session, trace::record::PoolReader& reader, const std::string& output) {
  session.options.rotate = 0;
  session.options.max_size = 0;
  session.options.min_free = 0;
  session.options.spill.clear();
  JTRACE_ASSIGN_OR_RETURN(const auto opened, TraceOutput::open(output, session.options));
  Drainer drainer(reader, *opened, session.identity, session.options, session.anchor);
  JTRACE_RETURN_IF_ERROR(drainer.begin(session.start));
  JTRACE_RETURN_IF_ERROR(drainer.end(Drainer::Mode::kReadOnly));
  return Recovered{
      .events = drainer.figures().events, .malformed = drainer.figures().malformed, .dropped = drainer.dropped()};
}

// False if there is no file, or its jtrace was killed before the first block was written: nothing of the trace is in
// it.
bool is_begun_spill(const std::string& path) {
  const auto source = trace::io::open_byte_source(path);
  if (!source) return false;
  trace::record::SpillHeader header{};
  const auto count = trace::io::read_fully(**source, reinterpret_cast<char*>(&header), sizeof header);
  if (!count || *count < sizeof header) return false;
  trace::record::BlockHeader block{};
  const auto first = trace::io::read_fully(**source, reinterpret_cast<char*>(&block), sizeof block);
  return first && *first == sizeof block;
}

// Makes the document of a spill and of what the pool has after it.
Result<Recovered> continue_spill(const Session& session, std::unique_ptr<trace::io::ByteSource> spill,
                                 trace::record::PoolReader& reader, const std::string& output) {
  trace::io::FaultLog faults;
  const trace::io::ByteSource& below = *spill;
  JTRACE_ASSIGN_OR_RETURN(const auto source, open_spill(std::move(spill), session.output, faults, &reader));
  JTRACE_ASSIGN_OR_RETURN(const auto bytes, open_bytes(output));
  // A spill may have several traces: no single_trace.
  trace::XmlWriter writer(*bytes, xml_options(session.options));
  JTRACE_ASSIGN_OR_RETURN(const trace::io::ReadSummary summary, source->read(writer));
  JTRACE_RETURN_IF_ERROR(writer.finish());
  return Recovered{.from_file = below.consumed(),
                   .elements = summary.elements,
                   .malformed = reader.counts().malformed + faults.count("senseless record"),
                   .dropped = reader.counts().dropped_events,
                   .whole = true};
}

}  // namespace

Result<Recovered> recover(const std::string& pool_path, const std::string& output) {
  if (look_at_pool(pool_path).state == LeftPool::State::kBlank)
    return fail(ErrorCategory::kRefused, "nothing was recorded in " + pool_path + ": its jtrace was killed as it began",
                "jtrace recover " + shell_word(pool_path) + " --remove removes it");
  JTRACE_ASSIGN_OR_RETURN(const PoolFile pool, PoolFile::open(pool_path));
  auto opened = trace::record::PoolReader::open(pool.memory());
  if (!opened) return fail(opened.error().with_context(pool_path));
  trace::record::PoolReader& reader = *opened;
  JTRACE_ASSIGN_OR_RETURN(const Session session, read_session(reader.session_text()));
  if (session.output == output)
    return fail(ErrorCategory::kUsage, output + " is the trace's own file", "give another name with -o");
  if (session.options.spills()) {
    if (!is_begun_spill(session.output)) return write_anew(session, reader, output);
    JTRACE_ASSIGN_OR_RETURN(auto spill, trace::io::open_byte_source(session.output));
    return continue_spill(session, std::move(spill), reader, output);
  }
  const auto text = read_document(session.output);
  if (!text) return write_anew(session, reader, output);
  const PartialDocument document = read_partial_document(*text);
  if (document.trace_id.empty()) return write_anew(session, reader, output);
  return continue_file(session, *text, document, reader, output);
}

}  // namespace jtrace::session
