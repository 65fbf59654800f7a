// TraceOutput: the destination of a trace: file, pipe or standard output, compressed by its name; XML,
// fragments, or a spill; rotated at --max-size. Opened before the JVM is touched. Owns its sinks. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "session/document/document_output.h"
#include "session/options/options.h"
#include "trace/byte_sink.h"
#include "trace/event_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::session {

// How the options want the XML of a document; without single_trace, which the caller knows.
trace::XmlWriterOptions xml_options(const TraceOptions& options);

class TraceOutput final : public DocumentOutput {
 public:
  // Errors name `path`: not writable, a directory, no room.
  static Result<std::unique_ptr<TraceOutput>> open(const std::string& path, const TraceOptions& options);
  // Removes a file that open() has created and that has no contents yet.
  ~TraceOutput() override;

  // Not for a spill, which has no events.
  trace::EventSink& sink() override { return watched_ ? static_cast<trace::EventSink&>(*watched_) : *writer_; }
  // Sees each event after the document has it; borrowed. Before begin().
  void set_watcher(trace::EventSink* watcher);
  trace::ByteSink& bytes_sink() { return *bytes_; }
  // From here on the file is kept.
  Result<> begin() override;
  Result<> flush() override { return bytes_->flush(); }
  void begin_closing() override { bytes_->begin_closing(); }
  Result<> finish() override { return writer_ ? writer_->finish() : bytes_->finish(); }
  // Renames the file to FILE.1 (FILE.1 to FILE.2 ..., files beyond `keep` are removed), and begins a new one in FILE.
  // kRefused if it is not a regular file.
  Result<> next_document(std::uint32_t keep) override;

  // As in ByteSink, for this document and those after it.
  void set_give_up(std::function<bool()> give_up);
  bool is_file() const { return is_file_; }
  // With --rotate: if the head alone (every live thread) reaches the limit, each document still gets some events.
  bool is_nearly_full(std::uint64_t reserve) const override;
  void head_is_written() override;
  const std::string& path() const { return path_; }
  // Bytes at the destination: compressed ones if it is compressed.
  std::uint64_t bytes() const { return earlier_bytes_ + destination_->bytes_written(); }

 private:
  TraceOutput(std::string path, const TraceOptions& options) : path_(std::move(path)), options_(options) {}
  Result<> open_sinks();

  std::string path_;
  TraceOptions options_;
  bool is_file_ = false;
  bool remove_if_unused_ = false;
  std::unique_ptr<trace::ByteSink> bytes_;
  trace::ByteSink* destination_ = nullptr;  // below the compression
  std::unique_ptr<trace::XmlWriter> writer_;
  trace::EventSink* watcher_ = nullptr;
  std::optional<trace::TeeSink> watched_;  // writer_ and watcher_
  std::function<bool()> give_up_;
  std::uint64_t head_size_ = 0;      // bytes
  std::uint64_t earlier_bytes_ = 0;  // of documents that are finished
};

}  // namespace jtrace::session
