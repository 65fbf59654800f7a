#include "diagnose/pin_causes.h"

#include <algorithm>

namespace jtrace::diagnose {
namespace {

using coreinspect::Frame;
using coreinspect::FrameKind;
using coreinspect::JavaMethod;

constexpr int kMonitorsDoNotPin = 24;  // JDK (JEP 491)

std::string full_name(const JavaMethod& method) { return method.class_name + "." + method.name; }

// What the thread waits with, in whatever frames it does: these are native methods too.
bool only_waits(const JavaMethod& method) {
  return method.class_name == "jdk.internal.misc.Unsafe" || method.class_name == "sun.misc.Unsafe" ||
         (method.class_name == "java.lang.Object" && method.name.starts_with("wait"));
}

// Goes through the frames from the innermost one outwards.
class Causes {
 public:
  explicit Causes(const PinnedIn& in) : in_(in) {}

  std::vector<std::string> of(const coreinspect::Walk& walk) {
    add_wait();
    for (const Frame& frame : walk.frames) {
      if (frame.kind == FrameKind::kEntry) called_ = true;
      if (frame.method != nullptr) look_at(frame, *frame.method);
    }
    return std::move(causes_);
  }

 private:
  void add(std::string cause) {
    if (std::find(causes_.begin(), causes_.end(), cause) == causes_.end()) causes_.push_back(std::move(cause));
  }

  void add_wait() {
    if (in_.wait == nullptr) return;
    if (in_.wait->kind == "initialisation") add("the initialization of " + in_.wait->class_name + " by another thread");
    if (in_.wait->kind == "monitor" && in_.feature < kMonitorsDoNotPin)
      add("the monitor it waits for" + class_in_parentheses(in_.wait->class_name));
  }

  void look_at(const Frame& frame, const JavaMethod& method) {
    const bool of_native = called_ || (inner_ == nullptr && !only_waits(method));
    if (method.is_native() && of_native) add("native method " + full_name(method));
    else if (called_ && inner_ != nullptr && inner_->name != "<clinit>")
      add("a call of " + full_name(*inner_) + " by the VM");
    if (method.name == "<clinit>") add("the class initializer of " + method.class_name);
    if (in_.feature < kMonitorsDoNotPin) add_monitors(frame);
    called_ = false;
    inner_ = &method;
  }

  void add_monitors(const Frame& frame) {
    for (const target::Address object : frame.locks) {
      // In Object.wait it has given it back.
      const bool wants = in_.wait != nullptr && in_.wait->kind != "park" && in_.wait->object == object;
      if (!wants) add("a monitor it holds" + class_in_parentheses(class_of(object)));
    }
  }

  std::string class_of(target::Address object) const {
    if (in_.classes == nullptr) return "";
    const auto found = in_.classes->find(object);
    return found == in_.classes->end() ? "" : found->second;
  }

  static std::string class_in_parentheses(const std::string& name) { return name.empty() ? "" : " (a " + name + ")"; }

  const PinnedIn& in_;
  std::vector<std::string> causes_;
  const JavaMethod* inner_ = nullptr;  // of the last Java frame
  bool called_ = false;                // by native code or by the VM: an entry frame came after it
};

}  // namespace

std::vector<std::string> pin_causes(const coreinspect::Walk& walk, const PinnedIn& in) { return Causes(in).of(walk); }

}  // namespace jtrace::diagnose
