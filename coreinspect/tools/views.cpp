#include "coreinspect/tools/views.h"

#include <algorithm>

#include "base/strings.h"
#include "coreinspect/tools/graph_views.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {

namespace {

SnapshotParts options_parts(const ViewOptions&) { return {.options = true}; }
SnapshotParts arguments_parts(const ViewOptions&) { return {.arguments = true}; }
SnapshotParts counters_parts(const ViewOptions&) { return {.counters = true}; }
SnapshotParts threads_parts(const ViewOptions&) { return {.threads = true, .waits = true, .owned = true}; }
SnapshotParts stack_parts(const ViewOptions&) { return {.threads = true, .frames = true, .waits = true}; }
SnapshotParts classes_parts(const ViewOptions&) { return {.classes = true}; }
SnapshotParts class_parts(const ViewOptions& options) { return {.class_names = options.arguments}; }
// CLASS.METHOD(SIGNATURE): finds the class by its methods.
SnapshotParts method_parts(const ViewOptions& options) {
  SnapshotParts parts;
  for (const std::string& argument : options.arguments) {
    const std::string path = argument.substr(0, argument.find('('));
    parts.class_names.push_back(path.substr(0, path.rfind('.')));
  }
  return parts;
}
SnapshotParts heap_parts(const ViewOptions&) { return {.heap = true}; }
SnapshotParts histogram_parts(const ViewOptions&) { return {.class_totals = true}; }
SnapshotParts object_parts(const ViewOptions& options) { return {.objects = options.arguments}; }
SnapshotParts events_parts(const ViewOptions& options) {
  return {.options = true,
          .threads = true,
          .frames = true,
          .waits = true,
          .owned = true,
          .heap = true,
          .class_totals = options.heap.in_events,
          .objects = options.heap.objects};
}

}  // namespace

bool View::has(ViewOption option) const { return std::find(options.begin(), options.end(), option) != options.end(); }

