// Writes events in speedscope's file format: one evented profile for each thread.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/json.h"
#include "trace/io/call_stacks.h"
#include "trace/io/converter.h"

namespace jtrace::trace::io {
namespace {

class SpeedscopeWriter final : public Converter, private CallListener {
 public:
  SpeedscopeWriter(ByteSink& bytes, std::string name) : bytes_(bytes), name_(std::move(name)), calls_(*this) {}

  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    calls_.note(event, scope);
    const ElementKind kind = element_kind(event);
    const bool is_call = kind == ElementKind::kMethodEntry || kind == ElementKind::kMethodExit;
    if (gap_of(event, scope)) return {};
    const bool is_name = kind == ElementKind::kClassDef || kind == ElementKind::kMethodDef ||
                         kind == ElementKind::kThreadStart || kind == ElementKind::kTraceStart;
    if (is_call ? scope.snapshot : !is_name) lose(event);
    else lose_attributes<kCarried>(event);
    return {};
  }

  Result<> finish() override {
    calls_.close_all();
    lose_exits(calls_.unmatched_exits());
    Result<> written = write_all();
    Result<> finished = bytes_.finish();
    return written ? std::move(finished) : std::move(written);
  }

 private:
  static constexpr Carried kCarried[] = {{"methodEntry", "threadIdRef time methodIdRef traceIdRef"},
                                         {"methodExit", "threadIdRef time traceIdRef"},
                                         {"classDef", "name classId traceIdRef"},
                                         {"methodDef", "name methodId classIdRef traceIdRef"},
                                         {"threadStart", "threadId threadName traceIdRef"},
                                         {"traceStart", ""}};
  struct Step {
    std::uint64_t time;
    std::uint32_t frame;
    bool opens;
  };
  struct Profile {
    std::string name;
    std::vector<Step> steps;
  };
  Profile& profile_of(const Scope& scope, std::uint64_t thread) {
    Profile& profile = profiles_[{scope.index, thread}];
    if (profile.name.empty()) profile.name = scope.thread_name(thread);
    return profile;
  }
  std::uint32_t frame_of(const Scope& scope, std::uint64_t method) { return frame_of(scope.method_name(method)); }
  std::uint32_t frame_of(const std::string& name) {
    const auto [at, fresh] = frames_.emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(&at->first);
    return at->second;
  }
  void on_enter(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack) override {
    stack.back().user = frame_of(scope, stack.back().method);
    profile_of(scope, thread).steps.push_back({stack.back().time, static_cast<std::uint32_t>(stack.back().user), true});
  }
  void on_leave(Scope& scope, std::uint64_t thread, std::vector<OpenFrame>& stack, std::uint64_t time,
                std::uint64_t) override {
    profile_of(scope, thread).steps.push_back({time, static_cast<std::uint32_t>(stack.back().user), false});
  }

  void on_gap(Scope& scope, const Gap& gap) override {
    if (gap.thread == 0 || gap.from == 0 || gap.to <= gap.from) return;
    std::vector<Step>& steps = profile_of(scope, gap.thread).steps;
    steps.push_back({gap.from, frame_of("(events lost)"), true});
    steps.push_back({gap.to, frame_of("(events lost)"), false});
  }

  Result<> write_all() {
    std::string text;
    JsonWriter json(text);
    json.begin_object().member("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.member("exporter", std::string("jtrace ") + JTRACE_VERSION).member("name", name_);
    json.key("shared").begin_object().key("frames").begin_array();
    for (const std::string* name : names_) json.begin_object().member("name", *name).end_object();
    json.end_array().end_object().key("profiles").begin_array();
    for (const auto& [key, profile] : profiles_) JTRACE_RETURN_IF_ERROR(write_profile(json, text, profile));
    json.end_array().end_object();
    return bytes_.write(text + "\n");
  }
  // Times are relative to the thread's first call, so that a double is exact to the ns.
  Result<> write_profile(JsonWriter& json, std::string& text, const Profile& profile) {
    const std::uint64_t start = profile.steps.front().time;
    std::uint64_t last = start;  // speedscope needs times that never go back
    json.begin_object().member("type", "evented").member("name", profile.name).member("unit", "nanoseconds");
    json.member("startValue", 0).key("events").begin_array();
    for (const Step& step : profile.steps) {
      last = std::max(last, step.time);
      json.begin_object().member("type", step.opens ? "O" : "C").member("frame", step.frame);
      json.member("at", last - start).end_object();
      if (text.size() < kSinkBufferSize / 2) continue;
      JTRACE_RETURN_IF_ERROR(bytes_.write(text));
      text.clear();
    }
    json.end_array().member("endValue", last - start).end_object();
    return {};
  }

  ByteSink& bytes_;
  std::string name_;
  Scopes scopes_;
  CallStacks calls_;
  std::unordered_map<std::string, std::uint32_t> frames_;
  std::vector<const std::string*> names_;
  std::map<std::pair<std::size_t, std::uint64_t>, Profile> profiles_;
};

}  // namespace

std::unique_ptr<Converter> make_speedscope_writer(ByteSink& bytes, std::string name) {
  return std::make_unique<SpeedscopeWriter>(bytes, std::move(name));
}

}  // namespace jtrace::trace::io
