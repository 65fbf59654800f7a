// ObjectIds: the ids of objects that a client was given. An id is a small number that represents an address, for a
// string that jtrace made, or for an object of a frame that the compiler has taken apart; what was not given out is no
// id.
//
// The same object has the same id as long as this lives, or until lose_objects(). Threads: one at a time.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "coreinspect/unwind/java_walker.h"
#include "debug/protocol.h"
#include "target/memory_reader.h"

namespace jtrace::debug {

using target::Address;

class ObjectIds {
 public:
  // 0 for null.
  Id of(Address object) {
    if (object == 0) return 0;
    const auto [at, is_new] = by_address_.try_emplace(object, entries_.size() + 1);
    if (is_new) entries_.push_back({.object = object});
    return at->second;
  }
  Id of_string(std::string text) {
    const auto known = by_text_.find(text);
    if (known != by_text_.end()) return known->second;
    strings_.push_back(text);
    entries_.push_back({.text = &strings_.back()});
    by_text_.emplace(std::move(text), entries_.size());
    return entries_.size();
  }
  // `apart`: LocalValue::apart. All scopes of one compiled frame share their objects.
  Id of_apart(const coreinspect::Frame& frame, std::uint32_t apart) {
    const auto [at, is_new] = by_frame_.try_emplace({frame.unextended_sp, apart}, entries_.size() + 1);
    if (is_new) entries_.push_back({.frame = &frame, .apart = apart});
    return at->second;
  }
  // A collection has moved objects, and where they are now is not known: their ids are of no object any more.
  void lose_objects() {
    by_address_.clear();
    for (Entry& entry : entries_) {
      entry.gone = entry.gone || entry.object != 0;
      entry.object = 0;
    }
  }
  // After lose_objects(): the object that had this id was found again. Right after it, before any id is given out.
  void find_again(Id id, Address object) {
    if (object == 0 || find(id) == nullptr || !by_address_.try_emplace(object, id).second) return;
    entries_[id - 1].object = object;
    entries_[id - 1].gone = false;
  }
  struct Entry {
    Address object = 0;                         // 0: one of the others
    const std::string* text = nullptr;          // UTF-8
    const coreinspect::Frame* frame = nullptr;  // of an object that was taken apart
    std::uint32_t apart = 0;
    bool gone = false;  // an object whose address is not known any more
  };
  // Null for what was never given out, and for 0.
  const Entry* find(Id id) const { return id == 0 || id > entries_.size() ? nullptr : &entries_[id - 1]; }
  std::size_t size() const { return entries_.size(); }

 private:
  std::deque<Entry> entries_;
  std::deque<std::string> strings_;
  std::unordered_map<Address, Id> by_address_;
  std::unordered_map<std::string, Id> by_text_;
  std::map<std::pair<Address, std::uint32_t>, Id> by_frame_;
};

}  // namespace jtrace::debug
