// Merged stacks, one a line.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "trace/io/call_stacks.h"
#include "trace/io/converter.h"

namespace jtrace::trace::io {
namespace {

class CollapsedWriter final : public Converter, private CallListener {
 public:
  CollapsedWriter(ByteSink& bytes, Weight weight) : bytes_(bytes), weight_(weight), calls_(*this) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    calls_.note(event, scope);
    switch (element_kind(event)) {
      case ElementKind::kMethodEntry:
      case ElementKind::kMethodExit:
        if (scope.snapshot) lose(event);
        break;
      case ElementKind::kObjAlloc:
        if (weight_ == Weight::kAllocation) allocate(scope, std::get<ObjAlloc>(event));
        else lose(event);
        break;
      case ElementKind::kClassDef:
      case ElementKind::kMethodDef:
      case ElementKind::kThreadStart: break;
      default: lose(event);
    }
    return {};
  }

  Result<> finish() override {
    calls_.close_all();
    Result<> written;
    for (const auto& [stack, weight] : weights_) {
      if (weight == 0 || !written) continue;
      written = bytes_.write(stack + " " + std::to_string(weight) + "\n");
    }
    Result<> finished = bytes_.finish();
    return written ? std::move(finished) : std::move(written);
  }

 private:
  // A name within a line: separators of the format become others.
  static std::string clean(std::string name) {
    for (char& c : name)
      if (c == ';' || c == '\n' || c == '\r') c = ':';
    return name;
  }
  void append_frame(std::string& path, std::string name) { path.append(";").append(clean(std::move(name))); }

  std::string& path_of(const Scope& scope, std::uint64_t thread) {
    std::string& path = paths_[{scope.index, thread}];
    if (path.empty()) path = clean(scope.thread_name(thread));
    return path;
  }
  // OpenFrame::user: what its callees took.
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override {
    append_frame(path_of(scope, thread), scope.method_name(stack.back().method));
  }
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t cpu_time) override {
    const OpenFrame& frame = stack.back();
    std::string& path = path_of(scope, thread);
    std::uint64_t whole = time - frame.time;
    if (weight_ == Weight::kCpu) whole = cpu_time > frame.cpu_time ? cpu_time - frame.cpu_time : 0;
    if (weight_ != Weight::kAllocation) weights_[path] += whole - std::min(whole, frame.user);
    if (stack.size() > 1) stack[stack.size() - 2].user += whole;
    path.resize(path.rfind(';'));
  }
  void allocate(Scope& scope, const ObjAlloc& alloc) {
    const std::uint64_t thread = alloc.threadIdRef.present() ? alloc.threadIdRef.value() : 0;
    std::string path = clean(scope.thread_name(thread));
    if (alloc.contextData.present() && !alloc.contextData.view().empty()) {
      const auto frames = split(alloc.contextData.view(), ';');  // innermost first
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        std::string name(frame->substr(0, frame->rfind(':')));
        std::replace(name.begin(), name.end(), '/', '.');
        append_frame(path, std::move(name));
      }
    } else {
      path = path_of(scope, thread);
    }
    append_frame(path, alloc.classIdRef.present() ? scope.class_name(alloc.classIdRef.value()) : "?");
    weights_[path] += alloc.size.value_or(0);
  }

  ByteSink& bytes_;
  Weight weight_;
  Scopes scopes_;
  CallStacks calls_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::string> paths_;
  std::map<std::string, std::uint64_t> weights_;
};

}  // namespace

std::unique_ptr<Converter> make_collapsed_writer(ByteSink& bytes, Weight weight) {
  return std::make_unique<CollapsedWriter>(bytes, weight);
}

}  // namespace jtrace::trace::io
