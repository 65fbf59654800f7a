// Parts of the JDK that are known to keep what was forgotten: thread-locals, reference queues, direct buffers.
#include <algorithm>
#include <unordered_map>

#include "base/strings.h"
#include "coreinspect/graph/leak_rules.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kMostQueued = 10'000'000;  // references that are followed: a queue may lead into itself
constexpr std::size_t kHolders = 3;

// What the thread-locals of all threads keep, by the ThreadLocal.
struct Locals {
  struct OfOne {
    std::uint64_t bytes = 0, threads = 0;
    std::string value;  // class of one
  };
  std::uint64_t threads = 0, values = 0, bytes = 0, stale = 0;
  std::unordered_map<std::uint32_t, OfOne> by_local;  // kNoObject: the ThreadLocal is gone
  std::uint32_t largest() const {
    return std::max_element(by_local.begin(), by_local.end(),
                            [](const auto& a, const auto& b) {
                              return std::pair(a.second.bytes, b.first) < std::pair(b.second.bytes, a.first);
                            })
        ->first;
  }
};

void add_locals(const LeakSearch& search, std::uint32_t map, Locals& sum) {
  const std::uint32_t table = search.fields.reference(map, "table");
  const std::uint64_t before = sum.values;
  for (std::uint64_t i = 0, count = search.fields.length(table); i < count; ++i) {
    const std::uint32_t entry = search.fields.element(table, i), value = search.fields.reference(entry, "value");
    if (value == kNoObject) continue;
    const std::uint32_t local = search.fields.reference(entry, "referent");
    ++sum.values;
    sum.stale += local == kNoObject ? 1 : 0;
    Locals::OfOne& one = sum.by_local[local];
    one.bytes += search.tree.retained(value);
    sum.bytes += search.tree.retained(value);
    ++one.threads;
    if (one.value.empty()) one.value = search.graph.name(value);
  }
  sum.threads += sum.values > before ? 1 : 0;
}

// Whether a suspect already is below the object.
bool holds_a_suspect(const LeakSearch& search, std::uint32_t object) {
  for (const LeakSuspect& each : search.report.suspects)
    for (std::uint32_t at = each.object; at != kNoObject; at = search.tree.dominator(at))
      if (at == object) return true;
  return false;
}

void report_locals(LeakSearch& search, const Locals& sum) {
  const Locals::OfOne& one = sum.by_local.at(sum.largest());
  LeakSuspect suspect{.kind = "thread-locals", .of = one.value, .retained = sum.bytes, .entries = sum.values};
  const std::uint32_t local = sum.largest();
  suspect.holder = local == kNoObject ? "a ThreadLocal that is gone" : search.held.holder(local);
  suspect.sentence = counted(sum.values, "thread-local value") + " of " + counted(sum.threads, "thread") + " keep " +
                     search.part(sum.bytes);
  suspect.evidence.push_back("the largest part: " + std::to_string(one.bytes) + " bytes in " +
                             counted(one.threads, "thread") + " by " +
                             (local == kNoObject ? suspect.holder : "the ThreadLocal held by " + suspect.holder) +
                             ", values such as " + one.value);
  if (sum.stale > 0)
    suspect.evidence.push_back(counted(sum.stale, "value") + " of a ThreadLocal that is gone, never removed");
  search.report.suspects.push_back(std::move(suspect));
}

// The references of a queue: the last one is its own `next`. (A Finalizer has a `next` of its own, for another list.)
std::vector<std::uint32_t> walk(const LeakSearch& search, std::uint32_t queue) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t at = search.fields.reference(queue, "head");
       at != kNoObject && !search.graph.is_class(at) && found.size() < kMostQueued;) {
    found.push_back(at);
    const auto place = search.fields.find(search.graph.class_of(at), "next", "java.lang.ref.Reference");
    const std::uint32_t next = search.fields.reference(at, place);
    if (next == at) break;
    at = next;
  }
  return found;
}

std::uint32_t finalizer_queue(const LeakSearch& search) {
  const auto& classes = search.graph.classes();
  for (std::uint32_t i = 0; i < classes.size(); ++i)
    if (classes[i].name == "java.lang.ref.Finalizer") return search.fields.static_reference(i, "queue");
  return kNoObject;
}

}  // namespace

