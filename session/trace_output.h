// TraceOutput: the document a trace goes into: file, pipe or standard output; XML, or fragments; rotated at --max-size.
// Opened before the JVM is touched. Owns its sinks. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "session/options.h"
#include "trace/byte_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::session {

class TraceOutput {
 public:
  // Errors name `path`: not writable, a folder, no room.
  static Result<std::unique_ptr<TraceOutput>> open(const std::string& path, const TraceOptions& options);
  // Removes a file that open() has made and that holds nothing yet.
  ~TraceOutput();

  trace::EventSink& sink() { return *writer_; }
  // The head of the document is on its way; from here on the file stays.
  Result<> begin();
  Result<> flush() { return bytes_->flush(); }
  // Room for the end of the document, where the destination is full.
  void begin_closing() { bytes_->begin_closing(); }
  Result<> finish() { return writer_->finish(); }
  // The document is finished; it moves to FILE.1 (FILE.1 to FILE.2 ..., what is beyond `keep` goes), and a new one
  // begins in FILE. The caller writes its head. kRefused for what is no regular file.
  Result<> next_document(std::uint32_t keep);

  // ByteSink's, for this document and those after it.
  void set_give_up(std::function<bool()> give_up);
  bool is_file() const { return is_file_; }
  // --rotate, and the document is nearly at --max-size. Where its head alone (every thread that lives) is that long,
  // each document gets some events all the same.
  bool wants_rotation() const;
  void head_is_written();  // of a further document
  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return earlier_bytes_ + bytes_->bytes_written(); }
  std::uint64_t lost_bytes() const { return bytes_->lost_bytes(); }

 private:
  TraceOutput(std::string path, const TraceOptions& options) : path_(std::move(path)), options_(options) {}
  Result<> open_sinks();

  std::string path_;
  TraceOptions options_;
  bool is_file_ = false;
  bool remove_if_unused_ = false;
  std::unique_ptr<trace::ByteSink> bytes_;
  std::unique_ptr<trace::XmlWriter> writer_;
  std::function<bool()> give_up_;
  std::uint64_t head_size_ = 0;      // bytes
  std::uint64_t earlier_bytes_ = 0;  // of documents that are finished
};

}  // namespace jtrace::session
