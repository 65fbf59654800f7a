#include "agent/waits/wait_redirect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agent/classfile/bytecode.h"
#include "agent/classfile/class_builder.h"
#include "agent/waits/wait_class.h"

namespace jtrace::agent {
namespace {

using classfile::Bytes;
using classfile::ClassBuilder;
using classfile::ClassFile;
using classfile::CodeBuilder;
using classfile::Instruction;
using classfile::Method;

constexpr unsigned kVirtualCall = 182;
constexpr unsigned kInterfaceCall = 185;

// A class with one method that makes one call, and returns.
Bytes class_with_call(std::string_view name, unsigned op, std::string_view owner, std::string_view callee,
                      std::string_view descriptor) {
  ClassBuilder made(name, "java/lang/Object");
  CodeBuilder code(made.pool());
  const std::uint16_t klass = made.pool().klass(owner);
  if (op == kInterfaceCall) {
    code.op2(op, made.pool().interface_method(klass, callee, descriptor));
    code.op1(1, 0);
  } else {
    code.op2(op, made.pool().method(klass, callee, descriptor));
  }
  code.op(classfile::kReturn);
  made.add_method(9, "work", "()V", 4, 0, code);
  return made.finish();
}

struct Call {
  unsigned op = 0;
  std::string owner, name, descriptor;
};

// The calls of the class's methods, in order; `length`: of the first method's code.
std::vector<Call> calls_of(const Bytes& bytes, std::size_t& length) {
  ClassFile klass;
  EXPECT_TRUE(klass.parse(bytes));
  std::vector<Call> calls;
  for (const Method& method : klass.methods()) {
    if (!method.has_code()) continue;
    const std::size_t start = method.code.data + 8;
    length = static_cast<std::size_t>(classfile::s4_at(&bytes[start - 4]));
    std::vector<Instruction> instructions;
    std::vector<std::uint32_t> index_at;
    EXPECT_TRUE(classfile::decode(classfile::ByteView(bytes).subspan(start, length), instructions, index_at));
    for (const Instruction& each : instructions) {
      if (each.op < kVirtualCall || each.op > kInterfaceCall) continue;
      const auto to = klass.method_reference(classfile::u2_at(&bytes[start + each.old_pc + 1]));
      calls.push_back({each.op, std::string(to.owner), std::string(to.name), std::string(to.descriptor)});
    }
  }
  return calls;
}

using Redirect = bool (*)(const ClassFile&, std::string_view, Bytes&);

bool redirect(Redirect of_kind, const Bytes& bytes, Bytes& out) {
  ClassFile klass;
  EXPECT_TRUE(klass.parse(bytes));
  return of_kind(klass, "test/Helper", out);
}

Redirect redirect_of(WaitCall::Kind kind) { return kind == WaitCall::kSleep ? redirect_sleeps : redirect_parks; }

TEST(WaitRedirect, EveryCallGoesToTheHelperAndNoInstructionMoves) {
  for (const WaitCall& call : wait_calls()) {
    SCOPED_TRACE(std::string(call.owner) + "." + std::string(call.name));
    const Bytes before = class_with_call(call.host, call.op, call.owner, call.name, call.descriptor);
    Bytes after;
    ASSERT_TRUE(redirect(redirect_of(call.kind), before, after));
    std::size_t length_before = 0;
    std::size_t length_after = 0;
    calls_of(before, length_before);
    const std::vector<Call> calls = calls_of(after, length_after);
    EXPECT_EQ(length_before, length_after);
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].op, unsigned{classfile::kInvokestatic});
    EXPECT_EQ(calls[0].owner, "test/Helper");
    EXPECT_EQ(calls[0].name, call.name);
    EXPECT_EQ(calls[0].descriptor, call.static_descriptor);
  }
}

