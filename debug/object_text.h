// ObjectText: what toString would return, for the classes of the JDK whose toString only reads: strings, boxes, enums,
// builders, atomics, collections and maps with their entries, Optional, records, dates, threads, classes.
//
// Of any other object the class, the identity hash if it has one, and the words "not run". Long texts and deep nesting
// end in "...". Borrows the world. Threads: one at a time.
#pragma once

#include <optional>
#include <string>

#include "debug/world_objects.h"

namespace jtrace::debug {

class ObjectText {
 public:
  explicit ObjectText(World& world) : world_(world), objects_(world.inspection().objects()) {}

  std::string text(Address object) { return text(object, 0); }  // "null" for null
  // What collections and maps hold.
  coreinspect::JavaContents& contents() { return contents_; }

 private:
  std::string text(Address object, int depth);
  std::optional<std::string> known_text(Address object, const LoadedClass& type, const std::string& holder, int depth);
  std::optional<std::string> of_thread(Address object);
  std::optional<std::string> of_record(Address object, const LoadedClass& type, int depth);
  std::optional<std::string> of_collection(Address object, int depth);
  std::optional<std::string> of_map(Address object, int depth);
  std::string of_field(Address object, const coreinspect::JavaField& field, int depth);
  std::string identity(Address object, const LoadedClass& type);
  std::string not_run(Address object, const LoadedClass& type);
  Address reference(Address object, std::string_view field) { return reader_.reference(object, field); }

  World& world_;
  const coreinspect::ObjectModel& objects_;
  WorldObjects reader_{world_};
  coreinspect::JavaContents contents_{reader_};
  std::size_t left_ = 16384;  // texts of objects that one answer may have
};

// The identity hash in a mark word; 0 if there is none.
std::uint32_t identity_hash(const coreinspect::Inspection& inspection, Address object);

}  // namespace jtrace::debug
