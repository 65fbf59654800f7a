#include "agent/waits/wait_redirect.h"

#include <vector>

#include "agent/classfile/bytecode.h"
#include "agent/classfile/class_rewriter.h"
#include "agent/classfile/constant_pool.h"
#include "agent/waits/wait_class.h"

namespace jtrace::agent {
namespace {

using classfile::ClassFile;
using classfile::Instruction;
using classfile::Method;

constexpr std::uint8_t kInterfaceCall = 185;  // invokeinterface (JVMS 6.5)

// Thread.java and LockSupport.java of JDK 19 to 27.
constexpr WaitCall kCalls[] = {
    {kThreadClass, classfile::kInvokevirtual, "java/lang/VirtualThread", "sleepNanos", "(J)V", WaitCall::kSleep,
     WaitCall::kNanos, "(Ljava/lang/VirtualThread;J)V"},
    // JDK 19 to 24, and later.
    {kLockSupportClass, classfile::kInvokestatic, "jdk/internal/misc/VirtualThreads", "park", "()V", WaitCall::kPark,
     WaitCall::kNone, "()V"},
    {kLockSupportClass, classfile::kInvokestatic, "jdk/internal/misc/VirtualThreads", "park", "(J)V", WaitCall::kPark,
     WaitCall::kNanos, "(J)V"},
    {kLockSupportClass, classfile::kInvokestatic, "jdk/internal/misc/VirtualThreads", "parkUntil", "(J)V",
     WaitCall::kPark, WaitCall::kDeadline, "(J)V"},
    {kLockSupportClass, kInterfaceCall, "jdk/internal/access/JavaLangAccess", "parkVirtualThread", "()V",
     WaitCall::kPark, WaitCall::kNone, "(Ljdk/internal/access/JavaLangAccess;)V"},
    {kLockSupportClass, kInterfaceCall, "jdk/internal/access/JavaLangAccess", "parkVirtualThread", "(J)V",
     WaitCall::kPark, WaitCall::kNanos, "(Ljdk/internal/access/JavaLangAccess;J)V"},
};

// Finds the calls of one class and overwrites those that are redirected.
class Redirector {
 public:
  Redirector(const ClassFile& klass, std::string_view helper, WaitCall::Kind kind)
      : klass_(klass), pool_(klass.constant_count()), helper_(helper), kind_(kind) {}

  bool run(classfile::Bytes& out) {
    const classfile::ByteView bytes = klass_.bytes();
    changed_.assign(bytes.begin(), bytes.end());
    parks_in_.assign(klass_.methods().size(), false);
    for (const Method& method : klass_.methods())
      if (method.has_code() && !redirect(method)) return false;
    if (!any_ || pool_.full()) return false;
    const std::size_t end = klass_.constants_end();
    out.assign(changed_.begin(), changed_.begin() + static_cast<std::ptrdiff_t>(end));
    classfile::set2(out, 8, pool_.count());
    classfile::put_bytes(out, pool_.bytes().data(), pool_.bytes().size());
    classfile::put_bytes(out, changed_.data() + end, changed_.size() - end);
    return true;
  }
  // By method: true if it parks a platform thread. Set by run().
  const std::vector<bool>& parks_in() const { return parks_in_; }

 private:
  const WaitCall* call_at(std::uint8_t op, std::uint16_t constant) const {
    const ClassFile::Reference callee = klass_.method_reference(constant);
    for (const WaitCall& each : kCalls) {
      if (each.kind != kind_ || each.op != op || each.host != klass_.name()) continue;
      if (each.owner == callee.owner && each.name == callee.name && each.descriptor == callee.descriptor) return &each;
    }
    return nullptr;
  }
  bool redirect(const Method& method) {
    classfile::Reader reader(klass_.bytes().first(method.code.data + method.code.size), method.code.data);
    reader.skip(4);  // max_stack, max_locals (JVMS 4.7.3)
    const std::uint32_t length = reader.u4();
    const std::size_t start = reader.position();
    if (reader.failed() || length > reader.remaining()) return false;
    if (!classfile::decode(klass_.bytes().subspan(start, length), instructions_, index_at_)) return false;
    for (const Instruction& each : instructions_) {
      if (each.op != classfile::kInvokevirtual && each.op != kInterfaceCall && each.op != classfile::kInvokestatic)
        continue;
      const std::size_t at = start + each.old_pc;
      const std::uint16_t callee = classfile::u2_at(&klass_.bytes()[at + 1]);
      if (each.op == classfile::kInvokevirtual && classfile::is_park(klass_.method_reference(callee)))
        parks_in_[static_cast<std::size_t>(&method - klass_.methods().data())] = true;
      const WaitCall* call = call_at(each.op, callee);
      if (call == nullptr) continue;
      changed_[at] = classfile::kInvokestatic;
      classfile::set2(changed_, at + 1, constant_of(*call));
      for (std::size_t i = 3; i < each.length; ++i) changed_[at + i] = classfile::kNop;
      any_ = true;
    }
    return true;
  }
  std::uint16_t constant_of(const WaitCall& call) {
    std::uint16_t& constant = constants_[&call - kCalls];
    if (owner_ == 0) owner_ = pool_.klass(helper_);
    if (constant == 0) constant = pool_.method(owner_, call.name, call.static_descriptor);
    return constant;
  }

  const ClassFile& klass_;
  classfile::ConstantPool pool_;
  std::string_view helper_;
  WaitCall::Kind kind_;
  std::uint16_t owner_ = 0;
  std::uint16_t constants_[sizeof kCalls / sizeof kCalls[0]] = {};
  classfile::Bytes changed_;
  std::vector<bool> parks_in_;
  bool any_ = false;
  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> index_at_;
};

// The callouts of a method get the mode of its parks: only parkUntil() takes a deadline.
bool callout_parks(const ClassFile& klass, const std::vector<bool>& parks_in, std::string_view helper,
                   classfile::Bytes& out) {
  std::vector<classfile::MethodPlan> plans(parks_in.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!parks_in[i]) continue;
    plans[i].number = klass.methods()[i].name == "parkUntil" ? kParkUntil : kParkNanos;
    plans[i].callouts = classfile::kCalloutParks;
  }
  return classfile::rewrite_class(klass, helper, plans, out) == classfile::ClassOutcome::kRewritten;
}

}  // namespace

std::span<const WaitCall> wait_calls() { return kCalls; }

bool redirect_sleeps(const ClassFile& klass, std::string_view helper, classfile::Bytes& out) {
  return Redirector(klass, helper, WaitCall::kSleep).run(out);
}

bool redirect_parks(const ClassFile& klass, std::string_view helper, classfile::Bytes& out) {
  Redirector redirector(klass, helper, WaitCall::kPark);
  const bool redirected = redirector.run(out);
  if (klass.name() != kLockSupportClass) return redirected;
  ClassFile changed;
  classfile::Bytes rewritten;
  if (redirected && !changed.parse(out)) return false;
  if (!callout_parks(redirected ? changed : klass, redirector.parks_in(), helper, rewritten)) return redirected;
  out.swap(rewritten);
  return true;
}

}  // namespace jtrace::agent
