// SpoolReader: what of a spool is to be sent, and what was acknowledged. It follows the writer, which may still write.
//
// A file is deleted when all of it is acknowledged and `keep` has passed since: an acknowledgement of JetStream may
// mean memory and not a disk for that long. resend_all() gives what is kept once more, acknowledged or not. Killed at
// any moment, the next reader gives everything again that is not noted as acknowledged (state file `acked`, at most
// once a second): repeats are harmless, batches have numbers.
//
// One reader a folder (a lock). One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::fleet {

class SpoolReader {
 public:
  // `keep`: ns. kRefused: another reader has the folder.
  static Result<SpoolReader> open(const std::string& folder, std::uint64_t keep);

  // Looks for batches that were added.
  Result<> poll();
  // The next batch that is to be sent, in the order of their numbers; nothing: all that are there were given.
  std::optional<std::uint64_t> next();
  // The bytes of a batch that next() gave.
  Result<std::string> read(std::uint64_t batch) const;
  void acknowledge(std::uint64_t batch, std::uint64_t now);
  // next() begins again: with those that are not acknowledged, or with all that are kept.
  void resend() { given_ = acked_through_; }
  void resend_all() {
    given_ = 0;
    again_ = true;
  }

  // Notes what was acknowledged, and deletes what need not be kept. `now`: monotonic.
  Result<> save(std::uint64_t now);
  // Everything that is there is acknowledged.
  bool is_empty() const { return waiting_ == 0; }
  // The stream's last batch is there.
  bool has_end() const { return has_end_; }
  std::uint64_t waiting() const { return waiting_; }
  std::uint64_t acknowledged() const { return acknowledged_; }
  const std::string& stream() const { return stream_; }
  // Bytes that are no batches, and with them what followed in their files: damage of the disk.
  std::uint64_t damaged_bytes() const { return damaged_bytes_; }
  // Deletes the whole folder.
  void remove();

 private:
  struct Place {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    bool acked = false;
  };
  struct File {
    UniqueFd fd;
    std::uint64_t scanned = 0;
    std::uint64_t waiting = 0;  // batches that are not acknowledged
    std::uint64_t done = 0;     // when the last one was; 0: not yet
    bool is_damaged = false;
  };
  void add(std::uint32_t file, std::uint64_t batch, std::uint64_t at, std::string_view bytes);

  std::string folder_, stream_;
  std::uint64_t keep_ = 0;
  UniqueFd lock_;
  std::map<std::uint32_t, File> files_;
  std::map<std::uint64_t, Place> places_;
  std::uint64_t given_ = 0, acked_through_ = 0, saved_ = 0;
  std::uint64_t waiting_ = 0, acknowledged_ = 0, damaged_bytes_ = 0;
  bool has_end_ = false;
  bool again_ = false;
};

}  // namespace jtrace::fleet