TEST(WaitRedirect, EachKindOnlyInItsClass) {
  Bytes out;
  const Bytes sleeps = class_with_call(kThreadClass, kVirtualCall, "java/lang/VirtualThread", "sleepNanos", "(J)V");
  EXPECT_FALSE(redirect(redirect_parks, sleeps, out));
  EXPECT_TRUE(redirect(redirect_sleeps, sleeps, out));
  const Bytes parks = class_with_call(kLockSupportClass, kVirtualCall, "jdk/internal/misc/Unsafe", "park", "(ZJ)V");
  EXPECT_FALSE(redirect(redirect_sleeps, parks, out));
  EXPECT_TRUE(redirect(redirect_parks, parks, out));
  for (const Redirect each : {redirect_sleeps, redirect_parks}) {
    for (const char* host : {"test/Other", "java/lang/Object"}) {
      EXPECT_FALSE(
          redirect(each, class_with_call(host, kVirtualCall, "jdk/internal/misc/Unsafe", "park", "(ZJ)V"), out));
      EXPECT_FALSE(
          redirect(each, class_with_call(host, kVirtualCall, "java/lang/VirtualThread", "sleepNanos", "(J)V"), out));
    }
    EXPECT_FALSE(redirect(
        each, class_with_call(kLockSupportClass, kVirtualCall, "jdk/internal/misc/Unsafe", "unpark", "(ZJ)V"), out));
  }
}

TEST(WaitRedirect, AParkOfAPlatformThreadIsBetweenTwoCallsOfTheHelper) {
  for (const char* owner : {"sun/misc/Unsafe", "jdk/internal/misc/Unsafe"}) {
    Bytes after;
    ASSERT_TRUE(
        redirect(redirect_parks, class_with_call(kLockSupportClass, kVirtualCall, owner, "park", "(ZJ)V"), after));
    std::size_t length = 0;
    const std::vector<Call> calls = calls_of(after, length);
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].owner + "." + calls[0].name + calls[0].descriptor, "test/Helper.parking(JI)V");
    EXPECT_EQ(calls[1].owner + "." + calls[1].name + calls[1].descriptor, std::string(owner) + ".park(ZJ)V");
    EXPECT_EQ(calls[2].owner + "." + calls[2].name + calls[2].descriptor, "test/Helper.parked()V");
  }
}

TEST(WaitRedirect, ParksOfBothKindsOfThreadsInOneMethod) {
  ClassBuilder made(kLockSupportClass, "java/lang/Object");
  CodeBuilder code(made.pool());
  code.op2(kVirtualCall, made.pool().method(made.pool().klass("jdk/internal/misc/Unsafe"), "park", "(ZJ)V"));
  code.op2(classfile::kInvokestatic,
           made.pool().method(made.pool().klass("jdk/internal/misc/VirtualThreads"), "park", "()V"));
  code.op(classfile::kReturn);
  made.add_method(9, "park", "()V", 4, 0, code);
  Bytes after;
  ASSERT_TRUE(redirect(redirect_parks, made.finish(), after));
  std::size_t length = 0;
  std::vector<std::string> names;
  for (const Call& each : calls_of(after, length)) names.push_back(each.owner + "." + each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"test/Helper.parking", "jdk/internal/misc/Unsafe.park",
                                             "test/Helper.parked", "test/Helper.park"}));
}

TEST(WaitRedirect, TheHelperMakesEachCallItself) {
  const Bytes bytes = make_wait_class(4711, "Ltest/Hidden;");
  std::size_t length = 0;
  const std::vector<Call> calls = calls_of(bytes, length);
  ClassFile klass;
  ASSERT_TRUE(klass.parse(bytes));
  for (const WaitCall& call : wait_calls()) {
    SCOPED_TRACE(std::string(call.owner) + "." + std::string(call.name));
    const auto is_it = [&](const Method& method) {
      return method.name == call.name && method.descriptor == call.static_descriptor;
    };
    EXPECT_EQ(std::count_if(klass.methods().begin(), klass.methods().end(), is_it), 1);
    EXPECT_EQ(std::count_if(calls.begin(), calls.end(),
                            [&](const Call& each) {
                              return each.op == call.op && each.owner == call.owner && each.name == call.name &&
                                     each.descriptor == call.descriptor;
                            }),
              1);
  }
}

}  // namespace
}  // namespace jtrace::agent
