// Batcher: the sink that makes batches of a document. The same document with the same options gives the same batches
// (apart from their clocks), so that a sender that died can be repeated: their numbers are the same. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fleet/batch.h"
#include "fleet/definitions.h"
#include "trace/byte_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::fleet {

struct BatcherOptions {
  std::string stream;                      // a token
  std::string producer;                    // "jtrace 0.1.0"
  std::size_t unpacked_size = 512u << 10;  // a batch is closed at this size: messages of 30 to 70 kB
  std::uint32_t segment_batches = 32;      // a segment ends after so many
};

class Batcher final : public trace::EventSink {
 public:
  // Takes a whole batch. False: there was no room, it is lost (which the next one says: it begins a segment).
  using Take = std::function<Result<bool>(const BatchHeader& header, const std::string& bytes)>;
  Batcher(BatcherOptions options, Take take);

  Result<> write(const trace::Event& event) override;
  // Closes the open batch if it has elements and was begun at least `age` ns ago.
  Result<> close_if_older(std::uint64_t age);
  // The document has no end: finish() says so.
  void note_cut() { is_cut_ = true; }
  // Closes the last batch, which ends the stream.
  Result<> finish() override;

  std::uint64_t batches() const { return number_; }
  std::uint64_t elements() const { return elements_before_ + open_.elements; }
  std::uint64_t lost_batches() const { return lost_batches_; }
  std::uint64_t lost_elements() const { return lost_elements_; }

 private:
  void note(const trace::Event& event);
  Result<> close(bool ends_stream);
  Batch& complete(Batch& batch, bool ends_stream) const;
  Result<> hand_over(const Batch& batch);
  Result<> hand_over_without_last(Batch& batch);
  void begin_batch();

  BatcherOptions options_;
  Take take_;
  Definitions definitions_;
  std::unique_ptr<trace::MemorySink> bytes_;
  std::unique_ptr<trace::XmlWriter> writer_;
  static constexpr const char* kUnknown = "unknown";  // of a stream that does not say it

  std::string node_ = kUnknown, process_ = kUnknown, agent_ = kUnknown, trace_ = kUnknown;
  BatchHeader open_;
  struct {
    std::size_t size = 0;
    std::uint64_t collation = 0, time = 0;
  } before_last_;             // of the open batch without its last element
  std::uint64_t opened_ = 0;  // monotonic
  std::uint64_t number_ = 0, previous_ = 0, elements_before_ = 0;
  std::uint64_t lost_batches_ = 0, lost_elements_ = 0;
  std::uint32_t segment_ = 1, in_segment_ = 0;
  bool begins_segment_ = true, is_cut_ = false;
};

}  // namespace jtrace::fleet
