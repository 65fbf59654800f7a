// The methods that rewritten code calls exist with their descriptors: a slip would be a NoSuchMethodError in a user's
// JVM.
#include "agent/classfile/callout_methods.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "agent/classfile/class_file.h"
#include "agent/methods/callout_code.h"
#include "agent/native_methods.h"

namespace jtrace::agent {
namespace {

using classfile::CalloutMethod;

std::set<std::string> methods_of(const classfile::Bytes& bytes) {
  classfile::ClassFile klass;
  EXPECT_TRUE(klass.parse({bytes.data(), bytes.size()}));
  std::set<std::string> found;
  for (const classfile::Method& each : klass.methods()) found.insert(std::string(each.name).append(each.descriptor));
  return found;
}

// What the class of these callouts must have, by the table.
std::set<std::string> methods_for(CalloutCalls calls) {
  std::set<std::string> wanted;
  for (const classfile::CalloutMethodText& each : classfile::kCalloutMethods)
    if ((each.options & callout_options(calls)) != 0) wanted.insert(std::string(each.name) + each.descriptor);
  return wanted;
}

TEST(CalloutMethodsTest, EachStyleHasThem) {
  CalloutArea* area = CalloutArea::get();
  ASSERT_NE(area, nullptr);
  for (const CalloutCalls calls : {CalloutCalls::kEach, CalloutCalls::kSlow}) {
    const auto found =
        methods_of(make_callout_class({CalloutTime::kCoarse, calls, false}, {true, true, 40, 16384}, *area));
    for (const std::string& wanted : methods_for(calls)) EXPECT_EQ(found.count(wanted), 1u) << wanted;
    // Nothing is made for options that the class does not have.
    for (const classfile::CalloutMethodText& each : classfile::kCalloutMethods)
      EXPECT_TRUE((each.options & callout_options(calls)) != 0 ||
                  found.count(std::string(each.name) + each.descriptor) == 0)
          << each.name;
  }
}

TEST(CalloutMethodsTest, AClassThatLacksOneIsNotedAtCompileTime) {
  constexpr CalloutMethod kCalls[] = {CalloutMethod::kEnter, CalloutMethod::kExit, CalloutMethod::kLeave};
  constexpr CalloutMethod kNoLeave[] = {CalloutMethod::kEnter, CalloutMethod::kExit};
  static_assert(classfile::has_methods_of(classfile::kCalloutEntry | classfile::kCalloutExit, kCalls));
  static_assert(classfile::has_methods_of(classfile::kCalloutEntry, kNoLeave));
  static_assert(!classfile::has_methods_of(classfile::kCalloutEntry | classfile::kCalloutExit, kNoLeave));
  static_assert(!classfile::has_methods_of(classfile::kCalloutLine, kCalls));
}

TEST(CalloutMethodsTest, EntriesAreKnownByTheirNames) {
  EXPECT_TRUE(classfile::begins_frame("enter"));
  EXPECT_TRUE(classfile::begins_frame("begin"));
  EXPECT_TRUE(classfile::begins_frame("received"));
  EXPECT_FALSE(classfile::begins_frame("exit"));
  EXPECT_FALSE(classfile::begins_frame("ente"));
}

jlong JNICALL takes_two(JNIEnv*, jclass, jobject, jint) { return 0; }

TEST(CalloutMethodsTest, AFunctionIsHeldToItsDescriptor) {
  static_assert(takes_descriptor(takes_two, "(Ljava/lang/Object;I)J"));
  static_assert(!takes_descriptor(takes_two, "(Ljava/lang/Object;I)V"));
  static_assert(!takes_descriptor(takes_two, "(Ljava/lang/Object;II)J"));
  static_assert(!takes_descriptor(takes_two, "(ILjava/lang/Object;)J"));
  static_assert(!takes_descriptor(takes_two, "(Ljava/lang/Object)J"));
  EXPECT_EQ(takes_two(nullptr, nullptr, nullptr, 0), 0);
}

}  // namespace
}  // namespace jtrace::agent
