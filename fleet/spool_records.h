// The files of a spool: a folder for each stream, with files NNNNNNNN.spool of batches, in which each is a record:
// magic "JTSR", u32 size, u64 number of the batch, u64 XXH64 of the bytes, the bytes. Append only: a record is whole,
// or it is the last of a writer that was killed. Functions; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace jtrace::fleet {

inline constexpr std::size_t kSpoolHeader = 24;

std::string spool_record(std::uint64_t batch, std::string_view bytes);

// The files of the folder, in their order.
Result<std::vector<std::uint32_t>> spool_files(const std::string& folder);
std::string spool_file_name(const std::string& folder, std::uint32_t number);
std::uint64_t spool_size(const std::string& folder);

// Reads the records of an open file from `offset` on: f(number, offset of the bytes, the bytes). Returns the offset
// after the last whole one. What follows it is not a whole record (yet).
Result<std::uint64_t> scan_spool_file(
    int fd, const std::string& name, std::uint64_t offset,
    const std::function<void(std::uint64_t batch, std::uint64_t at, std::string_view bytes)>& f);

// A lock on FOLDER/NAME for as long as the descriptor is open. kRefused: `what` of another process has it.
Result<UniqueFd> lock_folder(const std::string& folder, const std::string& name, std::string_view what);

// A small file, new as a whole: temporary, fsync, rename, and fsync of the folder if asked.
Result<> replace_file(const std::string& folder, const std::string& name, std::string_view text, bool sync_folder);
Result<> sync_folder(const std::string& folder);

// Below `folder`, or itself: the folders that have files of a spool.
std::vector<std::string> spool_folders(const std::string& folder);

}  // namespace jtrace::fleet
