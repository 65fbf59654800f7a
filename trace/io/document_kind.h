// What a document is, by its first bytes (unpacked; first_bytes() of profile_file.h has 4 KiB of a file). Formats of
// folders above this one are recognised by their readers (FormatReader). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace jtrace::trace::io {

enum class DocumentKind : std::uint8_t {
  kOther,      // fragments and a document without its begin too
  kXml,        // "<?xml" or an element
  kJsonLines,  // events, one a line (jsonl_writer.h)
  kAnswer,     // of a command with --format json (base/json_answer.h)
  kJson,       // any other
  kSddf,
  kDatabase,  // SQLite's
  kElf,       // a core, a program, a library
  kPprof,     // a profile of pprof
  kJfr,       // a recording of JDK Flight Recorder
};
DocumentKind document_kind(std::string_view first_bytes);

// Why jtrace does not read a trace or a profile from it, as the end of a sentence: "a database: ..."; "" if it may.
std::string_view why_not_read(DocumentKind kind);

// Whether its head may say that it is a snapshot (jtrace.kind): a profile, or a view as events.
bool may_be_snapshot(std::string_view first_bytes);

}  // namespace jtrace::trace::io
