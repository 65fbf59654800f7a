#include "fleet/spool_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/strings.h"
#include "fleet/batch.h"
#include "fleet/spool_records.h"

namespace jtrace::fleet {
namespace {

constexpr const char* kStateFile = "acked";

}  // namespace

Result<SpoolReader> SpoolReader::open(const std::string& folder, std::uint64_t keep) {
  SpoolReader reader;
  reader.folder_ = folder;
  reader.keep_ = keep;
  JTRACE_ASSIGN_OR_RETURN(reader.lock_, lock_folder(folder, "sender.lock", "another sender"));
  const std::string state = read_setting(folder + "/" + kStateFile);
  reader.acked_through_ = reader.saved_ = reader.given_ = parse_decimal<std::uint64_t>(state).value_or(0);
  JTRACE_RETURN_IF_ERROR(reader.poll());
  return reader;
}

void SpoolReader::add(std::uint32_t file, std::uint64_t batch, std::uint64_t at, std::string_view bytes) {
  Place place{file, at, static_cast<std::uint32_t>(bytes.size()), batch <= acked_through_};
  if (const auto header = decode_batch_header(bytes)) {
    stream_ = header->stream;
    has_end_ |= header->ends_stream;
  }
  if (!places_.emplace(batch, place).second) return;  // a repeat
  if (place.acked) return;
  ++files_[file].waiting;
  ++waiting_;
}

Result<> SpoolReader::poll() {
  JTRACE_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> numbers, spool_files(folder_));
  for (const std::uint32_t number : numbers) {
    File& file = files_[number];
    const std::string name = spool_file_name(folder_, number);
    if (!file.fd) {
      JTRACE_ASSIGN_OR_RETURN(file.fd, open_file(name, O_RDONLY));
    }
    JTRACE_ASSIGN_OR_RETURN(file.scanned,
                            scan_spool_file(file.fd.get(), name, file.scanned,
                                            [&](std::uint64_t batch, std::uint64_t at, std::string_view bytes) {
                                              add(number, batch, at, bytes);
                                            }));
    // The writer has begun the next file: what is not a record here is damage.
    struct stat info {};
    if (number != numbers.back() && !file.is_damaged && ::fstat(file.fd.get(), &info) == 0 &&
        static_cast<std::uint64_t>(info.st_size) > file.scanned) {
      file.is_damaged = true;
      damaged_bytes_ += static_cast<std::uint64_t>(info.st_size) - file.scanned;
    }
  }
  return {};
}

std::optional<std::uint64_t> SpoolReader::next() {
  for (auto at = places_.upper_bound(given_); at != places_.end(); ++at) {
    given_ = at->first;
    if (again_ || !at->second.acked) return at->first;
  }
  again_ = false;
  return std::nullopt;
}

Result<std::string> SpoolReader::read(std::uint64_t batch) const {
  const auto place = places_.find(batch);
  if (place == places_.end()) return fail(ErrorCategory::kNotFound, "the spool has no batch " + std::to_string(batch));
  std::string bytes(place->second.size, '\0');
  const ssize_t count = ::pread(files_.at(place->second.file).fd.get(), bytes.data(), bytes.size(),
                                static_cast<off_t>(place->second.offset));
  if (count != static_cast<ssize_t>(bytes.size())) return fail(system_error("cannot read", folder_));
  return bytes;
}

void SpoolReader::acknowledge(std::uint64_t batch, std::uint64_t now) {
  const auto place = places_.find(batch);
  if (place == places_.end() || place->second.acked) return;
  place->second.acked = true;
  --waiting_;
  ++acknowledged_;
  File& file = files_[place->second.file];
  if (--file.waiting == 0) file.done = now;
  for (auto at = places_.upper_bound(acked_through_); at != places_.end() && at->second.acked; ++at)
    acked_through_ = at->first;
}

Result<> SpoolReader::save(std::uint64_t now) {
  if (saved_ != acked_through_) {
    JTRACE_RETURN_IF_ERROR(replace_file(folder_, kStateFile, std::to_string(acked_through_) + "\n", false));
    saved_ = acked_through_;
  }
  // Never the last file: the writer is in it.
  while (files_.size() > 1) {
    const auto file = files_.begin();
    if (file->second.waiting != 0) break;
    if (file->second.done == 0) file->second.done = now;  // of an earlier reader
    if (now < file->second.done + keep_) break;
    if (::unlink(spool_file_name(folder_, file->first).c_str()) != 0)
      return fail(system_error("cannot remove", spool_file_name(folder_, file->first)));
    std::erase_if(places_, [&](const auto& place) { return place.second.file == file->first; });
    files_.erase(file);
  }
  return {};
}

void SpoolReader::remove() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

}  // namespace jtrace::fleet
