#include "trace/io/document_kind.h"

#include <string>
#include <utility>

#include "trace/option_keys.h"

namespace jtrace::trace::io {
namespace {

constexpr std::pair<std::string_view, DocumentKind> kMagics[] = {
    {"<", DocumentKind::kXml},       {"SDDF", DocumentKind::kSddf},      {"SQLite format 3", DocumentKind::kDatabase},
    {"\177ELF", DocumentKind::kElf}, {{"FLR\0", 4}, DocumentKind::kJfr},
};

// Lines of events begin at once.
DocumentKind kind_of_json(std::string_view text) {
  const std::size_t key = text.starts_with("{") ? text.find_first_not_of(" \t", 1) : text.npos;
  if (key != text.npos && text.substr(key).starts_with("\"element\"")) return DocumentKind::kJsonLines;
  return text.find("\"view\"") != text.npos ? DocumentKind::kAnswer : DocumentKind::kJson;
}

// profile.proto begins with a type of samples: field 1, a message of two numbers, the first of which is field 1.
bool is_pprof(std::string_view first) {
  return first.size() > 3 && first[0] == '\n' && first[1] >= 2 && first[1] <= 12 && first[2] == '\b';
}

// Formats that jtrace writes or meets, but does not read.
constexpr std::string_view kUnreadJson =
    "JSON, but not JSON lines of jtrace: jtrace writes such files and does not read them; convert the trace from which "
    "it was made";
constexpr std::pair<DocumentKind, std::string_view> kNotRead[] = {
    {DocumentKind::kAnswer, kUnreadJson},
    {DocumentKind::kJson, kUnreadJson},
    {DocumentKind::kDatabase,
     "a database: jtrace sql asks it, as a file that is not packed; other commands read the trace from which it was "
     "made"},
    {DocumentKind::kElf, "an ELF file (a core?), not a trace"},
    {DocumentKind::kPprof,
     "a profile for pprof, which jtrace writes and does not read; it reads those of jtrace profile PID -o "
     "app.collapsed (or .speedscope.json, .xml)"},
    {DocumentKind::kJfr,
     "a recording of JDK Flight Recorder, which jtrace writes and does not read; it reads profiles of jtrace profile "
     "PID -o app.collapsed (or .speedscope.json, .xml)"},
};

}  // namespace

std::string_view why_not_read(DocumentKind kind) {
  for (const auto& [unread, what] : kNotRead)
    if (kind == unread) return what;
  return "";
}

DocumentKind document_kind(std::string_view first) {
  for (const auto& [magic, kind] : kMagics)
    if (first.starts_with(magic)) return kind;
  if (is_pprof(first)) return DocumentKind::kPprof;
  const std::size_t start = first.find_first_not_of(" \t\r\n");
  return start != first.npos && first[start] == '{' ? kind_of_json(first) : DocumentKind::kOther;
}

bool may_be_snapshot(std::string_view first) {
  return first.find("value=\"" + std::string(kSnapshotKind) + "\"") != first.npos;
}

}  // namespace jtrace::trace::io
