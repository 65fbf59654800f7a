// The rules of leak_report.h, one function each, and their shared data.
#pragma once

#include <map>

#include "coreinspect/graph/collections.h"
#include "coreinspect/graph/held_by.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/leak_report.h"
#include "coreinspect/graph/shared_holders.h"

namespace jtrace::coreinspect {

struct LeakSearch {
  LeakSearch(const HeapTree& of, const LeakLimits& with)
      : tree(of),
        graph(of.graph()),
        limits(with),
        much(with.of(of.reachable())),
        fields(graph),
        collections(graph),
        paths(graph),
        held(graph, paths),
        holder_fields(graph, paths) {}

  const HeapTree& tree;
  const ObjectGraph& graph;
  const LeakLimits limits;
  const std::uint64_t much;  // bytes
  const ObjectFields fields;
  const Collections collections;
  const ShortestPaths paths;
  const HeldBy held;
  HolderFields holder_fields;
  LeakReport report{};

  // "71.3 % of the heap (42565637 bytes)".
  std::string part(std::uint64_t bytes) const;
  // All objects, in order, of the classes whose number is set in `is_wanted`, without garbage.
  std::vector<std::uint32_t> objects_of(const std::vector<char>& is_wanted) const;
  std::vector<char> classes_below(std::string_view name) const;
  // What several objects retain together: an object below another one counts once.
  std::uint64_t retained_by(const std::vector<std::uint32_t>& objects) const;
};

// The holders of several objects: each holder, without the name of its thread, with the number of objects that it
// holds.
class HolderCounts {
 public:
  explicit HolderCounts(const HeldBy& held) : held_(held) {}
  // `through`: what the holder has of it, if not the object that is meant: "the class Plugin".
  void add(std::uint32_t object, const std::string& through = "");
  // "17 are held by the field contextClassLoader of a thread, such as thread "worker-1"", most first.
  std::vector<std::string> sentences(std::size_t most) const;
  std::string first() const;           // the holder of the most objects
  std::uint32_t first_object() const;  // one that it holds

 private:
  struct Count {
    std::uint64_t objects = 0;
    std::string holder, example;
    std::uint32_t object = kNoObject;
  };
  std::vector<std::pair<std::string, Count>> sorted() const;

  const HeldBy& held_;
  std::map<std::string, Count> counts_;
};
// If there are many objects, only the paths of this many are examined.
constexpr std::size_t kMostWays = 100;
// Some of them, evenly spread, in order.
std::vector<std::uint32_t> some_of(const std::vector<std::uint32_t>& objects, std::size_t most);

void find_queues(LeakSearch& search);
void find_accumulations(LeakSearch& search);
void find_groups(LeakSearch& search);
// Many of a class that one object keeps, but none of its fields alone: a suspect for each class whose objects keep much
// together. False if there is none.
bool find_groups_below(LeakSearch& search, std::uint32_t object);
void find_loader_leaks(LeakSearch& search);
void find_thread_locals(LeakSearch& search);
void find_direct_buffers(LeakSearch& search);

}  // namespace jtrace::coreinspect
