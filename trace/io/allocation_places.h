// AllocationPlaces: the allocations of one producer by class, thread and stack, so that they can be summed up by each.
// Fed by Statistics. After kMaxPlaces combinations, further stacks are summed up as one. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "trace/io/allocation_weight.h"

namespace jtrace::trace::io {

// Objects and bytes, weighted (allocation_weight.h); `elements`: the number of recorded objAlloc.
struct Allocated {
  double objects = 0, bytes = 0;
  std::uint64_t elements = 0;
  void add(const AllocationWeight& weight);
  void add(const Allocated& other);
};

enum class AllocationsBy : std::uint8_t { kClass, kSite, kStack, kThread, kMethod };

struct AllocationRow {
  std::string type;  // by class, site, stack and method
  // By site: its first frame; by stack: frames separated by ';', innermost first; by method: the innermost frame of the
  // program and the one that called it.
  std::string stack;
  std::uint64_t thread = 0;  // by thread
  Allocated amount;
};

class AllocationPlaces {
 public:
  static constexpr std::size_t kMaxPlaces = 200'000;
  static constexpr std::string_view kOtherStacks = "(other stacks)";

  // `stack`: contextData, "" if the trace has none.
  void add(std::string_view type, std::string_view stack, std::uint64_t thread, const AllocationWeight& weight);
  // Those of the classes that `wanted` means (base/class_names.h; "": all), most bytes first. By site and by stack only
  // those with a stack, by method those with a frame that is not of the JDK.
  std::vector<AllocationRow> rows(AllocationsBy by, const std::string& wanted) const;
  Allocated total(const std::string& wanted) const;
  // Whether a method of the JDK made one of these below a method of the program: then by method is not by site.
  bool jdk_makes_for_program(const std::string& wanted) const;
  // The names of these classes; kNotFound with what would be meant, if none of them was allocated.
  Result<std::vector<std::string>> classes(const std::string& wanted) const;
  bool has_stacks() const { return has_stacks_; }

 private:
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // class, stack, thread
  std::uint32_t id_of(std::string_view word);
  std::vector<std::string> all_classes() const;
  // By the id of a word: whether it is a class that is meant.
  std::vector<bool> chosen(const std::string& wanted) const;

  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<const std::string*> words_;
  std::map<Place, Allocated> places_;
  bool has_stacks_ = false;
};

// Of a stack, the innermost frame that is not of the JDK and the next one; "" if there is none.
std::string_view program_frames(std::string_view stack);
// "com.example.Shop.serve:12" of a frame as a stack has it.
std::string frame_text(std::string_view frame);

}  // namespace jtrace::trace::io
