#include "fleet/subject.h"

#include <algorithm>

#include "base/uuid.h"

namespace jtrace::fleet {
namespace {

constexpr std::string_view kPrefix = "jtrace.v1.";
constexpr std::size_t kLongestToken = 64;

bool is_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && text.size() <= kLongestToken && std::all_of(text.begin(), text.end(), is_letter);
}

std::string token_of(std::string_view text) {
  return is_token(text) ? std::string(text) : name_based_uuid("jtrace.token " + std::string(text));
}

std::uint32_t partition_of(std::string_view stream) {
  std::uint32_t hash = 2166136261u;  // FNV-1a, 32 bits
  for (const char c : stream) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash % kPartitions;
}

std::string subject_of(const BatchHeader& header) {
  return std::string(kPrefix) + std::to_string(partition_of(header.stream)) + "." + header.node + "." + header.process +
         "." + header.stream + ".e";
}

std::string subjects_of_partition(std::uint32_t partition) {
  return std::string(kPrefix) + std::to_string(partition) + ".>";
}

std::string message_id_of(const BatchHeader& header) { return header.stream + "-" + std::to_string(header.batch); }

}  // namespace jtrace::fleet
