#include "agent/waits/wait_class.h"

#include "agent/classfile/callout_methods.h"
#include "agent/classfile/class_builder.h"
#include "agent/waits/wait_redirect.h"

namespace jtrace::agent {
namespace {

using classfile::ClassBuilder;
using classfile::CodeBuilder;

// Opcodes that only this file uses (JVMS 6.5).
enum : unsigned {
  kLconst0 = 9,
  kLload = 22,
  kLstore = 55,
  kPutstatic = 179,
  kInvokeinterface = 185,
};

// The native methods that the generated code calls.
enum class OwnNative {
#define CALLOUT_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) id,
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
};
struct NativeText {
  const char* name;
  const char* descriptor;
};
constexpr NativeText kOwnNatives[] = {
#define CALLOUT_NATIVE(method, function)
#define OWN_NATIVE(id, name, descriptor, function) {name, descriptor},
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
};
constexpr bool is_native(classfile::CalloutMethod wanted) {
#define CALLOUT_NATIVE(method, function) \
  if (wanted == classfile::CalloutMethod::method) return true;
#define OWN_NATIVE(id, name, descriptor, function)
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  return false;
}
// parking() is Java code (add_parking). This is the helper class of redirected waits, and of kCalloutParks alone.
static_assert(classfile::has_methods_of(classfile::kCalloutParks, [](classfile::CalloutMethod method) {
  return method == classfile::CalloutMethod::kParking || is_native(method);
}));
constexpr classfile::CalloutMethodText kParking = classfile::text_of(classfile::CalloutMethod::kParking);
constexpr unsigned kPublicStatic = 0x0009;
constexpr unsigned kPrivateStatic = 0x000a;

unsigned load_of(char type) {
  switch (type) {
    case 'L': return classfile::kAload;
    case 'J': return kLload;
    default: return classfile::kIload;
  }
}

// Loads the arguments of a descriptor (which has no arrays); returns how many locals they take.
unsigned load_arguments(std::string_view descriptor, CodeBuilder* code) {
  unsigned slot = 0;
  for (std::size_t i = 1; descriptor[i] != ')'; ++i) {
    const char type = descriptor[i];
    if (type == 'L') i = descriptor.find(';', i);
    if (code != nullptr) code->op1(load_of(type), slot);
    slot += type == 'J' ? 2 : 1;
  }
  return slot;
}

class Maker {
 public:
  explicit Maker(std::string_view hidden) : made_(kWaitClass, "java/lang/Object"), hidden_(hidden) {
    classfile::ConstantPool& pool = made_.pool();
    current_ = pool.method(pool.klass(kThreadClass), "currentThread", "()Ljava/lang/Thread;");
    before_ = own(OwnNative::kBefore);
    after_ = own(OwnNative::kAfter);
  }

  classfile::Bytes make(std::uint64_t area) {
    made_.add_field(0x001a, kWaitAreaField, "J");  // private static final
    CodeBuilder initializer(made_.pool());
    initializer.push_long(area);
    initializer.op2(kPutstatic, made_.pool().field(made_.this_class(), kWaitAreaField, "J"));
    initializer.op(classfile::kReturn);
    made_.add_method(0x0008, "<clinit>", "()V", 2, 0, initializer);
    add_natives();
    add_bind();
    add_parking();
    for (const WaitCall& call : wait_calls()) add_wait(call);
    return made_.finish();
  }

 private:
  std::uint16_t own(OwnNative native) {
    const NativeText& text = kOwnNatives[static_cast<std::size_t>(native)];
    return made_.pool().method(made_.this_class(), text.name, text.descriptor);
  }
  void add_natives() {
#define CALLOUT_NATIVE(method, function)                                                     \
  made_.add_native(kPublicStatic, classfile::text_of(classfile::CalloutMethod::method).name, \
                   classfile::text_of(classfile::CalloutMethod::method).descriptor);
#define OWN_NATIVE(id, name, descriptor, function) made_.add_native(kPrivateStatic, name, descriptor);
#include "agent/waits/wait_natives.def"
#undef CALLOUT_NATIVE
#undef OWN_NATIVE
  }
  void add_bind() {
    CodeBuilder code(made_.pool());
    code.op1(classfile::kIload, 0);
    code.op2(classfile::kInvokestatic, own(OwnNative::kBind));
    code.op(classfile::kIreturn);
    made_.add_method(kPublicStatic, kWaitBind, "(Z)Z", 1, 1, code);
  }
  // Passes Java's current thread. While a carrier mounts a virtual thread it may park, and then JVM TI's current thread
  // is the virtual thread.
  void add_parking() {
    CodeBuilder code(made_.pool());
    code.op2(classfile::kInvokestatic, current_);
    code.op1(classfile::kIload, 2);
    code.op1(kLload, 0);
    code.op2(classfile::kInvokestatic, own(OwnNative::kParking));
    code.op(classfile::kReturn);
    made_.add_method(kPublicStatic, kParking.name, kParking.descriptor, 4, 3, code, hidden_);
  }
  // mode and time, from the local after the arguments (`end`)
  static void push_wait(CodeBuilder& code, const WaitCall& call, unsigned end) {
    const std::int32_t park = call.time == WaitCall::kDeadline ? kParkUntil : kParkNanos;
    code.op1(classfile::kBipush, static_cast<unsigned>(call.kind == WaitCall::kSleep ? kSleepNanos : park));
    if (call.time == WaitCall::kNone) code.op(kLconst0);
    else code.op1(kLload, end - 2);
  }
  void push_after(CodeBuilder& code, unsigned token) const {
    code.op2(classfile::kInvokestatic, current_);
    code.op1(kLload, token);
    code.op2(classfile::kInvokestatic, after_);
  }
  void add_wait(const WaitCall& call) {
    CodeBuilder code(made_.pool());
    const unsigned token = load_arguments(call.static_descriptor, nullptr);
    code.op2(classfile::kInvokestatic, current_);
    push_wait(code, call, token);
    code.op2(classfile::kInvokestatic, before_);
    code.op1(kLstore, token);
    const std::size_t start = code.bytes().size();
    load_arguments(call.static_descriptor, &code);
    push_call(code, call);
    const std::size_t end = code.bytes().size();
    push_after(code, token);
    code.op(classfile::kReturn);
    code.catch_all(start, end, code.bytes().size());
    push_after(code, token);
    code.op(classfile::kAthrow);
    made_.add_method(kPublicStatic, call.name, call.static_descriptor, 6, token + 2, code, hidden_);
  }
  void push_call(CodeBuilder& code, const WaitCall& call) {
    classfile::ConstantPool& pool = made_.pool();
    const std::uint16_t owner = pool.klass(call.owner);
    if (call.op != kInvokeinterface) return code.op2(call.op, pool.method(owner, call.name, call.descriptor));
    code.op2(call.op, pool.interface_method(owner, call.name, call.descriptor));
    code.op1(load_arguments(call.static_descriptor, nullptr), 0);  // number of argument words, and a zero (JVMS 6.5)
  }

  ClassBuilder made_;
  std::string_view hidden_;
  std::uint16_t current_;
  std::uint16_t before_;
  std::uint16_t after_;
};

}  // namespace

classfile::Bytes make_wait_class(std::uint64_t area, std::string_view hidden) { return Maker(hidden).make(area); }

}  // namespace jtrace::agent
