// How far a long test goes. The sanitizers make a program some ten times slower, and look for faults that a smaller
// input has too.
#pragma once

namespace jtrace::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

template <class Number>
constexpr Number effort(Number whole, Number under_sanitizers) {
  return kSanitized ? under_sanitizers : whole;
}

}  // namespace jtrace::test
