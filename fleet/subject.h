// The subjects of the messages: jtrace.v1.PARTITION.NODE.PROCESS.STREAM.e. A permission on a subject binds a sender to
// its node; the partition, which the sender computes, lets collectors share the work. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fleet/batch.h"

namespace jtrace::fleet {

inline constexpr std::string_view kSubjects = "jtrace.v1.>";
inline constexpr std::uint32_t kPartitions = 16;

// 1 to 64 letters, digits, '-' and '_': neither a subject nor a file name can be made of anything else.
bool is_token(std::string_view text);
// The text itself if it is a token, else a UUID made from it: the same for the same text.
std::string token_of(std::string_view text);

// FNV-1a of the stream: all its batches are in one partition.
std::uint32_t partition_of(std::string_view stream);
std::string subject_of(const BatchHeader& header);
// The filter of one partition: "jtrace.v1.3.>".
std::string subjects_of_partition(std::uint32_t partition);
// By it the server drops repeats.
std::string message_id_of(const BatchHeader& header);

}  // namespace jtrace::fleet
