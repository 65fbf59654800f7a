// Collection: the output folder of a collector: a document for each stream (NAME.trcxml), their states (.state/), and
// what could not be taken (parked/). Knows nothing of the network: it is given messages, and says which may be
// acknowledged, once they are on the disk. Every batch is taken once, in its order; repeats are recognised by their
// number, also after a restart.
//
// A stream belongs to a node: what another node sends under its name is a stream of its own.
//
// A batch that comes before its predecessor is held. When the predecessor is known to be lost (the sender reports it),
// has not come for `gap_after`, or too many are held, the gap is written, and named.
//
// Memory: what is held (kMaxHeld bytes in all; what would exceed it is not acknowledged, so it comes again). One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fleet/stream_document.h"

namespace jtrace::fleet {

struct CollectionOptions {
  std::uint64_t gap_after = 120'000'000'000;  // ns
  std::uint64_t most_parked = 1000;           // files; what is more is only counted
};

struct CollectionTotals {
  std::uint64_t batches = 0, elements = 0;  // taken since the start
  std::uint64_t duplicates = 0, parked = 0, gaps = 0, missing = 0;
  std::uint64_t finished = 0;  // streams
  std::uint64_t cut = 0;       // streams of documents without an end
};

class Collection {
 public:
  static constexpr std::size_t kMaxHeld = 32u << 20;
  static constexpr std::size_t kMaxHeldOfStream = 256;  // batches

  // Makes the folder where there is none; restores what a killed collector left. kRefused: another one has it.
  static Result<Collection> open(const std::string& folder, const CollectionOptions& options = {});

  // Takes a message. `reply`: what commit() returns when it may be acknowledged. `now`: monotonic. Errors are those of
  // the disk.
  Result<> take(std::string_view reply, std::string_view subject, std::string_view bytes, std::uint64_t now);
  // Writes the gaps whose time has come.
  Result<> tick(std::uint64_t now);
  // Makes everything taken durable; returns the replies of messages that need not come again.
  Result<std::vector<std::string>> commit();

  // Lines about gaps, parked messages, clocks and finished documents since the last call.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
  const CollectionTotals& totals() const { return totals_; }
  // Batches that wait for another one.
  std::size_t held() const;
  // Names this folder: random, made with it.
  const std::string& id() const { return id_; }
  std::vector<StreamState> states() const;

 private:
  struct Held {
    BatchHeader header;
    std::string bytes, reply, subject;
  };
  struct Stream {
    std::unique_ptr<StreamDocument> document;
    std::map<std::uint64_t, Held> held;
    std::uint64_t waiting_since = 0;  // monotonic
  };

  Result<> load();
  Stream& stream_of(const BatchHeader& header);
  Result<> write(Stream& stream, Held item);
  Result<> write_held(Stream& stream, std::uint64_t now, std::size_t most);
  void hold(Stream& stream, Held item, std::uint64_t now);
  Result<> park(std::string_view bytes, const std::string& name, const std::string& why);
  void note_clock(const BatchHeader& header);

  void note_progress(StreamDocument& document);

  std::string folder_, states_, parked_, id_;
  CollectionOptions options_;
  UniqueFd lock_;
  std::map<std::string, Stream, std::less<>> streams_;  // by the names of their states
  std::size_t held_bytes_ = 0;
  std::vector<std::string> replies_, notes_;
  std::map<std::string, std::uint64_t> ahead_;  // of nodes: by how much it was reported
  CollectionTotals totals_;
};

}  // namespace jtrace::fleet
