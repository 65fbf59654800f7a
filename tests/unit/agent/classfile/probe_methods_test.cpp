// The methods that rewritten code calls exist with their descriptors: a slip would be a NoSuchMethodError in somebody's
// JVM.
#include "agent/classfile/probe_methods.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "agent/classfile/class_file.h"
#include "agent/methods/native_signature.h"
#include "agent/methods/probe_code.h"

namespace jtrace::agent {
namespace {

using classfile::ProbeMethod;

std::set<std::string> methods_of(const classfile::Bytes& bytes) {
  classfile::ClassFile klass;
  EXPECT_TRUE(klass.parse({bytes.data(), bytes.size()}));
  std::set<std::string> found;
  for (const classfile::Method& each : klass.methods()) found.insert(std::string(each.name).append(each.descriptor));
  return found;
}

// Of the waits' class or the JVMPI bridge's.
bool is_of_another_class(ProbeMethod method) {
  return method == ProbeMethod::kParking || method == ProbeMethod::kParked || method == ProbeMethod::kAllocated;
}
// Probes of `calls` are used all together or not at all (session/options/options.cpp).
bool is_of_calls(ProbeMethod method) {
  return method == ProbeMethod::kCalled || method == ProbeMethod::kReturned || method == ProbeMethod::kBegin ||
         method == ProbeMethod::kEnd || method == ProbeMethod::kHandled;
}

TEST(ProbeMethodsTest, EachStyleHasThem) {
  ProbeArea* area = ProbeArea::get();
  ASSERT_NE(area, nullptr);
  for (const ProbeCalls calls : {ProbeCalls::kEach, ProbeCalls::kSlow}) {
    const auto found = methods_of(make_probe_class({ProbeTime::kCoarse, calls, false}, {true, true, 40, 16384}, *area));
    for (std::size_t i = 0; i < classfile::kProbeMethodCount; ++i) {
      const auto method = static_cast<ProbeMethod>(i);
      const bool wanted = !is_of_another_class(method) && !(calls == ProbeCalls::kSlow && is_of_calls(method));
      const std::string text = std::string(text_of(method).name) + text_of(method).descriptor;
      EXPECT_EQ(found.count(text) == 1, wanted) << text;
    }
  }
}

TEST(ProbeMethodsTest, EntriesAreKnownByTheirNames) {
  EXPECT_TRUE(classfile::begins_frame("enter"));
  EXPECT_TRUE(classfile::begins_frame("begin"));
  EXPECT_TRUE(classfile::begins_frame("received"));
  EXPECT_FALSE(classfile::begins_frame("exit"));
  EXPECT_FALSE(classfile::begins_frame("ente"));
}

jlong JNICALL takes_two(JNIEnv*, jclass, jobject, jint) { return 0; }

TEST(ProbeMethodsTest, AFunctionIsHeldToItsDescriptor) {
  static_assert(takes_descriptor(takes_two, "(Ljava/lang/Object;I)J"));
  static_assert(!takes_descriptor(takes_two, "(Ljava/lang/Object;I)V"));
  static_assert(!takes_descriptor(takes_two, "(Ljava/lang/Object;II)J"));
  static_assert(!takes_descriptor(takes_two, "(ILjava/lang/Object;)J"));
  EXPECT_EQ(takes_two(nullptr, nullptr, nullptr, 0), 0);
}

}  // namespace
}  // namespace jtrace::agent
