// RewriteResults: what became of the classes and methods that were to get callouts, in figures, and the methods that
// did not get them by name, for the trace.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "agent/classfile/class_rewriter.h"

namespace jtrace::agent {

class DefinitionStream;

class RewriteResults {
 public:
  // `definitions`: where notes go.
  explicit RewriteResults(DefinitionStream& definitions) : definitions_(definitions) {}
  RewriteResults(const RewriteResults&) = delete;
  RewriteResults& operator=(const RewriteResults&) = delete;

  // All classes are rewritten again, and counted again.
  void clear();
  // A class was rewritten, or none of its methods got a callout.
  void add(const classfile::ClassFile& klass, const std::vector<classfile::MethodPlan>& plans);
  // The class could not be read.
  void add_unreadable() { unreadable_.fetch_add(1); }
  // The methods of a class that gets no callouts.
  void add_skipped(std::size_t methods) { skipped_.fetch_add(static_cast<std::uint32_t>(methods)); }
  // A class stays as it is, with or without callouts.
  void add_refused() { refused_.fetch_add(1); }
  // Writes a note for a method with no callouts, or with fewer than asked for; only for the first few. `method` "": the
  // whole class.
  void note(std::string_view klass, std::string_view method, std::string_view why);

  // "classes=N,methods=N,...", for the trace and for status.
  int figures(bool with_calls, char* text, std::size_t size) const;
  std::uint32_t methods() const { return methods_.load(); }
  std::uint32_t native() const { return native_.load(); }
  std::uint32_t abstract() const { return abstract_.load(); }
  std::uint32_t skipped() const { return skipped_.load(); }

 private:
  DefinitionStream& definitions_;
  std::atomic<std::uint32_t> classes_{0}, methods_{0}, reduced_{0}, skipped_{0}, refused_{0}, unreadable_{0};
  std::atomic<std::uint32_t> native_{0}, abstract_{0}, unseen_news_{0}, unseen_calls_{0};
  std::atomic<std::uint32_t> notes_{0};
};

}  // namespace jtrace::agent
