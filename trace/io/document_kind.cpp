#include "trace/io/document_kind.h"

#include <string>
#include <utility>

#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr std::pair<std::string_view, DocumentKind> kMagics[] = {
    {"<", DocumentKind::kXml},
    {"SDDF", DocumentKind::kSddf},
    {"SQLite format 3", DocumentKind::kDatabase},
    {"\177ELF", DocumentKind::kElf},
};

// Lines of events begin at once.
DocumentKind kind_of_json(std::string_view text) {
  const std::size_t key = text.starts_with("{") ? text.find_first_not_of(" \t", 1) : text.npos;
  if (key != text.npos && text.substr(key).starts_with("\"element\"")) return DocumentKind::kJsonLines;
  return text.find("\"view\"") != text.npos ? DocumentKind::kAnswer : DocumentKind::kJson;
}

}  // namespace

DocumentKind document_kind(std::string_view first) {
  for (const auto& [magic, kind] : kMagics)
    if (first.starts_with(magic)) return kind;
  const std::size_t start = first.find_first_not_of(" \t\r\n");
  return start != first.npos && first[start] == '{' ? kind_of_json(first) : DocumentKind::kOther;
}

bool may_be_snapshot(std::string_view first) {
  return first.find("value=\"" + std::string(kSnapshotKind) + "\"") != first.npos;
}

}  // namespace jtrace::trace::io
