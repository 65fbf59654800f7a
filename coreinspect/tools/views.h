// Views: the questions that a target can be asked, one function each.
//
// Views return their output as text or as the elements of the "data" array (docs/architecture.md, "JSON answers"); they
// print nothing. Threads: one at a time.
#pragma once

#include <chrono>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "coreinspect/model/inspection.h"
#include "coreinspect/tools/heap_options.h"
#include "coreinspect/tools/snapshot_parts.h"

namespace jtrace::coreinspect {

// Which threads the view `stack` shows, and in which form.
struct ThreadChoice {
  std::string name;     // of one thread, else part of it, or a pattern with * and ?; or several, separated by commas
  std::string state;    // as Thread.State has it, or several, separated by commas; "": any
  bool java = false;    // only Java threads and Java frames
  bool group = false;   // threads with equal frames once
  bool locals = false;  // the variables of each frame
  bool is_some() const { return !name.empty() || !state.empty(); }
};

struct ViewOptions {
  bool json = false;
  bool stacks = false;        // dominators: "outermost;...;innermost BYTES" lines
  bool all = false;           // include defaults
  bool bytes = false;         // class: the class file instead of a description
  bool show_secrets = false;  // false: what looks like a secret is masked (secrets.h)
  std::vector<std::string> arguments;
  bool stop = false;  // safepoint: stop the late threads for a moment, for their frames
  std::chrono::milliseconds max_stop{200};
  HeapOptions heap;
  ThreadChoice threads;
};

struct ViewResult {
  std::string out;                   // text; or JSON elements, with the commas between them
  std::vector<std::string> missing;  // what could not be read; one line each
  std::string members;               // further members of the JSON object, with the commas between them
  std::size_t masked = 0;            // SecretMask::count()
};

// The options of ViewOptions that only some views have. kMaxStop: the view stops a live target for at most that time.
enum class ViewOption : std::uint8_t {
  kAll,
  kBytes,
  kShowSecrets,
  kMaxStop,
  kNoStop,
  kStop,
  kThreads,
  kLocals,
  kSort,
  kFilter,
  kTop,
  kByLoader,
  kByClass,
  kBy,
  kDepth,
  kHeap,
  kObject,
  kReachable,
  kSubclasses,
  kRedact,
  kDuration,
};

// What else is true of a view: bits of View::facts.
namespace fact {
inline constexpr unsigned kWalksHeap = 1u << 0;             // the whole heap, which takes long if it is large
inline constexpr unsigned kWritesDump = 1u << 1;            // HeapOptions::dump instead of its output
inline constexpr unsigned kIsPage = 1u << 2;                // its output is the data of a page
inline constexpr unsigned kGivesValues = 1u << 3;           // its rows can be `value` elements (graph_events.h)
inline constexpr unsigned kGivesReachableValues = 1u << 4;  // the same, but only with --reachable
// Of a JVM or core it needs no graph: for one object, or as long as its argument is an address.
inline constexpr unsigned kOfOneObject = 1u << 5;
inline constexpr unsigned kOfOneAddress = 1u << 6;
inline constexpr unsigned kInSmallCore = 1u << 7;     // core --small keeps what it reads
inline constexpr unsigned kInRedactedCore = 1u << 8;  // core --redact runs it, and keeps what it reads
// A redacted core answers it from what the walk and the dump of the heap read, which run too, or from the mappings.
inline constexpr unsigned kInRedactedHeap = 1u << 9;
// A bundle of diagnose has it, text and JSON, with kFirstInBundle before those without: the budget may end.
inline constexpr unsigned kInBundle = 1u << 10;
inline constexpr unsigned kFirstInBundle = 1u << 11;
inline constexpr unsigned kKeptWithAll = 1u << 12;  // with --all (ViewOptions::all) in a core; in a bundle as JSON
}  // namespace fact

class ObjectGraph;

struct View {
  std::string_view name;
  std::string_view argument;  // "" or the name of the required argument
  std::string_view help;
  Result<ViewResult> (*run)(Inspection&, const ViewOptions&);  // null: only as events
  SnapshotParts (*parts)(const ViewOptions&);  // elements of trace.dtd (docs/trace_format.md); null: none
  std::initializer_list<ViewOption> options = {};
  unsigned facts = 0;
  Result<ViewResult> (*of_graph)(const ObjectGraph&, const ViewOptions&) = nullptr;  // of a heap dump; null: none

