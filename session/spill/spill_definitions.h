// SpillDefinitions: the definitions of a trace, and which of them the current spill has.
// A further spill repeats those that its own events refer to, with what these refer to,
// and the live threads: so it can be read without the spills before it. One thread.
//
// Memory: definitions are kept until the thread or object ends; texts until their event has come, in limited number.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "session/document/id_set.h"
#include "trace/record/definition_reader.h"
#include "trace/record/spill_writer.h"

namespace jtrace::session {

class SpillDefinitions {
 public:
  // A definition has come. `written`: into the current file.
  void learn(std::span<const std::byte> definition, bool written);
  void forget(trace::record::DefinitionKind kind, std::uint64_t id);
  // A further file begins: it has no definitions yet.
  void begin_file();

  // Appends to `missing` the definitions that `id` needs and the file does not have; they count as written from now on.
  // Each begins with its size; valid until the next call of learn() or forget().
  using Missing = std::vector<const std::string*>;
  void need(trace::record::DefinitionKind kind, std::uint64_t id, Missing& missing);
  // The same for the methods of a class that the file has; it is unloaded, and counts of its methods follow.
  void need_methods_of(std::uint64_t class_id, Missing& missing);
  // The definitions with which a further file begins: the threads, and the method with the least id, by which a reader
  // recognises methods of an earlier trace.
  Missing of_head();

  // The number of bytes that they take in a spill.
  static std::uint64_t size_of(const Missing& missing);
  static Result<> write(const Missing& missing, trace::record::SpillWriter& writer);

  std::uint64_t methods() const { return methods_; }  // defined methods
  // Bytes that their definitions take in a spill, with the definitions of their classes.
  std::uint64_t method_bytes() const { return method_bytes_; }

 private:
  static constexpr std::size_t kMostTexts = 100'000;  // as EventBuilder's
  static constexpr std::size_t kKinds = 1             // numbers of DefinitionKind, from 0
#define DEFINITION(...) +1
#include "trace/record/definitions.def"
      ;
  void take(trace::record::DefinitionKind kind, std::uint64_t id, Missing& missing);
  void take_method(std::uint64_t id, Missing& missing);
  void take_references_of(const std::string& definition, Missing& missing);
  // One for each kind of definition (definitions.def): the references in its fields.
  void take_references(const std::monostate&, Missing&) {}
  void take_references(const trace::record::ThreadDefinition&, Missing&) {}
  void take_references(const trace::record::ClassDefinition& of, Missing& missing);
  void take_references(const trace::record::MethodDefinition& of, Missing& missing);
  void take_references(const trace::record::ObjectDefinition& of, Missing& missing);
  void take_references(const trace::record::StackDefinition& of, Missing& missing);
  void take_references(const trace::record::OptionDefinition&, Missing&) {}
  void take_references(const trace::record::ClockDefinition&, Missing&) {}
  void take_references(const trace::record::TextDefinition&, Missing&) {}
  void take_references(const trace::record::StandsForDefinition& of, Missing& missing);
  void count(trace::record::DefinitionKind kind, std::size_t before, std::size_t after);
  void learn_method(std::uint64_t id, std::span<const std::byte> definition, bool is_new);

  std::array<std::unordered_map<std::uint64_t, std::string>, kKinds> known_;  // by kind and id
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> methods_of_;  // by class
  std::map<std::uint64_t, std::string> texts_;
  std::array<IdSet, kKinds> written_;
  std::uint64_t methods_ = 0;
  std::uint64_t method_bytes_ = 0;
  std::uint64_t least_method_ = 0;  // 0: none
};

}  // namespace jtrace::session
