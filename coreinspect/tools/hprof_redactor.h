// A heap dump of any writer, written again without its contents (coreinspect/hprof/redaction.h), or without some of its
// objects.
//
// Records keep their order, lengths and ids, so that answers about sizes and references are the same. Names that are
// not those of classes, fields, methods, signatures or source files (a thread's, of the old hprof agent) are blanked.
// What is not understood is left out rather than copied: records of unknown kinds, and what of a damaged segment could
// not be read; instances whose class is not in the dump are zeros. `missing` has a line for each. Ownership: borrows
// file and sink, which it does not finish. Threads: one. Errors: those of the sink; kRefused if `progress` returns
// false; kNotFound if no field is one of `kept`; kUsage if the dump was redacted without it.
#pragma once

#include <functional>

#include "coreinspect/graph/hprof_file.h"
#include "coreinspect/hprof/redaction.h"
#include "trace/byte_sink.h"

namespace jtrace::coreinspect {

struct RedactionCounts {
  std::uint64_t objects = 0;  // that were written
  std::uint64_t left_out = 0;
  std::uint64_t zeroed = 0;   // bytes of contents
  std::uint64_t blanked = 0;  // texts
  std::uint64_t kept = 0;     // bytes of arrays that fields of the user's choice hold
  std::vector<std::string> missing;
};

// What of a heap dump is written again, and how.
struct RewriteOptions {
  bool redact = true;  // false: contents stay
  KeptFields kept = {};
  std::function<bool(std::uint64_t id)> stays = {};  // objects and arrays; null: all. Classes and roots always stay
};
Result<RedactionCounts> rewrite_dump(const HprofFile& file, trace::ByteSink& sink,
                                     const std::function<bool(std::uint64_t done, std::uint64_t all)>& progress,
                                     const RewriteOptions& options);
// All objects, redacted.
Result<RedactionCounts> redact_dump(const HprofFile& file, trace::ByteSink& sink,
                                    const std::function<bool(std::uint64_t done, std::uint64_t all)>& progress,
                                    const KeptFields& kept = {});

}  // namespace jtrace::coreinspect