  bool has(ViewOption option) const;
  bool is(unsigned fact) const { return (facts & fact) != 0; }
};
// All views, in the order of the help.
const std::vector<View>& views();
// The names of those of which any of these facts is true.
std::vector<std::string> views_that(unsigned facts);
// Whether the answer is written as `value` elements if events are asked for.
bool gives_values(const View& view, const ViewOptions& options);
// Whether the view is answered from the graph of the whole heap, of a JVM or core too.
bool uses_graph(const View& view, const ViewOptions& options);
// Null if there is none of this name.
const View* find_view(std::string_view name);
// The view of `jtrace stack`, which is not a view of inspect.
const View& stack_view();

std::string hex(std::uint64_t value);

Result<ViewResult> view_info(Inspection&, const ViewOptions&);
Result<ViewResult> view_flags(Inspection&, const ViewOptions&);
Result<ViewResult> view_properties(Inspection&, const ViewOptions&);
Result<ViewResult> view_args(Inspection&, const ViewOptions&);
Result<ViewResult> view_vmstructs(Inspection&, const ViewOptions&);
Result<ViewResult> view_counters(Inspection&, const ViewOptions&);
Result<ViewResult> view_symbols(Inspection&, const ViewOptions&);
Result<ViewResult> view_pmap(Inspection&, const ViewOptions&);
Result<ViewResult> view_memory(Inspection&, const ViewOptions&);
Result<ViewResult> view_threads(Inspection&, const ViewOptions&);
Result<ViewResult> view_stack(Inspection&, const ViewOptions&);
Result<ViewResult> view_classes(Inspection&, const ViewOptions&);
Result<ViewResult> view_class(Inspection&, const ViewOptions&);
Result<ViewResult> view_method(Inspection&, const ViewOptions&);
Result<ViewResult> view_loaders(Inspection&, const ViewOptions&);
Result<ViewResult> view_statics(Inspection&, const ViewOptions&);
Result<ViewResult> view_codecache(Inspection&, const ViewOptions&);
Result<ViewResult> view_find(Inspection&, const ViewOptions&);
Result<ViewResult> view_locks(Inspection&, const ViewOptions&);
Result<ViewResult> view_histogram(Inspection&, const ViewOptions&);
Result<ViewResult> view_regions(Inspection&, const ViewOptions&);
Result<ViewResult> view_object(Inspection&, const ViewOptions&);
Result<ViewResult> view_refs(Inspection&, const ViewOptions&);
Result<ViewResult> view_instances(Inspection&, const ViewOptions&);
Result<ViewResult> view_class_refs(Inspection&, const ViewOptions&);
Result<ViewResult> view_heapdump(Inspection&, const ViewOptions&);
Result<ViewResult> view_safepoint(Inspection&, const ViewOptions&);
Result<ViewResult> view_mutexes(Inspection&, const ViewOptions&);
Result<ViewResult> view_heap(Inspection&, const ViewOptions&);
Result<ViewResult> view_reachable(Inspection&, const ViewOptions&);
Result<ViewResult> view_retained(Inspection&, const ViewOptions&);
Result<ViewResult> view_dominators(Inspection&, const ViewOptions&);
Result<ViewResult> view_paths(Inspection&, const ViewOptions&);
Result<ViewResult> view_leaks(Inspection&, const ViewOptions&);
Result<ViewResult> view_waste(Inspection&, const ViewOptions&);
Result<ViewResult> view_page(Inspection&, const ViewOptions&);

}  // namespace jtrace::coreinspect
