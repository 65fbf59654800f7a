// ObjectEncoder: writes objects of the heap as sub-records of a heap dump, gathered in segments. The visitor of a walk;
// one for each thread.
#pragma once

#include <memory>

#include "coreinspect/gc/parallel_walk.h"
#include "coreinspect/hprof/class_plan.h"
#include "coreinspect/hprof/heap_dumper.h"

namespace jtrace::coreinspect {

class ObjectEncoder {
 public:
  // `plans`: by KlassInfo::index, of `classes`, which are all classes of the dump. All are borrowed.
  ObjectEncoder(const HeapAccess& access, const ClassPlans& classes, const std::vector<const ClassPlan*>& plans,
                HprofWriter& writer);

  // The bytes of each object that a walk should have in memory; larger objects are read piece by piece.
  static constexpr std::size_t kWant = 64u << 10;

  void begin(const HeapRegion&) {}
  void operator()(const HeapObject& object);
  void end() { flush(); }
  const HeapDumpCounts& counts() const { return counts_; }
  // Id and bytes of the objects whose size their class does not tell: mirrors of classes, stacks of virtual threads.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& single_sizes() const { return single_sizes_; }

 private:
  void instance(const HeapObject& object, const ClassPlan& plan);
  bool is_class_of_dump(const HeapObject& object, const std::byte* bytes, std::size_t available) const;
  void array(const HeapObject& object, const ClassPlan& plan);
  void fields(const std::byte* bytes, std::size_t size, const ClassPlan& plan);
  // Appends `count` elements from `from`.
  void elements(const KlassInfo& info, const std::byte* from, std::size_t count, HprofBuffer& out) const;
  void zeros(std::uint64_t bytes);
  void large_array(const HeapObject& object, std::uint64_t count, std::uint32_t written_size);
  std::uint64_t reference(const std::byte* at) const;
  void flush();

  const HeapAccess* access_;
  const ClassPlans* classes_;
  const std::vector<const ClassPlan*>* plans_;
  HprofWriter* writer_;
  std::unique_ptr<HeapSource> source_;  // for parts that the walk does not have in memory
  HprofBuffer segment_;
  HeapDumpCounts counts_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> single_sizes_;
  std::uint32_t mirror_klass_ = 0;  // offset of the class in a mirror
  Address oop_base_ = 0;
  std::uint32_t oop_shift_ = 0;
  bool narrow_ = true;
};

}  // namespace jtrace::coreinspect
