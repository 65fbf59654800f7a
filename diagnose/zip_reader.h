// ZipReader: the members of a zip archive that is in memory, from anybody: each size is checked before it is believed.
//
// Nothing is ever written to a path that an archive names. What bundles do not have is refused: encryption, several
// disks, archives beyond 4 GiB, names that climb, two members of one name, more than kMostMembers, members that are
// larger than kMostBytes. Errors: kMalformed. Threads: const functions from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::diagnose {

class ZipReader {
 public:
  static constexpr std::size_t kMostMembers = 4096;
  static constexpr std::uint32_t kMostBytes = 256u << 20;  // of one member, unpacked

  static Result<ZipReader> open(std::string bytes);

  bool has(std::string_view name) const { return members_.find(name) != members_.end(); }
  // Errors: kNotFound too.
  Result<std::string> read(std::string_view name) const;

 private:
  struct Member {
    std::uint16_t method = 0;
    std::uint32_t checksum = 0, packed = 0, size = 0, header = 0;
  };
  explicit ZipReader(std::string bytes) : bytes_(std::move(bytes)) {}
  Result<std::size_t> find_end() const;
  Result<> read_directory();
  Result<std::string_view> packed_bytes(const Member& member) const;

  std::string bytes_;
  std::map<std::string, Member, std::less<>> members_;
};

}  // namespace jtrace::diagnose
