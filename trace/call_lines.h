// CallLines: writes the lines of method entries and exits, of which most of a trace consists: those with the attributes
// of a plain trace and without children. XmlFormat (xml_writer.cpp) writes all others. It would write the same bytes
// for these, but tests each attribute, which takes a quarter longer per line (bench_xml_writer). Header only. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "trace/digits.h"
#include "trace/event.h"

namespace jtrace::trace {

class CallLines {
 public:
  // The most bytes that a line takes, without the text of traceIdRef.
  static constexpr std::size_t kRoom = 384;

  static bool has_line(const MethodEntry& entry) {
    return are_numbers(entry) && entry.stackDepth.value_or(kNone) <= kMostNumber && entry.invocationContext == nullptr;
  }
  static bool has_line(const MethodExit& exit) { return are_numbers(exit); }

  // `out` has kRoom bytes. The caller adds the end of the line: the traceIdRef, if any, and "/>".
  char* put(char* out, const MethodEntry& entry, TimeFormatter& time, CountFormatter& collation) {
    out = thread_of(entry.threadIdRef.value()).entry.put(out);
    out = time.put(out, entry.time.ns());
    out = put_number(put(out, "\" methodIdRef=\""), entry.methodIdRef.value());
    out = put_number(put(out, "\" classIdRef=\""), entry.classIdRef.value());
    out = put_number(put(out, "\" ticket=\""), entry.ticket.value());
    out = put_number(put(out, "\" stackDepth=\""), entry.stackDepth.value());
    return collation.put(put(out, "\" collationValue=\""), entry.collationValue.value());
  }
  char* put(char* out, const MethodExit& exit, TimeFormatter& time, CountFormatter& collation) {
    out = put_number(thread_of(exit.threadIdRef.value()).exit.put(out), exit.methodIdRef.value());
    out = put_number(put(out, "\" classIdRef=\""), exit.classIdRef.value());
    out = put_number(put(out, "\" ticket=\""), exit.ticket.value());
    out = time.put(put(out, "\" time=\""), exit.time.ns());
    return collation.put(put(out, "\" collationValue=\""), exit.collationValue.value());
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};  // of a number that is absent
  static constexpr std::uint64_t kMostNumber = 0xffffffff;
  static constexpr std::uint64_t kThreads = 64;

  // The start of a line, with its thread. It is always copied as a whole, because a fixed length is faster.
  class Start {
   public:
    char* put(char* out) const {
      std::memcpy(out, text_.data(), text_.size());
      return out + length_;
    }
    void set(std::string_view before, std::uint64_t number, std::string_view after) {
      char* end = text_.data() + before.copy(text_.data(), before.size());
      std::array<char, kMaxDigits> digits;
      const std::string_view middle(digits.data(), put_number(digits.data(), number));
      end += middle.copy(end, middle.size());
      end += after.copy(end, after.size());
      length_ = static_cast<std::size_t>(end - text_.data());
    }

   private:
    std::array<char, 52> text_{};  // the longest is 50
    std::size_t length_ = 0;
  };
  struct Thread {
    std::uint64_t id = kNone;
    Start entry;
    Start exit;
  };

  template <class Element>
  static bool are_numbers(const Element& element) {
    const auto any_of = [](const auto&... numbers) { return (numbers.value_or(kNone) | ...); };
    const auto all_of = [](const auto&... numbers) { return (numbers.value_or(kNone) & ...); };
    return any_of(element.threadIdRef, element.methodIdRef, element.classIdRef, element.ticket,
                  element.collationValue) <= kMostNumber &&
           all_of(element.transientThreadIdRef, element.transientObjIdRef, element.objIdRef,
                  element.transientClassIdRef, element.threadCpuTime, element.sequenceCounter) == kNone &&
           element.time.present() && element.values.empty();
  }

  template <std::size_t N>
  static char* put(char* out, const char (&text)[N]) {
    std::memcpy(out, text, N - 1);
    return out + N - 1;
  }

  const Thread& thread_of(std::uint64_t id) {
    Thread& thread = threads_[id % kThreads];
    if (thread.id != id) [[unlikely]]
      set(thread, id);
    return thread;
  }
  [[gnu::noinline]] static void set(Thread& thread, std::uint64_t id) {
    thread.id = id;
    thread.entry.set("<methodEntry threadIdRef=\"", id, "\" time=\"");
    thread.exit.set("<methodExit threadIdRef=\"", id, "\" methodIdRef=\"");
  }

  std::array<Thread, kThreads> threads_;
};

}  // namespace jtrace::trace
