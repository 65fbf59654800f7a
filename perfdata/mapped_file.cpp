#include "perfdata/mapped_file.h"

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <cstring>

namespace jtrace::perfdata {
namespace {

namespace bip = boost::interprocess;

// A descriptor for Boost.Interprocess, whose file_mapping would open the path itself, through symlinks.
struct Descriptor {
  int fd;
  bip::mapping_handle_t get_mapping_handle() const { return bip::ipcdetail::mapping_handle_from_file_handle(fd); }
};

}  // namespace

Result<MappedFile> MappedFile::map(const RegionFile& file) {
  try {
    return MappedFile(bip::mapped_region(Descriptor{file.fd()}, bip::read_only, 0, file.facts().size), file.path());
  } catch (const bip::interprocess_exception& error) {
    return fail(system_error(error.get_native_error(), "cannot map", file.path()));
  }
}

Result<std::size_t> MappedFile::read_some(target::Address address, std::span<std::byte> out) const {
  const std::size_t size = region_.get_size();
  if (address >= size || guard_.was_cut()) {
    Error error{.category = address >= size ? ErrorCategory::kMalformed : ErrorCategory::kNotFound,
                .text = address >= size ? "the file ends here" : "the file was truncated while it was mapped"};
    error.path = path_;
    return fail(std::move(error));
  }
  const std::size_t count = std::min<std::size_t>(out.size(), size - address);
  std::memcpy(out.data(), static_cast<const std::byte*>(region_.get_address()) + address, count);
  return guard_.was_cut() ? read_some(address, out) : Result<std::size_t>(count);
}

}  // namespace jtrace::perfdata
