// StreamDocument: the document that a collector writes of one stream, and how far it is. What it holds is exact at any
// moment: commit() makes the file's bytes durable, then the state that names their number; after a kill the file is cut
// back to that number. The file always ends with the document's end, so it can be read while it grows.
//
// Elements are appended as they came, after they were read and counted. After a gap, or if the stream's begin is not
// there, what a segment restates is added as far as the document lacks it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/batch.h"
#include "fleet/defined_ids.h"

namespace jtrace::fleet {

struct StreamState {
  std::string node, stream;
  std::string file;            // name in the output folder
  std::uint64_t next = 1;      // the batch that comes next
  std::uint64_t position = 0;  // elements of all batches before it, the missing ones included
  std::uint64_t bytes = 0;     // of the file that are valid, without the end
  std::uint64_t written = 0;   // elements of the stream in the file
  std::uint64_t missing = 0;   // elements that are not
  std::uint64_t gaps = 0;
  std::uint64_t last_time = 0;  // of an element; ns since the epoch
  std::uint64_t gap_from = 0;   // the first batch of a gap that waits for a segment's begin; 0: none
  bool is_finished = false;
  bool is_cut = false;  // when it is finished: the sender's document has no end

  // Definitions may be missing: what is restated is looked at.
  bool is_incomplete() const { return gaps != 0 || gap_from != 0; }
};
std::string state_text(const StreamState& state);
// kMalformed: it is not such a text.
Result<StreamState> read_state(std::string_view text, const std::string& path);

class StreamDocument {
 public:
  // `folder`: of the output; `states`: of the states.
  StreamDocument(std::string folder, std::string states, StreamState state)
      : folder_(std::move(folder)), states_(std::move(states)), state_(std::move(state)) {}

  // After a restart: cuts the file back to what the state says. kRefused: the file is shorter, so it was changed.
  Result<> restore();

  // Appends the batch state().next. kMalformed: its elements are not what its header says; nothing was taken.
  Result<> append(const Batch& batch);
  // The batches from state().next to `before` - 1 are missing. The gap is written when a batch that begins a segment
  // comes.
  void begin_gap(std::uint64_t before);
  // This batch came, but needs definitions that a missing one had: it becomes part of the gap. If it is the stream's
  // last one, the gap is written.
  void skip(const BatchHeader& header);

  // What a gap was that was written, since the last call: "" or a sentence.
  std::string take_gap() { return std::move(gap_text_); }
  bool is_dirty() const { return is_dirty_; }
  // Elements, their number and the end are in the file, then the state. The folder of states is not synced.
  Result<> commit();
  const StreamState& state() const { return state_; }
  // The name of its state's file: tokens have no dot.
  static std::string state_name(const std::string& node, const std::string& stream) { return node + "." + stream; }

 private:
  Result<> load_defined();
  Result<> read_elements(const Batch& batch);
  Result<> add_restated(const Batch& batch);
  void write_gap(std::uint64_t last, std::uint64_t until, std::uint64_t time);

  std::string folder_, states_;
  StreamState state_;
  std::string pending_;                  // to be written at state_.bytes
  std::unique_ptr<DefinedIds> defined_;  // null: not needed yet
  std::string gap_text_;
  bool is_dirty_ = false;
};

}  // namespace jtrace::fleet
