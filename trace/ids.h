// Ids of the event language: small decimal numbers scoped by kind and agent, never addresses, never used twice in a
// trace. A default-constructed id is absent: the attribute is not written. 0 is written as "0" and means none. Header
// only; usable in the agent. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>

namespace jtrace::trace {

template <class Kind>
class TypedId {
 public:
  constexpr TypedId() = default;
  constexpr explicit TypedId(std::uint64_t value) : value_(value) {}

  constexpr bool present() const { return value_ != kAbsent; }
  constexpr std::uint64_t value() const { return value_; }  // of a present id
  constexpr std::uint64_t value_or(std::uint64_t other) const { return present() ? value_ : other; }
  friend constexpr bool operator==(TypedId, TypedId) = default;
  friend constexpr auto operator<=>(TypedId, TypedId) = default;

 protected:
  static constexpr std::uint64_t kAbsent = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_ = kAbsent;
};

// java.lang.Thread's own id; for a thread of the VM 10^12 + its kernel id.
using ThreadId = TypedId<struct ThreadIdKind>;
// The kernel's id of the thread in the JVM's pid namespace; absent if the producer cannot know it.
using TransientThreadId = TypedId<struct TransientThreadIdKind>;
using ClassId = TypedId<struct ClassIdKind>;
using MethodId = TypedId<struct MethodIdKind>;

class ObjectId : public TypedId<struct ObjectIdKind> {
 public:
  using TypedId::TypedId;
  static constexpr ObjectId none() { return ObjectId(0); }                   // static method, primitive value
  static constexpr ObjectId sleep() { return ObjectId(kAbsent - 1); }        // "-1": Thread.sleep (mon*)
  static constexpr ObjectId unavailable() { return ObjectId(kAbsent - 2); }  // "-Unavailable-" (throw, catch)
  constexpr bool is_number() const { return value_ < kAbsent - 2; }
};

}  // namespace jtrace::trace

template <class Kind>
struct std::hash<jtrace::trace::TypedId<Kind>> {
  std::size_t operator()(jtrace::trace::TypedId<Kind> id) const noexcept {
    return std::hash<std::uint64_t>()(id.value());
  }
};
template <>
struct std::hash<jtrace::trace::ObjectId> {
  std::size_t operator()(jtrace::trace::ObjectId id) const noexcept { return std::hash<std::uint64_t>()(id.value()); }
};
