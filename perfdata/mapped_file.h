// MappedFile: the file of a live JVM, mapped: the fastest way to read it again and again.
//
// Meant for a file that its JVM is proven to map, which it never cuts. Should somebody else cut it all the same, the
// SIGBUS of a read of ours is caught and that read and all later ones fail (kNotFound); read by RegionFile then. The
// handler is put in place with the first MappedFile and leaves every other SIGBUS as it was.
// Ownership: owns the mapping, not the descriptor; movable. Threads: any.
#pragma once

#include <atomic>
#include <boost/interprocess/mapped_region.hpp>
#include <memory>

#include "base/result.h"
#include "perfdata/region_file.h"

namespace jtrace::perfdata {

class MappedFile final : public target::MemoryReader {
 public:
  // Of the size that the file had when it was opened. Error: kSystem.
  static Result<MappedFile> map(const RegionFile& file);

  Result<std::size_t> read_some(target::Address address, std::span<std::byte> out) const override;

 private:
  MappedFile(boost::interprocess::mapped_region region, std::string path)
      : region_(std::move(region)), path_(std::move(path)), cut_(std::make_unique<std::atomic<bool>>(false)) {}

  boost::interprocess::mapped_region region_;
  std::string path_;
  std::unique_ptr<std::atomic<bool>> cut_;
};

}  // namespace jtrace::perfdata