const std::vector<View>& views() {
  using enum ViewOption;
  static constexpr std::initializer_list<ViewOption> kSecrets = {kShowSecrets};
  static constexpr std::initializer_list<ViewOption> kStops = {kMaxStop};
  static constexpr std::initializer_list<ViewOption> kStacks = {kMaxStop, kLocals, kShowSecrets};
  static constexpr std::initializer_list<ViewOption> kLate = {kStop, kMaxStop};
  static constexpr std::initializer_list<ViewOption> kAllOnly = {kAll};
  static constexpr std::initializer_list<ViewOption> kFlags = {kAll, kShowSecrets};
  static constexpr std::initializer_list<ViewOption> kClass = {kBytes};
  static constexpr std::initializer_list<ViewOption> kWalk = {kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kDump = {kRedact, kReachable, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kRefs = {kTop, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kLeaks = {kTop, kMaxStop, kNoStop, kThreads, kDuration};
  static constexpr std::initializer_list<ViewOption> kStrings = {kTop, kShowSecrets, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kInstances = {kTop,     kSubclasses, kShowSecrets,
                                                                   kMaxStop, kNoStop,     kThreads};
  static constexpr std::initializer_list<ViewOption> kRefsOfClass = {kTop, kSubclasses, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kHistogram = {kSort,      kFilter,  kTop,    kByLoader,
                                                                   kReachable, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kRetained = {kBy, kFilter, kTop, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kValues = {kFilter, kTop, kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kDominators = {kDepth,   kTop,    kObject, kByClass,
                                                                    kMaxStop, kNoStop, kThreads};
  static constexpr std::initializer_list<ViewOption> kObjectView = {kDepth, kTop, kShowSecrets};
  static constexpr std::initializer_list<ViewOption> kEvents = {kHeap,    kObject, kShowSecrets,
                                                                kMaxStop, kNoStop, kThreads};
  using namespace fact;
  constexpr unsigned kBoth = kInSmallCore | kInRedactedCore, kFirst = kInBundle | kFirstInBundle;
  static const std::vector<View> all = {
      {"info",
       "",
       "version, uptime, collector, heap; of a core: signal and crashed thread",
       view_info,
       nullptr,
       {},
       kBoth | kInBundle},
      {"flags", "", "flags that are not at their default (--all: all), with their origin", view_flags, options_parts,
       kFlags, kBoth | kInBundle | kKeptWithAll},
      {"properties", "", "system properties", view_properties, options_parts, kSecrets, kInSmallCore | kInBundle},
      {"args", "", "arguments of the JVM and of the program", view_args, arguments_parts, kSecrets,
       kInSmallCore | kInBundle},
      {"counters", "", "performance counters in the memory of the JVM", view_counters, counters_parts, kSecrets,
       kInSmallCore | kInBundle},
      {"threads", "", "all threads with state, ids and Java frames", view_threads, threads_parts, kStacks,
       kBoth | kFirst},
      {"locks", "", "threads that wait for a lock, its owner, deadlocks", view_locks, threads_parts, kStops,
       kBoth | kFirst},
      {"safepoint", "", "whether a safepoint is being reached: for what, since when, which threads are late and why",
       view_safepoint, nullptr, kLate, kBoth | kFirst},
      {"mutexes", "", "locks of the VM and of native code that a thread has or waits for (--all: idle ones too)",
       view_mutexes, nullptr, kAllOnly, kFirst},
      {"classes", "", "loaded classes with loader and superclass", view_classes, classes_parts, {}, kBoth},
      {"class", "NAME", "fields and methods of a class", view_class, class_parts, kClass},
      {"method", "NAME", "bytecode of the methods CLASS.METHOD, or of the Method at 0xADDRESS", view_method,
       method_parts},
      {"statics", "NAME", "static fields of a class with their values", view_statics, nullptr, kSecrets},
      {"loaders", "", "class loaders with the number of their classes", view_loaders, nullptr, {}, kBoth | kInBundle},
      {"heap", "", "spaces of the heap and their use", view_heap, heap_parts, {}, kBoth | kInBundle},
      {"histogram", "", "instances and bytes of each class", view_histogram, histogram_parts, kHistogram,
       kWalksHeap | kGivesReachableValues | kInRedactedCore | kInBundle, graph_histogram},
      {"retained", "",
       "what the objects of each class, package, loader or thread (--by) keep: bytes that would be free without them",
       view_retained, nullptr, kRetained, kGivesValues | kInRedactedHeap, graph_retained},
      {"dominators", "",
       "the objects that keep most memory, and what they keep (--depth N, --object ADDRESS, --by-class)",
       view_dominators, nullptr, kDominators, kGivesValues | kInRedactedHeap, graph_dominators},
      {"paths", "ADDRESS|CLASS",
       "the way from a root to an object, or to one of a class for each field that holds many of them", view_paths,
       nullptr, kRefs, kInRedactedHeap, graph_paths},
      {"leaks", "", "what looks like a memory leak, with the evidence: who holds it, how much, how many entries",
       view_leaks, nullptr, kLeaks, kGivesValues | kInRedactedHeap, graph_leaks},
      {"waste", "",
       "memory that could be saved: equal strings and arrays, empty and oversized collections, boxed numbers",
       view_waste, nullptr, kRefs, kGivesValues | kInRedactedHeap, graph_waste},
      {"page", "", "one HTML page to browse: pictures of what keeps the memory, paths, leaks, waste (-o FILE.html)",
       view_page, nullptr, kWalk, kIsPage, graph_page},
      {"heapdump", "",
       "all objects, classes, roots and stacks as an hprof file: -o FILE.hprof or FILE.hprof.gz; --redact: without "
       "contents, of an hprof file too",
       view_heapdump, nullptr, kDump, kWalksHeap | kWritesDump | kInRedactedHeap},
      {"object", "ADDRESS", "an object with its fields, and what it refers to (--depth N)", view_object, object_parts,
       kObjectView, kOfOneObject, graph_object},
      {"instances", "CLASS",
       "what the fields of all objects of a class hold, and some of these objects with their contents", view_instances,
       nullptr, kInstances, kInRedactedHeap, graph_instances},
      {"strings", "PATTERN", "which strings have a text: how many of them, held by which field", view_strings, nullptr,
       kStrings, kInRedactedHeap, graph_strings},
      {"values", "VALUE", "which fields hold a number, a truth value, a character, a text or an enum's constant",
       view_values, nullptr, kValues, 0, graph_value_search},
      {"refs", "ADDRESS|CLASS", "who refers to an object, or to those of a class: fields, elements, statics, roots",
       view_refs, nullptr, kRefsOfClass, kWalksHeap | kOfOneAddress | kInRedactedHeap, graph_refs},
      {"regions", "", "regions of the heap, and what of them cannot be parsed", view_regions, nullptr, kWalk,
       kWalksHeap | kInRedactedCore},
      {"codecache", "", "generated code: compiled methods, stubs", view_codecache, nullptr, {}, kBoth | kInBundle},
      {"find", "ADDRESS", "what an address is", view_find, nullptr},
      {"symbols", "", "exported symbols of libjvm.so", view_symbols, nullptr, {}, kInSmallCore | kInRedactedHeap},
      {"pmap", "", "mappings of the process", view_pmap, nullptr, {}, kInSmallCore | kInRedactedHeap},
      {"memory",
       "",
       "what the process's memory is used for, part by part, and the limit of its control group",
       view_memory,
       nullptr,
       {},
       kFirst},
      {"events", "", "all of this as events of trace.dtd: a snapshot (xml)", nullptr, events_parts, kEvents},
      {"vmstructs", "", "the tables in which the JVM describes itself", view_vmstructs, nullptr, {}, kBoth},
  };
  return all;
}

std::vector<std::string> views_that(unsigned facts) {
  std::vector<std::string> names;
  for (const View& view : views())
    if (view.is(facts)) names.emplace_back(view.name);
  return names;
}

bool gives_values(const View& view, const ViewOptions& options) {
  return view.is(fact::kGivesValues) || (view.is(fact::kGivesReachableValues) && options.heap.reachable);
}

bool uses_graph(const View& view, const ViewOptions& options) {
  if (view.is(fact::kWritesDump)) return false;
  if (options.heap.reachable) return true;
  if (view.is(fact::kOfOneObject)) return false;
  if (view.is(fact::kOfOneAddress))
    return !options.arguments.empty() && !parse_address_not_name(options.arguments.front());
  return view.of_graph != nullptr && !view.is(fact::kWalksHeap);
}

const View* find_view(std::string_view name) {
  const auto& all = views();
  const auto found = std::find_if(all.begin(), all.end(), [&](const View& view) { return view.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const View& stack_view() {
  static const View view = {"stack", "", "", view_stack, stack_parts, {}, fact::kInRedactedHeap};
  return view;
}

std::string hex(std::uint64_t value) {
  std::string text;
  append_hex(text, value);
  return text;
}

}  // namespace jtrace::coreinspect
