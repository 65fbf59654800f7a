// TraceOutput: the destination of a trace: file, pipe or standard output, compressed by its name; XML,
// fragments, or a spill; rotated at --max-size. Opened before the JVM is touched. Owns its sinks. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "session/document/document_output.h"
#include "session/options/options.h"
#include "trace/byte_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::session {

class TraceOutput final : public DocumentOutput {
 public:
  // Errors name `path`: not writable, a folder, no room.
  static Result<std::unique_ptr<TraceOutput>> open(const std::string& path, const TraceOptions& options);
  // Removes a file that open() has made and that holds nothing yet.
  ~TraceOutput() override;

  // Not of a spill, which has no events.
  trace::EventSink& sink() override { return *writer_; }
  trace::ByteSink& bytes_sink() { return *bytes_; }
  // From here on the file is kept.
  Result<> begin() override;
  Result<> flush() override { return bytes_->flush(); }
  void begin_closing() override { bytes_->begin_closing(); }
  Result<> finish() override { return writer_ ? writer_->finish() : bytes_->finish(); }
  // It moves to FILE.1 (FILE.1 to FILE.2 ..., what is beyond `keep` goes), and a new one begins in FILE. kRefused for
  // what is no regular file.
  Result<> next_document(std::uint32_t keep) override;

  // ByteSink's, for this document and those after it.
  void set_give_up(std::function<bool()> give_up);
  bool is_file() const { return is_file_; }
  // With --rotate: where its head alone (every thread that lives) is that long, each document gets some events all the
  // same.
  bool is_nearly_full(std::uint64_t reserve) const override;
  void head_is_written() override;
  const std::string& path() const { return path_; }
  // That the destination takes: packed ones where it is packed.
  std::uint64_t bytes() const { return earlier_bytes_ + destination_->bytes_written(); }

 private:
  TraceOutput(std::string path, const TraceOptions& options) : path_(std::move(path)), options_(options) {}
  Result<> open_sinks();

  std::string path_;
  TraceOptions options_;
  bool is_file_ = false;
  bool remove_if_unused_ = false;
  std::unique_ptr<trace::ByteSink> bytes_;
  trace::ByteSink* destination_ = nullptr;  // below what packs
  std::unique_ptr<trace::XmlWriter> writer_;
  std::function<bool()> give_up_;
  std::uint64_t head_size_ = 0;      // bytes
  std::uint64_t earlier_bytes_ = 0;  // of documents that are finished
};

}  // namespace jtrace::session
