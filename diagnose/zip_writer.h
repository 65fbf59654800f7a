// ZipWriter: a zip archive of some files, made in memory: deflated, or stored if that is smaller.
//
// PKWARE's APPNOTE 6.3, without its extensions for archives beyond 4 GiB: such ones are refused. All members are
// regular files of mode 0600. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace jtrace::diagnose {

class ZipWriter {
 public:
  // `realtime`: the time of all members, ns since the epoch; an archive has it in UTC, in steps of two seconds.
  explicit ZipWriter(std::uint64_t realtime);
  // `name` is relative, with slashes, and new. Errors: kRefused, if the archive would be too large.
  Result<> add(std::string_view name, std::string_view content);
  // The whole archive; the writer is empty then.
  std::string finish();

 private:
  std::string out_, directory_;
  std::uint32_t stamp_;  // date and time as MS-DOS has them
  std::uint16_t count_ = 0;
};

}  // namespace jtrace::diagnose
