// ElementBuilder: builds events from the names and texts of elements and attributes, for readers of any syntax. Knows
// both spellings of names that the original DTD misspells. Texts are copied: an event is valid until the next begin()
// at depth 0. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/event.h"
#include "trace/schema.h"

namespace jtrace::trace::io {

// The value of an attribute from its text, or nothing if the text is invalid. Times: seconds with up to nine decimals
// (further ones are cut off). Word lists: "low,high" or a plain number of 64 bits.
std::optional<std::uint64_t> parse_time(std::string_view text);
std::optional<std::uint64_t> parse_words(std::string_view text);

// The kind of an element by its name; also accepts the spelling of the description (VALUE).
std::optional<ElementKind> element_of_any_spelling(std::string_view name);

// A bump allocator for texts; reset() keeps the memory.
class TextArena {
 public:
  std::string_view copy(std::string_view text);
  void reset();

 private:
  static constexpr std::size_t kChunk = 64u << 10;
  std::vector<std::unique_ptr<char[]>> chunks_;
  std::vector<std::unique_ptr<char[]>> larger_;
  std::size_t chunk_ = 0;
  std::size_t used_ = kChunk;
};

class ElementBuilder {
 public:
  static constexpr std::size_t kMaxDepth = 4;           // methodBody > methodCall > value
  static constexpr std::size_t kMaxChildren = 100'000;  // of one event

  // kUnlisted: the attribute was set, to a word that the format does not list (words_for()).
  enum class Set { kDone, kUnknown, kBad, kUnlisted };

  // Opens an element: an event, or a child of the open one. False if the open one cannot have this child, or no more
  // children.
  bool begin(ElementKind kind);
  // Sets an attribute of the open element.
  Set set(std::string_view name, std::string_view value);
  // The words that the format lists for an attribute of the open element: "none, prefix or suffix"; "": any text.
  std::string_view words_for(std::string_view attribute) const;
  // Adds characters to the open element; false if it cannot have any.
  bool add_text(std::string_view text);
  // Size of the characters so far.
  std::size_t text_size() const { return depth_ == 0 ? 0 : frames_[depth_ - 1].text.size(); }
  // The name of a #REQUIRED attribute that the open element lacks, or null.
  const AttributeInfo* missing() const;
  // Closes the open element. Returns the event, or null for a child.
  const Event* end();
  // Closes and discards the open element.
  void drop();

  std::size_t depth() const { return depth_; }
  ElementKind open_kind() const { return frames_[depth_ - 1].kind; }

 private:
  struct Frame {
    ElementKind kind{};
    Event event;
    void* element = nullptr;  // inside `event`
    std::vector<Value> values;
    std::vector<MethodBodyItem> items;
    std::string text;
  };
  void attach_children(Frame& frame);
  bool add_child(Frame& parent, Frame& child);

  std::array<Frame, kMaxDepth> frames_;
  std::size_t depth_ = 0;
  std::size_t children_ = 0;
  TextArena arena_;
  std::deque<std::vector<Value>> kept_values_;  // of children that have children themselves
  std::deque<InvocationContext> kept_contexts_;
  // For each element, the attribute that came after each attribute the last time (index + 1; 0: none yet).
  std::array<std::array<std::uint8_t, 32>, kElementCount> next_{};
  std::size_t last_attribute_ = 0;  // of the open element, index + 1; 0: none
};

}  // namespace jtrace::trace::io
