#include "trace/record/spill_reader.h"

#include <cstring>

#include "trace/record/layout.h"
#include "trace/record/spill_writer.h"

namespace jtrace::trace::record {
namespace {

bool is_sound(const BlockHeader& header) {
  const auto kind = static_cast<std::uint32_t>(header.kind);
  if (kind < static_cast<std::uint32_t>(BlockKind::kSession) || kind > static_cast<std::uint32_t>(BlockKind::kLastKind))
    return false;
  return header.size <= kLargestBlock;
}

}  // namespace

Result<SpillReader> SpillReader::open(Read read, std::string name) {
  SpillReader reader(std::move(read), std::move(name));
  SpillHeader header{};
  JTRACE_ASSIGN_OR_RETURN(const bool whole, reader.fill(&header, sizeof header));
  if (std::memcmp(header.magic, kSpillMagic, sizeof header.magic) != 0)
    return fail(ErrorCategory::kMalformed, reader.name_ + ": is not a spill");
  if (!whole) return fail(ErrorCategory::kMalformed, reader.name_ + ": is a spill that ends within its header");
  if (header.version != kSpillVersion || header.layout_version != kLayoutVersion)
    return fail(ErrorCategory::kMalformed,
                reader.name_ + ": is a spill of version " + std::to_string(header.version) + "." +
                    std::to_string(header.layout_version) + ", this jtrace reads " + std::to_string(kSpillVersion) +
                    "." + std::to_string(kLayoutVersion),
                "convert it with the jtrace that wrote it");
  return reader;
}

Result<bool> SpillReader::next(Block& block) {
  const std::uint64_t start = position_;
  const auto damaged = [&](const char* what) {
    fault_ = std::string(what) + " at byte " + std::to_string(start);
    return false;
  };
  if (!fault_.empty()) return false;
  JTRACE_ASSIGN_OR_RETURN(const bool has_header, fill(&block.header, sizeof block.header));
  if (!has_header) return position_ == start ? false : damaged("cut within the block that begins");
  if (!is_sound(block.header)) return damaged("damaged");
  block.payload.resize((std::size_t{block.header.size} + 7) / 8 * 8);
  JTRACE_ASSIGN_OR_RETURN(const bool has_payload, fill(block.payload.data(), block.payload.size()));
  if (!has_payload) return damaged("cut within the block that begins");
  block.payload.resize(block.header.size);
  if (check_of(block.header, block.payload) != block.header.check) return damaged("damaged");
  return true;
}

// False if the end comes first.
Result<bool> SpillReader::fill(void* out, std::size_t size) {
  JTRACE_ASSIGN_OR_RETURN(const std::size_t count, read_(static_cast<char*>(out), size));
  position_ += count;
  return count == size;
}

}  // namespace jtrace::trace::record
