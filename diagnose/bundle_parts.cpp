#include "diagnose/bundle_parts.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/file.h"
#include "base/json_reader.h"
#include "coreinspect/tools/core_copy.h"
#include "diagnose/collectors.h"
#include "diagnose/lanes.h"
#include "target/cgroup.h"
#include "target/core_writer.h"

namespace jtrace::diagnose {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kOfFile{1000};  // a file of /proc
constexpr milliseconds kOfView{1500};  // one that does not walk the heap
constexpr milliseconds kOfWalk{1000};  // it ends by itself then
constexpr milliseconds kOfCore{10'000};
constexpr milliseconds kCoreStop{1000};  // as `jtrace core`
constexpr std::size_t kMostOfFile = 16u << 20;

// Not the environment and not the command line: secrets in them cannot be recognised. `args` has the latter, masked.
constexpr const char* kFiles[] = {"status",    "stat",      "limits",        "cgroup",       "io",  "schedstat",
                                  "mountinfo", "oom_score", "oom_score_adj", "smaps_rollup", "maps"};
constexpr const char* kGroupFiles[] = {"memory.max",
                                       "memory.high",
                                       "memory.current",
                                       "memory.stat",
                                       "memory.events",
                                       "memory.limit_in_bytes",
                                       "memory.usage_in_bytes",
                                       "memory.failcnt",
                                       "memory.oom_control",
                                       "memory.pressure",
                                       "cpu.max",
                                       "cpu.stat",
                                       "cpu.pressure",
                                       "io.pressure",
                                       "pids.max",
                                       "pids.current"};

Publish publish(std::string name, std::string content) {
  return [part = Part{std::move(name), std::move(content)}](Collected& collected) { collected.parts.push_back(part); };
}

// The time for which a view stopped the threads.
std::chrono::nanoseconds stop_of(const coreinspect::ViewResult& result) {
  const auto members = JsonValue::parse("{" + result.members + "}");
  if (!members) return {};
  return std::chrono::microseconds(static_cast<std::int64_t>((*members)["pauseMicros"].number()));
}

class ViewCollector {
 public:
  explicit ViewCollector(const PartOptions& options) : options_(options) {}

  Result<Publish> open() {
    JTRACE_ASSIGN_OR_RETURN(inspection_, options_.open());
    return [](Collected&) {};
  }
  // As JSON and as text; a view that stops threads stops them for each.
  Result<Publish> look(const std::string& name, milliseconds budget) {
    const coreinspect::View& view = *coreinspect::find_view(name);
    coreinspect::ViewOptions options;
    options.all = view.is(coreinspect::fact::kKeptWithAll);
    options.max_stop = options_.max_stop;
    options.heap.no_stop = true;
    const auto end = std::chrono::steady_clock::now() + budget * 9 / 10;
    options.heap.progress = [end](std::uint64_t, std::uint64_t) { return std::chrono::steady_clock::now() < end; };
    options.json = true;
    JTRACE_ASSIGN_OR_RETURN(const auto json, run(view, options));
    options.json = options.all = false;
    JTRACE_ASSIGN_OR_RETURN(const auto text, run(view, options));
    const std::array stops{stop_of(json), stop_of(text)};
    return [=, document = options_.document(*inspection_, view, json)](Collected& collected) {
      for (const auto stop : stops) add_stop(collected, stop);
      collected.parts.push_back({"views/" + name + ".json", document});
      collected.parts.push_back({"views/" + name + ".txt", text.out});
    };
  }

 private:
  Result<coreinspect::ViewResult> run(const coreinspect::View& view, const coreinspect::ViewOptions& options) {
    if (coreinspect::CachedMemory* cached = inspection_->vm().cached_memory()) cached->reset();
    return view.run(*inspection_, options);
  }

  PartOptions options_;
  std::unique_ptr<coreinspect::Inspection> inspection_;
};

Step step_of_view(const std::shared_ptr<ViewCollector>& views, const std::string& name, milliseconds budget) {
  return {"view " + name, budget, [views, name, budget] { return views->look(name, budget); }};
}

// The views of a bundle that do or do not walk the heap. None of them shows values of the heap, and all of them mask
// secrets.
std::vector<std::string> views_in_bundle(bool walking) {
  std::vector<std::string> names;
  for (const bool is_first : {true, false})
    for (const coreinspect::View& view : coreinspect::views())
      if (view.is(coreinspect::fact::kInBundle) && view.is(coreinspect::fact::kWalksHeap) == walking &&
          view.is(coreinspect::fact::kFirstInBundle) == is_first)
        names.emplace_back(view.name);
  return names;
}

Lane lane_of_views(const PartOptions& options) {
  const auto views = std::make_shared<ViewCollector>(options);
  Lane lane{{"opening the JVM for views", kOfView, [views] { return views->open(); }, milliseconds(0), true}};
  for (const std::string& name : views_in_bundle(false)) lane.push_back(step_of_view(views, name, kOfView));
  return lane;
}

Lane lane_of_walk(const PartOptions& options, const std::string& name) {
  const auto views = std::make_shared<ViewCollector>(options);
  return {{"opening the JVM for the " + name, kOfView, [views] { return views->open(); }, milliseconds(0), true},
          step_of_view(views, name, kOfWalk)};
}

Step step_of_file(pid_t pid, const std::string& name) {
  const auto read = [pid, name]() -> Result<Publish> {
    JTRACE_ASSIGN_OR_RETURN(auto text, read_file("/proc/" + std::to_string(pid) + "/" + name, kMostOfFile));
    return publish("proc/" + name, std::move(text));
  };
  return {"/proc/PID/" + name, kOfFile, read};
}

// Of all controllers that are where memory is; what a version of control groups does not have is left out.
Result<Publish> read_group(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(const target::Process process, target::Process::open(pid));
  JTRACE_ASSIGN_OR_RETURN(const std::string cgroup, process.read_proc("cgroup"));
  JTRACE_ASSIGN_OR_RETURN(const auto mounts, process.mounts());
  std::vector<Part> parts;
  const target::MemoryGroup group = target::memory_group(cgroup, mounts);
  for (const char* name : kGroupFiles)
    if (const std::string text = read_setting(group.folder + "/" + name); !group.folder.empty() && !text.empty())
      parts.push_back({"cgroup/" + std::string(name), text + "\n"});
  return [parts](Collected& collected) { collected.parts.insert(collected.parts.end(), parts.begin(), parts.end()); };
}

Result<Publish> take_core(pid_t pid) {
  JTRACE_ASSIGN_OR_RETURN(const auto core, coreinspect::copy_for_views(pid, kCoreStop));
  std::string bytes;
  JTRACE_ASSIGN_OR_RETURN(
      [[maybe_unused]] const std::uint64_t size,
      target::write_core(core.copy.process(), core.copy.ranges(),
                         [&](std::string_view piece) -> Result<> { return bytes += piece, Result<>(); }));
  return [part = Part{"jvm.core", std::move(bytes)}, stops = core.stops, longest = core.longest](Collected& collected) {
    collected.parts.push_back(part);
    collected.stops += static_cast<std::size_t>(stops);
    collected.pause_longest = std::max(collected.pause_longest, longest);
    collected.pause_all += longest * stops;
  };
}

}  // namespace

void collect_parts(pid_t pid, const PartOptions& options, Collected& collected) {
  std::vector<Lane> lanes{lane_of_views(options)};
  for (const std::string& name : views_in_bundle(true)) lanes.push_back(lane_of_walk(options, name));
  // A lane for each: some of these files wait for a lock of the target, others never do.
  for (const char* name : kFiles) lanes.push_back({step_of_file(pid, name)});
  lanes.push_back({{"control group", kOfFile, [pid] { return read_group(pid); }}});
  run_lanes(std::move(lanes), options.budget, collected);
  // After the others: it stops the JVM, which would hold them up.
  if (options.core) run_lanes({{{"small core", kOfCore, [pid] { return take_core(pid); }}}}, kOfCore, collected);
}

}  // namespace jtrace::diagnose
