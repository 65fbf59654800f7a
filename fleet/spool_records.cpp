#include "fleet/spool_records.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/strings.h"
#include "fleet/batch.h"

namespace jtrace::fleet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "JTSR";
constexpr std::string_view kSuffix = ".spool";

// The number of a file of a spool, or nothing.
std::optional<std::uint32_t> number_of(const std::string& name) {
  if (name.size() != 8 + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  return parse_decimal<std::uint32_t>(name.substr(0, 8));
}

}  // namespace

std::string spool_record(std::uint64_t batch, std::string_view bytes) {
  std::string record(kMagic);
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const std::uint64_t hash = XXH64(bytes.data(), bytes.size(), 0);
  record.resize(kSpoolHeader);
  std::memcpy(record.data() + 4, &size, sizeof size);
  std::memcpy(record.data() + 8, &batch, sizeof batch);
  std::memcpy(record.data() + 16, &hash, sizeof hash);
  return record.append(bytes);
}

Result<std::vector<std::uint32_t>> spool_files(const std::string& folder) {
  std::error_code error;
  std::vector<std::uint32_t> numbers;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const auto number = number_of(at->path().filename().string())) numbers.push_back(*number);
  if (error) return fail(system_error(error.value(), "cannot list", folder));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string spool_file_name(const std::string& folder, std::uint32_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "/%08u.spool", number);
  return folder + name;
}

std::uint64_t spool_size(const std::string& folder) {
  std::uint64_t sum = 0;
  for (const std::uint32_t number : spool_files(folder).value_or(std::vector<std::uint32_t>())) {
    struct stat info {};
    if (::stat(spool_file_name(folder, number).c_str(), &info) == 0) sum += static_cast<std::uint64_t>(info.st_size);
  }
  return sum;
}

Result<std::uint64_t> scan_spool_file(
    int fd, const std::string& name, std::uint64_t offset,
    const std::function<void(std::uint64_t batch, std::uint64_t at, std::string_view bytes)>& f) {
  std::string bytes;
  const auto read_at = [&](char* out, std::size_t size, std::uint64_t at) {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t count = ::pread(fd, out + done, size - done, static_cast<off_t>(at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count == 0 ? 0 : -1;
      done += static_cast<std::size_t>(count);
    }
    return 1;
  };
  for (;;) {
    std::array<char, kSpoolHeader> header{};
    const int got = read_at(header.data(), header.size(), offset);
    if (got < 0) return fail(system_error("cannot read", name));
    std::uint32_t size = 0;
    std::uint64_t batch = 0, hash = 0;
    std::memcpy(&size, header.data() + 4, sizeof size);
    std::memcpy(&batch, header.data() + 8, sizeof batch);
    std::memcpy(&hash, header.data() + 16, sizeof hash);
    if (got == 0 || std::string_view(header.data(), kMagic.size()) != kMagic || size > kMaxBatch) return offset;
    bytes.resize(size);
    const int body = read_at(bytes.data(), size, offset + kSpoolHeader);
    if (body < 0) return fail(system_error("cannot read", name));
    if (body == 0 || XXH64(bytes.data(), bytes.size(), 0) != hash) return offset;
    f(batch, offset + kSpoolHeader, bytes);
    offset += kSpoolHeader + size;
  }
}

Result<UniqueFd> lock_folder(const std::string& folder, const std::string& name, std::string_view what) {
  const std::string path = folder + "/" + name;
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(path, O_RDWR | O_CREAT, 0600));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return fail(system_error("cannot lock", path));
  return fail(
      Error{.category = ErrorCategory::kRefused, .text = std::string(what) + " works there already", .path = folder});
}

Result<> sync_folder(const std::string& folder) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd fd, open_file(folder, O_RDONLY | O_DIRECTORY));
  if (::fsync(fd.get()) != 0) return fail(system_error("cannot sync", folder));
  return {};
}

Result<> replace_file(const std::string& folder, const std::string& name, std::string_view text, bool sync) {
  const std::string path = folder + "/" + name, temporary = path + ".new";
  JTRACE_ASSIGN_OR_RETURN(UniqueFd fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600));
  JTRACE_RETURN_IF_ERROR(write_whole(fd.get(), text, temporary));
  if (::fsync(fd.get()) != 0) return fail(system_error("cannot sync", temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return fail(system_error("cannot rename", temporary));
  return sync ? sync_folder(folder) : Result<>();
}

std::vector<std::string> spool_folders(const std::string& folder) {
  const auto is_spool = [](const std::string& path) {
    return !spool_files(path).value_or(std::vector<std::uint32_t>()).empty();
  };
  if (is_spool(folder)) return {folder};
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_directory(error) && is_spool(at->path().string())) found.push_back(at->path().string());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace jtrace::fleet