void find_thread_locals(LeakSearch& search) {
  std::vector<char> is_thread;
  for (const GraphClass& each : search.graph.classes()) is_thread.push_back(each.is_thread ? 1 : 0);
  Locals all, unreported;
  for (const std::uint32_t thread : search.objects_of(is_thread))
    for (const char* field : {"threadLocals", "inheritableThreadLocals"}) {
      const std::uint32_t map = search.fields.reference(thread, field);
      add_locals(search, map, all);
      if (map != kNoObject && !holds_a_suspect(search, map)) add_locals(search, map, unreported);
    }
  if (unreported.bytes >= search.much) report_locals(search, unreported);
  search.report.looked_at.push_back(counted(all.values, "thread-local value") + " of " +
                                    counted(all.threads, "thread") + " keep " + std::to_string(all.bytes) + " bytes, " +
                                    std::to_string(all.stale) + " of a ThreadLocal that is gone");
}

void find_queues(LeakSearch& search) {
  const std::uint32_t of_finalizers = finalizer_queue(search);
  std::uint64_t queues = 0, all = 0, final = 0;
  for (const std::uint32_t queue : search.objects_of(search.classes_below("java.lang.ref.ReferenceQueue"))) {
    const auto references = walk(search, queue);
    const std::uint64_t bytes = search.retained_by(references);
    ++queues;
    all += references.size();
    if (queue == of_finalizers) final = references.size();
    if (bytes < search.much) continue;
    LeakSuspect suspect{.kind = queue == of_finalizers ? "finalizer queue" : "reference queue",
                        .of = search.graph.name(search.fields.reference(queue, "head")),
                        .object = queue,
                        .retained = bytes,
                        .entries = references.size()};
    suspect.holder = search.held.holder(queue);
    suspect.sentence = counted(references.size(), "reference") + " in the " +
                       (queue == of_finalizers ? "queue of the finalizers" : "queue held by " + suspect.holder) +
                       " keep " + search.part(bytes);
    suspect.evidence.push_back(queue == of_finalizers
                                   ? "nobody has taken them away: the thread \"Finalizer\" is busy in a finalize() or "
                                     "slower than objects are made; the view threads shows where it is"
                                   : "nobody has taken them away");
    search.report.suspects.push_back(std::move(suspect));
  }
  search.report.looked_at.push_back(counted(all, "reference") + " in " + counted(queues, "reference queue") + ", " +
                                    std::to_string(final) + " of them wait for their finalizer");
}

void find_direct_buffers(LeakSearch& search) {
  std::vector<std::uint32_t> owners;
  std::uint64_t bytes = 0;
  for (const std::uint32_t buffer : search.objects_of(search.classes_below("java.nio.DirectByteBuffer"))) {
    // A slice or view has the memory of another buffer.
    if (search.fields.reference(buffer, "cleaner") == kNoObject || search.fields.reference(buffer, "att") != kNoObject)
      continue;
    owners.push_back(buffer);
    bytes += search.fields.number(buffer, "capacity").value_or(0);
  }
  search.report.looked_at.push_back(counted(owners.size(), "direct buffer") + " with " + std::to_string(bytes) +
                                    " bytes outside the heap");
  if (bytes < search.limits.direct || bytes < search.tree.reachable() / 2) return;
  HolderCounts holders(search.held);
  for (const std::uint32_t buffer : some_of(owners, kMostWays)) holders.add(buffer);
  LeakSuspect suspect{
      .kind = "direct buffers", .of = "java.nio.DirectByteBuffer", .retained = bytes, .entries = owners.size()};
  suspect.holder = holders.first();
  suspect.sentence = counted(owners.size(), "direct buffer keeps", "direct buffers keep") + " " +
                     std::to_string(bytes) + " bytes outside the heap, which has " +
                     std::to_string(search.tree.reachable());
  suspect.evidence = holders.sentences(kHolders);
  suspect.evidence.push_back("the way to one of them: " + search.held.path(owners.front()));
  search.report.suspects.push_back(std::move(suspect));
}

}  // namespace jtrace::coreinspect
