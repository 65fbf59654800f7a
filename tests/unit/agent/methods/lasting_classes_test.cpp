// Classes of the agent that stay in a JVM after it has left: a later agent, perhaps of a newer version, finds them by
// name and uses them as its own. So a changed class must have another name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "agent/classfile/class_file.h"
#include "agent/methods/callout_code.h"
#include "agent/waits/wait_class.h"

namespace jtrace::agent {
namespace {

using classfile::Bytes;

// Addresses differ from JVM to JVM; other constants of a class are smaller.
constexpr std::uint64_t kLeastAddress = 1ull << 32;

std::size_t size_of_constant(const Bytes& bytes, std::size_t at) {
  switch (bytes[at]) {
    case classfile::kTagUtf8: return 3 + classfile::u2_at(&bytes[at + 1]);
    case classfile::kTagLong: return 9;
    case classfile::kTagClass: return 3;
    default: return 5;
  }
}

// FNV-1a of the class with its addresses set to 0.
std::uint64_t fingerprint(Bytes bytes) {
  std::size_t at = 10;
  for (unsigned left = classfile::u2_at(&bytes[8]) - 1u; left > 0; --left) {
    const std::size_t size = size_of_constant(bytes, at);
    if (bytes[at] == classfile::kTagLong) {
      --left;  // it takes two entries
      std::uint64_t value = 0;
      for (std::size_t i = 1; i <= 8; ++i) value = value << 8 | bytes[at + i];
      if (value >= kLeastAddress) std::fill_n(&bytes[at + 1], 8, std::uint8_t{0});
    }
    at += size;
  }
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

struct Known {
  std::string_view name;
  std::uint64_t fingerprint;
};
// `magic`: the constant of the area that the class knows.
std::string hint(std::string_view magic, std::uint64_t now) {
  std::ostringstream text;
  text << "the class is another one: raise the number in its name (where it is made, and in docs/methods.md), and "
       << magic << " where its area is laid out anew; then put what it is now here: 0x" << std::hex << now;
  return text.str();
}
std::string waits_hint(std::uint64_t now) { return hint("WaitArea::kMagic (wait_tracer.cpp)", now); }
std::string callouts_hint(std::uint64_t now) { return hint("CalloutArea::kMagic (callout_area.h)", now); }

TEST(LastingClassesTest, TheCalloutsAreThoseOfTheirNames) {
  constexpr Known kCallouts[] = {{"java/lang/JTraceProbes11", 0xde46027ee4e4a82a},
                                 {"java/lang/JTracePreciseProbes11", 0xd773b600bb1e2e5d},
                                 {"java/lang/JTraceSlowProbes11", 0x52606e85758e3d37},
                                 {"java/lang/JTracePreciseSlowProbes11", 0x55be0ba3c5c79716},
                                 {"java/lang/JTraceCpuProbes11", 0x864e014f1bf4eccc},
                                 {"java/lang/JTracePreciseCpuProbes11", 0xbae608075fca20c3},
                                 {"java/lang/JTraceSlowCpuProbes11", 0x20730423f7663b21},
                                 {"java/lang/JTracePreciseSlowCpuProbes11", 0x7d6cff8a60b7ecb1}};
  CalloutArea* area = CalloutArea::get();
  ASSERT_NE(area, nullptr);
  std::size_t at = 0;
  for (const bool cpu_time : {false, true})
    for (const CalloutCalls calls : {CalloutCalls::kEach, CalloutCalls::kSlow})
      for (const CalloutTime time : {CalloutTime::kCoarse, CalloutTime::kPrecise}) {
        const CalloutStyle style{time, calls, cpu_time};
        std::uint64_t both = 0;
        for (const bool is_new : {false, true})  // JDK 8, JDK 21
          both = both * 31 + fingerprint(make_callout_class(style, {is_new, is_new, 40, 16384}, *area));
        EXPECT_EQ(callout_class_name(style), kCallouts[at].name) << callouts_hint(both);
        EXPECT_EQ(both, kCallouts[at].fingerprint) << callouts_hint(both);
        ++at;
      }
}

TEST(LastingClassesTest, TheWaitsAreThoseOfTheirName) {
  constexpr Known kWaits = {"java/lang/JTraceWaits2", 0x17a748591e93768a};
  const std::uint64_t now = fingerprint(make_wait_class(kLeastAddress, "Ltest/Hidden;"));
  EXPECT_EQ(std::string_view(kWaitClass), kWaits.name) << waits_hint(now);
  EXPECT_EQ(now, kWaits.fingerprint) << waits_hint(now);
}

}  // namespace
}  // namespace jtrace::agent
