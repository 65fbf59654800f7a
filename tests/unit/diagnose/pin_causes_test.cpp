// Why a virtual thread keeps its carrier, from frames as JVMs have them.
#include "diagnose/pin_causes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace jtrace::diagnose {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;
using coreinspect::JavaMethod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint32_t kNative = 0x0100;  // JVM_ACC_NATIVE

// A stack, innermost frame first.
struct Stack {
  std::vector<std::unique_ptr<JavaMethod>> methods;
  coreinspect::Walk walk;

  Stack& java(const char* type, const char* name, std::vector<target::Address> locks = {}, std::uint32_t access = 0) {
    methods.push_back(std::make_unique<JavaMethod>());
    methods.back()->class_name = type;
    methods.back()->name = name;
    methods.back()->access = access;
    walk.frames.push_back({.kind = FrameKind::kInterpreted, .method = methods.back().get(), .locks = std::move(locks)});
    return *this;
  }
  Stack& native(const char* type, const char* name) { return java(type, name, {}, kNative); }
  // Native code, or the VM, calls Java.
  Stack& entry() {
    walk.frames.push_back({.kind = FrameKind::kEntry, .name = "call_stub"});
    walk.frames.push_back({.kind = FrameKind::kNative, .name = "JavaCalls::call_helper"});
    return *this;
  }
  // As LockSupport.park() of a virtual thread that cannot leave its carrier.
  Stack& parked() {
    return native("jdk.internal.misc.Unsafe", "park").java("java.lang.VirtualThread", "parkOnCarrierThread");
  }
};

TEST(PinCauses, AreTheInitializerOfAClass) {
  Stack stack;
  stack.parked().java("shop.RateFeed", "download").java("shop.RateTable", "<clinit>").entry().java("shop.Sync", "run");
  EXPECT_THAT(pin_causes(stack.walk, {.feature = 25}), ElementsAre("the class initializer of shop.RateTable"));
}

TEST(PinCauses, AreNativeMethodsThatCallBackOrWait) {
  Stack calls;
  calls.parked().java("shop.Sync", "onEvent").entry().native("shop.Codec", "decode").java("shop.Sync", "run");
  EXPECT_THAT(pin_causes(calls.walk, {.feature = 25}), ElementsAre("native method shop.Codec.decode"));
  Stack waits;
  waits.native("shop.Codec", "take").java("shop.Sync", "run");
  EXPECT_THAT(pin_causes(waits.walk, {.feature = 25}), ElementsAre("native method shop.Codec.take"));
  Stack of_vm;
  of_vm.parked().java("shop.Loader", "loadClass").entry().java("shop.Sync", "run");
  EXPECT_THAT(pin_causes(of_vm.walk, {.feature = 25}), ElementsAre("a call of shop.Loader.loadClass by the VM"));
}

TEST(PinCauses, AreMonitorsUpToJdk23) {
  Stack stack;
  stack.parked().java("shop.Cart", "wait", {0x10}).java("shop.Cart", "total", {0x10, 0x20}).java("shop.Sync", "run");
  const std::map<target::Address, std::string> classes = {{0x10, "shop.Cart"}};
  EXPECT_THAT(pin_causes(stack.walk, {.feature = 23, .classes = &classes}),
              ElementsAre("a monitor it holds (a shop.Cart)", "a monitor it holds"));
  EXPECT_THAT(pin_causes(stack.walk, {.feature = 24, .classes = &classes}), IsEmpty());
  const coreinspect::Wait entered{.kind = "monitor", .class_name = "shop.Cart", .object = 0x10};
  Stack blocked;
  blocked.java("shop.Cart", "total", {0x10});
  EXPECT_THAT(pin_causes(blocked.walk, {.feature = 21, .wait = &entered}),
              ElementsAre("the monitor it waits for (a shop.Cart)"));
  EXPECT_THAT(pin_causes(blocked.walk, {.feature = 25, .wait = &entered}), IsEmpty());
}

TEST(PinCauses, AreTheInitializationByAnotherThread) {
  const coreinspect::Wait wait{.kind = "initialisation", .class_name = "shop.RateTable"};
  Stack stack;
  stack.java("shop.Sync", "run");
  EXPECT_THAT(pin_causes(stack.walk, {.feature = 25, .wait = &wait}),
              ElementsAre("the initialization of shop.RateTable by another thread"));
}

}  // namespace
}  // namespace jtrace::diagnose
