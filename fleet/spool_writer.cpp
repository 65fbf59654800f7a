#include "fleet/spool_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/file.h"
#include "fleet/spool_records.h"

namespace jtrace::fleet {

Result<SpoolWriter> SpoolWriter::open(const std::string& folder, const SpoolLimits& limits) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(system_error(error.value(), "cannot make the folder of a spool", folder));
  if (::chmod(folder.c_str(), 0700) != 0) return fail(system_error("cannot make private", folder));
  SpoolWriter writer;
  writer.folder_ = folder;
  writer.limits_ = limits;
  JTRACE_ASSIGN_OR_RETURN(writer.lock_, lock_folder(folder, "writer.lock", "another writer"));
  JTRACE_RETURN_IF_ERROR(writer.recover());
  return writer;
}

Result<> SpoolWriter::recover() {
  JTRACE_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> files, spool_files(folder_));
  for (const std::uint32_t number : files) {
    const std::string name = spool_file_name(folder_, number);
    JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_file(name, O_RDWR));
    const auto note = [&](std::uint64_t batch, std::uint64_t, std::string_view) {
      last_batch_ = std::max(last_batch_, batch);
    };
    JTRACE_ASSIGN_OR_RETURN(const std::uint64_t whole, scan_spool_file(fd.get(), name, 0, note));
    file_ = number;
    // Damage further in front is left for the reader to name.
    if (number == files.back()) JTRACE_RETURN_IF_ERROR(cut(fd.get(), whole));
  }
  total_ = spool_size(folder_);
  return next_file();
}

// Ends a file after its whole records.
Result<> SpoolWriter::cut(int fd, std::uint64_t whole) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail(system_error("cannot examine", folder_));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size == whole) return {};
  cut_bytes_ = size - whole;
  if (::ftruncate(fd, static_cast<off_t>(whole)) != 0) return fail(system_error("cannot cut", folder_));
  return {};
}

Result<> SpoolWriter::next_file() {
  ++file_;
  JTRACE_ASSIGN_OR_RETURN(fd_,
                          open_file(spool_file_name(folder_, file_), O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600));
  in_file_ = 0;
  return {};
}

bool SpoolWriter::has_room(std::uint64_t size) {
  if (total_ + size > limits_.size) total_ = spool_size(folder_);
  if (total_ + size > limits_.size) return false;
  struct statvfs disk {};
  if (limits_.min_free == 0 || ::fstatvfs(fd_.get(), &disk) != 0) return true;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize >= limits_.min_free + size;
}

Result<bool> SpoolWriter::append(std::uint64_t batch, std::string_view bytes) {
  const std::string record = spool_record(batch, bytes);
  if (!has_room(record.size())) return false;
  if (in_file_ != 0 && in_file_ + record.size() > limits_.file_size) {
    JTRACE_RETURN_IF_ERROR(sync());
    JTRACE_RETURN_IF_ERROR(next_file());
  }
  if (Result<> written = write_whole(fd_.get(), record, folder_); !written) {
    const int why = written.error().errnum;
    if (::ftruncate(fd_.get(), static_cast<off_t>(in_file_)) != 0) return fail(system_error("cannot cut", folder_));
    if (why == ENOSPC || why == EDQUOT || why == EFBIG) return false;
    return fail(std::move(written).error());
  }
  in_file_ += record.size();
  total_ += record.size();
  last_batch_ = batch;
  return true;
}

Result<> SpoolWriter::sync() {
  if (::fdatasync(fd_.get()) != 0) return fail(system_error("cannot sync", folder_));
  return {};
}

}  // namespace jtrace::fleet
