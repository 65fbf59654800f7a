// MappedFile: the mapped file of a live JVM: the fastest way to read it repeatedly.
//
// For a file that its JVM maps, as was checked; the JVM never truncates it. If another process truncates it, the read
// that encounters this and all later ones fail (kNotFound; base/mapping_guard.h); use RegionFile then. Ownership: owns
// the mapping, not the descriptor; movable. Threads: any.
#pragma once

#include <boost/interprocess/mapped_region.hpp>

#include "base/mapping_guard.h"
#include "base/result.h"
#include "perfdata/region_file.h"

namespace jtrace::perfdata {

class MappedFile final : public target::MemoryReader {
 public:
  // Maps the size that the file had when it was opened. Error: kSystem.
  static Result<MappedFile> map(const RegionFile& file);

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

 private:
  MappedFile(boost::interprocess::mapped_region region, std::string path)
      : region_(std::move(region)),
        path_(std::move(path)),
        guard_({static_cast<const std::byte*>(region_.get_address()), region_.get_size()}) {}

  boost::interprocess::mapped_region region_;
  std::string path_;
  MappingGuard guard_;
};

}  // namespace jtrace::perfdata
