// A heap on a made-up JVM, for the tests of the heap's layout.
#pragma once

#include <string>
#include <vector>

#include "coreinspect/gc/heap_layout.h"
#include "tests/unit/coreinspect/vm/made_up_vm.h"

namespace jtrace::test {

using coreinspect::Address;

inline constexpr Address kHeap = 0x1000000;      // the CollectedHeap
inline constexpr Address kMega = 1 << 20;        // sizes of regions below
inline constexpr Address kObjects = 0x80000000;  // where objects lie

inline constexpr Address kRegions = 0x1400000;  // HeapRegions, 64 bytes each

inline std::string release_of(int jdk) { return jdk == 8 ? "25.402-b06" : std::to_string(jdk) + ".0.1+1"; }

// A heap in units of 1 MiB from kObjects on.
class MadeUpHeap {
 public:
  MadeUpHeap(int jdk, const char* collector_flag) : vm(release_of(jdk)) {
    vm.flag(collector_flag, true);
    vm.variable("Universe", "_collectedHeap", kHeap);
    vm.field("CollectedHeap", "_total_collections", 0);
    vm.words(kHeap, std::vector<Address>(64));
    vm.word(kHeap, 7);
  }
  // "eden 0-4 used 2": each region in units of 1 MiB, with "!" if it is a single object.
  std::vector<std::string> regions() {
    layout = must(coreinspect::read_heap_layout(vm.open()));
    std::vector<std::string> lines;
    for (const coreinspect::HeapRegion& each : layout.regions)
      lines.push_back(std::string(each.type) + (each.one_object ? "! " : " ") + mega(each.start - kObjects - base) +
                      "-" + mega(each.end - kObjects - base) + " used " + mega(each.used()));
    return lines;
  }
  static Address at(double units) { return kObjects + static_cast<Address>(units * kMega); }

  MadeUpVm vm;
  coreinspect::HeapLayout layout;
  Address base = 0;  // ZGC: the bits above the offset

 private:
  static std::string mega(Address bytes) {
    const std::string text = std::to_string(static_cast<double>(bytes) / kMega);
    return text.substr(0, text.ends_with(".000000") ? text.find('.') : text.find_last_not_of('0') + 1);
  }
};

}  // namespace jtrace::test
