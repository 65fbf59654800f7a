#include "trace/io/fault_log.h"

namespace jtrace::trace::io {

namespace {
constexpr std::size_t kMaxNames = 10'000;  // names to remember; a hostile input may have any number of them
}  // namespace

std::string at_position(std::string_view file, Position position, std::string_view message) {
  std::string text(file);
  if (position.line != 0) text += ":" + std::to_string(position.line);
  if (position.line != 0 && position.column != 0) text += ":" + std::to_string(position.column);
  return text.append(text.empty() ? "" : ": ").append(message);
}

Error malformed_at(std::string_view file, Position position, std::string_view message, std::string help) {
  Error error{ErrorCategory::kMalformed, at_position(file, position, message)};
  error.help = std::move(help);
  return error;
}

Result<> FaultLog::add(std::string_view file, Position position, std::string_view kind, std::string_view name,
                       const std::string& message) {
  if (options_.strict) return fail(malformed_at(file, position, message));
  ++counts_[std::string(kind)];
  if (printed_ >= options_.limit || !options_.print) return {};
  if (options_.repeats == Repeats::kOncePerName) {
    if (names_.size() >= kMaxNames) return {};
    if (!names_.insert(std::string(kind).append(" ").append(name)).second) return {};
  }
  ++printed_;
  options_.print(at_position(file, position, message));
  return {};
}

std::uint64_t FaultLog::count(std::string_view kind) const {
  const auto found = counts_.find(std::string(kind));
  return found == counts_.end() ? 0 : found->second;
}

std::uint64_t FaultLog::total() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, count] : counts_) sum += count;
  return sum;
}

}  // namespace jtrace::trace::io
