// LastingClasses: the classes that are never unloaded, because the JVM keeps their loaders: the boot loader, the
// platform loader (before JDK 9: the extension loader), the app loader, and a system class loader of the user.
//
// What their static fields hold stays as long as the program runs. A heap dump has roots only for those of the boot
// loader. Without hidden classes, which may be unloaded before their loader. Ownership: borrows the graph, in the
// constructor only. Threads: any number.
#pragma once

#include <unordered_map>
#include <vector>

#include "coreinspect/graph/object_graph.h"

namespace jtrace::coreinspect {

class LastingClasses {
 public:
  explicit LastingClasses(const ObjectGraph& graph);

  // The java.lang.Class of each that is strongly reachable; those of the program first.
  const std::vector<std::uint32_t>& objects() const { return objects_; }
  // "class of the app loader"; "" for classes of the boot loader, which are roots of the dump, and other objects.
  std::string_view name(std::uint32_t object) const {
    const auto found = names_.find(object);
    return found == names_.end() ? std::string_view() : found->second;
  }

 private:
  std::vector<std::uint32_t> objects_;
  std::unordered_map<std::uint32_t, std::string_view> names_;
};

}  // namespace jtrace::coreinspect
