// The types of attribute values. A default-constructed value is absent: its attribute is not written. All are trivially
// copyable and own nothing; what they borrow must live until EventSink::write() returns. Any thread.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "trace/ids.h"

namespace jtrace::trace {

// Borrowed UTF-8 text. Absent (no attribute) and empty (attribute "") differ.
class Text {
 public:
  constexpr Text() = default;
  constexpr Text(std::string_view text) : data_(text.data() == nullptr ? "" : text.data()), size_(text.size()) {}
  constexpr Text(const char* text) : Text(std::string_view(text)) {}
  Text(const std::string& text) : Text(std::string_view(text)) {}

  constexpr bool present() const { return data_ != nullptr; }
  constexpr std::string_view view() const { return {data_, size_}; }
  // Absent equals only absent.
  friend constexpr bool operator==(Text a, Text b) { return a.present() == b.present() && a.view() == b.view(); }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};
using MethodName = Text;  // "<init>" is written as "-init-" with classic names
using Uuid = Text;

using Boolean = std::optional<bool>;

namespace detail {
// An unsigned 64-bit number or nothing, in eight bytes, because events are copied by the million: 2^64-1 means absent.
template <class Kind>
class OptionalNumber {
 public:
  constexpr OptionalNumber() = default;
  constexpr OptionalNumber(std::uint64_t value) : value_(value) {}
  constexpr OptionalNumber(std::nullopt_t) {}
  constexpr OptionalNumber(std::optional<std::uint64_t> value) : value_(value.value_or(kAbsent)) {}

  constexpr bool present() const { return value_ != kAbsent; }
  constexpr std::uint64_t value() const { return value_; }  // of a present value
  constexpr std::uint64_t value_or(std::uint64_t other) const { return present() ? value_ : other; }
  friend constexpr bool operator==(OptionalNumber, OptionalNumber) = default;
  friend constexpr auto operator<=>(OptionalNumber, OptionalNumber) = default;

 private:
  static constexpr std::uint64_t kAbsent = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_ = kAbsent;
};
}  // namespace detail

// Written in decimal, 64 bits wide (the format's description says 32: docs/trace_format.md).
using Number = detail::OptionalNumber<struct NumberKind>;
// A counter, written in decimal up to 2^32-1 and above it as two 32-bit words, low one first: "low,high" (trace.dtd of
// ticket and collationValue).
using WordList = detail::OptionalNumber<struct WordListKind>;
// A point in time: ns since the epoch, written as seconds.nnnnnnnnn.
class Time : public detail::OptionalNumber<struct TimeKind> {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::uint64_t ns) : OptionalNumber(ns) {}
  constexpr std::uint64_t ns() const { return value(); }  // of a present time
};

// A borrowed sequence: like std::span<const T>, but T may be incomplete.
template <class T>
class List {
 public:
  constexpr List() = default;
  constexpr List(const T* data, std::size_t size) : data_(data), size_(size) {}
  template <std::ranges::contiguous_range Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, List>) constexpr List(const Range& range)
      : data_(std::ranges::data(range)), size_(std::ranges::size(range)) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t index) const { return data_[index]; }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class Value>
constexpr bool is_present(const Value& value) {
  if constexpr (requires { value.present(); }) return value.present();
  else return value.has_value();
}

}  // namespace jtrace::trace
