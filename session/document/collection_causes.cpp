#include "session/document/collection_causes.h"

#include <cstring>
#include <string_view>

namespace jtrace::session {

namespace record = trace::record;
using record::CollectionKind;

namespace {

std::string_view text_of(const record::GcCauseRecord& of) {
  return {of.cause, ::strnlen(of.cause, record::kCauseRoom)};
}

bool has(const record::GcCauseRecord& of, std::uint16_t flag) { return (of.header.flags & flag) != 0; }
bool counts(const record::GcCauseRecord& of, CollectionKind kind) { return (of.kinds & bit_of(kind)) != 0; }

void forget(record::GcCauseRecord& of, std::uint16_t flag) {
  of.header.flags = static_cast<std::uint16_t>(of.header.flags & ~flag);
}

}  // namespace

void CycleCauses::settle(record::GcCauseRecord& of) {
  if (!has(of, record::kHasCause) || !has(of, record::kHasKinds)) return;
  const bool within = has(of, record::kWithinAnother);
  if (counts(of, CollectionKind::kMinor) && within) {
    forget(of, record::kHasCause | record::kHasKinds);
  } else if (counts(of, CollectionKind::kMajor)) {
    if (!within) major_ = text_of(of);
    else if (major_.empty()) forget(of, record::kHasCause);
    else std::memcpy(of.cause, major_.c_str(), major_.size() + 1);
  }
}

trace::Text cause_text(const record::GcCauseRecord& of) {
  return has(of, record::kHasCause) ? trace::Text(text_of(of)) : trace::Text();
}

// CMS of JDK 8 counts the phases of its concurrent cycle with its full collections. Their causes have its name.
std::string kind_text(const record::GcCauseRecord& of) {
  if (!has(of, record::kHasKinds)) return {};
  if (has(of, record::kHasCause) && text_of(of).starts_with("CMS ")) return "concurrent";
  if (of.kinds == 0) return "none";
  std::string text;
  for (std::uint32_t kind = 0; kind < record::kCollectionKinds; ++kind)
    if (counts(of, static_cast<CollectionKind>(kind)))
      text.append(text.empty() ? "" : " ").append(record::kCollectionKindNames[kind]);
  return text;
}

trace::Number used_before(const record::GcCauseRecord& of) {
  return has(of, record::kHasUsedBefore) ? trace::Number(of.used_before) : trace::Number();
}

}  // namespace jtrace::session
