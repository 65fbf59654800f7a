// The kinds of waste_report.h, one function each, and their shared data.
#pragma once

#include "coreinspect/graph/collections.h"
#include "coreinspect/graph/holder_fields.h"
#include "coreinspect/graph/waste_report.h"

namespace jtrace::coreinspect {

struct WasteSearch {
  explicit WasteSearch(const ObjectGraph& of) : graph(of), fields(of), paths(of), holders(of, paths) {}

  const ObjectGraph& graph;
  const ObjectFields fields;
  const ShortestPaths paths;
  HolderFields holders;
  std::vector<char> of_strings;  // by object: the array of a string
  std::vector<WasteFinding> findings{};

  bool counts(std::uint32_t object) const {
    return !graph.is_class(object) && graph.strength(object) != Strength::kGarbage;
  }
};

// The waste of one kind and class.
class WasteSum {
 public:
  explicit WasteSum(WasteSearch& search) : search_(search), holders_(search.holders) {}
  void add(std::uint32_t object, std::uint64_t bytes) {
    ++objects_;
    bytes_ += bytes;
    holders_.add(object, bytes);
  }
  // Adds the finding, if there is any.
  void finish(const std::string& kind, const std::string& of, std::vector<WasteExample> examples = {});

 private:
  WasteSearch& search_;
  HolderSums holders_;
  std::uint64_t objects_ = 0, bytes_ = 0;
};

void find_duplicate_strings(WasteSearch& search);  // before the arrays
void find_wasted_arrays(WasteSearch& search);
void find_wasted_collections(WasteSearch& search);
void find_boxed_numbers(WasteSearch& search);
void find_empty_fields(WasteSearch& search);

}  // namespace jtrace::coreinspect
