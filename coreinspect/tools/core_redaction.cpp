#include "coreinspect/tools/core_redaction.h"

#include <algorithm>
#include <array>

#include "base/joined.h"
#include "base/size_text.h"
#include "coreinspect/hprof/heap_dumper.h"
#include "coreinspect/hprof/object_encoder.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/oops/java_collections.h"
#include "coreinspect/runtime/vm_symbols.h"
#include "coreinspect/tools/kept_bytes.h"
#include "coreinspect/tools/owned_locks.h"
#include "coreinspect/tools/views.h"
#include "target/read_log.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::uint64_t kSmall = 4096;       // numbers up to it say nothing: offsets in frames, flags, counts
constexpr std::uint64_t kTable = 64u << 10;  // bytes: a longer read is a search for addresses
constexpr std::uint64_t kRedZone = 128;      // bytes below the stack pointer (x86-64 ABI)
constexpr unsigned kWhenRedacted = fact::kInRedactedCore | fact::kInRedactedHeap;
class NoBytes final : public trace::ByteSink {
  Result<> drain(std::string_view records) override {
    held_ += records.size();
    return {};
  }
  std::uint64_t held() const override { return held_; }
  std::uint64_t held_ = 0;
};

// Marks what of the heap stays: the visitor of one walk.
class HeapMarker {
 public:
  struct Found {
    std::vector<Address> starts;            // of all objects
    std::vector<target::ReadBytes> chunks;  // contents of stacks of virtual threads
    std::vector<target::ReadBytes> gaps;    // between objects, where the collector leaves old copies or free chunks
  };
  HeapMarker(KeptBytes& kept, ClassPlans& plans, Found& found) : kept_(&kept), plans_(&plans), found_(&found) {}
  void begin(const HeapRegion& region) {
    end();
    last_ = region.start;
    top_ = region.forwarding || region.free_chunks ? region.top : 0;
  }
  void end() {
    if (last_ < top_) found_->gaps.push_back({last_, top_});
    last_ = top_ = 0;
  }
  void operator()(const HeapObject& object) {
    if (top_ != 0 && last_ < object.address) found_->gaps.push_back({last_, object.address});
    last_ = object.address + object.size;
    using Kind = KlassInfo::Kind;
    const KlassInfo& info = *object.klass;
    found_->starts.push_back(object.address);
    if (info.kind == Kind::kPrimitiveArray || info.filler) return kept_->keep(object.address, info.base);
    if (info.kind == Kind::kObjectArray) return kept_->keep(object.address, object.size);
    kept_->keep(object.address, info.kind == Kind::kStackChunk ? info.base : object.size);
    if (info.kind == Kind::kStackChunk)
      found_->chunks.push_back({object.address + info.base, object.address + object.size});
    if (const ClassPlan* plan = plan_of(info))
      for (const FieldPlan& field : plan->fields)
        if (field.redacted) kept_->drop(object.address + field.offset, hprof_size(field.type));
  }

 private:
  const ClassPlan* plan_of(const KlassInfo& info) {
    if (info.index >= by_index_.size()) by_index_.resize(info.index + 1, nullptr);
    const ClassPlan*& plan = by_index_[info.index];
    if (plan == nullptr) {
      plans_->add(info.klass);
      plan = plans_->find(info.klass);
    }
    return plan;
  }
  KeptBytes* kept_;
  ClassPlans* plans_;
  Found* found_;
  Address last_ = 0, top_ = 0;  // the end of the last object; of the region, if its gaps count
  std::vector<const ClassPlan*> by_index_;
};

class Redaction {
 public:
  explicit Redaction(CoreCopy& core) : core_(core) {}

  // What a whole core lacks too; one line each.
  const std::vector<std::string>& missing_before() const { return missing_; }

  Result<> run() {
    JTRACE_RETURN_IF_ERROR(learn());
    KeptBytes kept(core_.copy);
    JTRACE_RETURN_IF_ERROR(mark(kept));
    access_.reset();
    inspection_.reset();
    kept.apply();
    redact_notes();
    return {};
  }

 private:
  // The views over the copy as a core of its own: what they read is noted.
  Result<> learn() {
    JTRACE_ASSIGN_OR_RETURN(file_, core_in_memory(core_.copy));
    JTRACE_ASSIGN_OR_RETURN(auto target, target::Target::open_core(path_of_core(file_), {.sysroot = "/proc/self/fdinfo",
                                                                                         .libjvm = {},
                                                                                         .tell_unnamed = false,
                                                                                         .read = &short_reads_,
                                                                                         .long_read = &long_reads_}));
    JTRACE_ASSIGN_OR_RETURN(inspection_, Inspection::open(std::move(target)));
    JTRACE_RETURN_IF_ERROR(inspection_->healthy());
    JTRACE_RETURN_IF_ERROR(learn_heap());
    // Reads of the heap from here on are of what is shown, as the names of threads.
    inspection_->set_known_locks(locks_);
    std::vector<std::string> names = views_that(fact::kInRedactedCore);
    std::erase_if(names, [](const auto& name) { return find_view(name)->is(fact::kWalksHeap); });  // learn_heap()
    missing_ = run_views(*inspection_, names);
    return {};
  }
  Result<> learn_heap() {
    JTRACE_ASSIGN_OR_RETURN(access_, HeapAccess::open(*inspection_, {}));
    std::vector<target::ReadBytes> heap;
    for (const HeapRegion& region : access_->layout().regions) heap.push_back({region.start, region.end});
    short_reads_.leave_out(heap);
    long_reads_.leave_out(heap);
    locks_ = OwnedLocks(*inspection_, std::chrono::minutes(1)).known();
    for (const char* name : {"histogram", "regions"}) {
      const auto result = find_view(name)->run(*inspection_, {});
      if (!result) return fail(result.error());
    }
    NoBytes nowhere;
    JTRACE_ASSIGN_OR_RETURN(const auto dump, dump_heap(*access_, nowhere, 0, 1, {}, true));
    short_reads_.leave_out({});
    return {};
  }

  Result<> mark(KeptBytes& kept) {
    for (const target::Mapping& mapping : core_.copy.process().mappings)
      mapped_.push_back({mapping.start, mapping.end});
    for (const target::ReadBytes& read : long_reads_.all())
      if (read.end - read.start > kTable) filter(kept, read);
      else kept.keep(read.start, read.end - read.start);
    ClassPlans plans(*access_, true);
    HeapMarker::Found found;
    std::vector<HeapMarker> markers(1, HeapMarker(kept, plans, found));
    JTRACE_ASSIGN_OR_RETURN(const WalkTotals totals, walk_regions(*access_, markers, 32, {}));
    if (totals.unparsable + totals.unreadable > 0)
      core_.missing.push_back(size_text(totals.unparsable + totals.unreadable) +
                              " of the heap could not be parsed: the core has zeros there");
    drop_statics(kept);
    std::sort(found.starts.begin(), found.starts.end());
    starts_ = std::move(found.starts);
    for (const target::ReadBytes& read : short_reads_.all()) kept.keep(read.start, read.end - read.start);
    drop_texts_of_counters(kept);
    for (const target::ReadBytes& chunk : found.chunks) filter(kept, chunk);
    for (const target::CoreThread& thread : core_.copy.process().threads) filter_stack(kept, thread);
    gaps_ = std::move(found.gaps);
    keep_forwarded(kept);
    for (const HeapRegion& region : access_->layout().regions) kept.expect(region.start, region.top);
    return {};
  }

  // Primitive static fields lie in the mirrors.
  void drop_statics(KeptBytes& kept) const {
    const ClassModel& model = inspection_->classes();
    const auto all = model.all();
    for (const Address klass : all ? *all : std::vector<Address>()) {
      const Address mirror = access_->place_of(mirror_of(inspection_->objects(), klass).value_or(0));
      const auto fields = model.fields(klass);
      if (mirror == 0 || !fields) continue;
      const std::string name = model.internal_name(klass).value_or("");
      for (const JavaField& field : **fields) {
        if (!field.is_static() || field.injected || field.signature.empty()) continue;
        const std::uint8_t type = hprof_type(field.signature.front());
        if (type != 2 && !stays_redacted(name, field.name))
          kept.drop(mirror + static_cast<Address>(field.offset), hprof_size(type));
      }
    }
  }

  // An object that was copied elsewhere has its new address in the old place, and its class says how long that is.
  void keep_forwarded(KeptBytes& kept) const {
    for (const target::ReadBytes& each : gaps_) filter(kept, each);
  }

  // Arguments and properties are among the counters, which are read as a whole. Layout: perfMemory.hpp, perfData.hpp.
  void drop_texts_of_counters(KeptBytes& kept) const {
    const Vm& vm = inspection_->vm();
    const auto start = vm.read_static<Address>("PerfMemory", "_start");
    if (!start || *start == 0) return;
    constexpr std::uint64_t kUsed = 8, kEntryOffset = 24, kEntries = 28, kMost = 1u << 24;
    const auto number = [&](Address at) { return vm.memory().read<std::uint32_t>(at).value_or(0); };
    const std::uint64_t used = std::min<std::uint64_t>(number(*start + kUsed), kMost);
    Address entry = *start + number(*start + kEntryOffset);
    for (std::uint32_t left = number(*start + kEntries); left > 0 && entry + 20 <= *start + used; --left) {
      const std::uint64_t length = number(entry), count = number(entry + 8), data = number(entry + 16);
      if (length == 0 || data > length) return kept.drop(entry, *start + used - entry);
      if (count > 0) kept.drop(entry + data, length - data);
      entry += length;
    }
  }

  void filter_stack(KeptBytes& kept, const target::CoreThread& thread) const {
    const Address pointer = thread.registers.registers.sp();
    for (const target::ReadBytes& mapping : mapped_) {
      if (pointer < mapping.start || pointer >= mapping.end) continue;
      kept.drop(mapping.start, mapping.end - mapping.start);
      const Address start = std::max(mapping.start, (pointer - kRedZone) & ~Address{7});
      filter(kept, {start, mapping.end});
    }
  }
  void filter(KeptBytes& kept, const target::ReadBytes& range) const {
    kept.filter(range.start, range.end - range.start, [this](std::uint64_t word) { return halves(word); });
  }
  // What of a word may stay.
  unsigned halves(std::uint64_t word) const {
    if (word < kSmall || word > ~kSmall || is_mapped(word)) return 3;
    if (inspection_->objects().reference_size() != 4) return 0;
    return (is_object(static_cast<std::uint32_t>(word)) ? 1u : 0u) |
           (is_object(static_cast<std::uint32_t>(word >> 32)) ? 2u : 0u);
  }
  bool is_object(std::uint32_t narrow) const {
    return narrow != 0 &&
           std::binary_search(starts_.begin(), starts_.end(), inspection_->objects().from_narrow(narrow));
  }
  bool is_mapped(Address address) const {
    const auto next = std::upper_bound(mapped_.begin(), mapped_.end(), address,
                                       [](Address at, const target::ReadBytes& each) { return at < each.end; });
    return next != mapped_.end() && next->start <= address;
  }

  void redact_notes() {
    target::CoreProcess& process = core_.copy.process();
    process.arguments.clear();
    for (target::CoreThread& thread : process.threads) {
      thread.floats.clear();
      thread.vectors.clear();
      for (std::uint64_t& word : thread.registers.registers.words)
        if (word >= kSmall && word <= ~kSmall && !is_mapped(word)) word = 0;
    }
    core_.copy.add_note({kLocksNote, locks_note(locks_)});
    core_.copy.add_note({kRedactedNote, "1"});
    if (!locks_.why.empty()) core_.missing.push_back("java.util.concurrent locks that threads own: " + locks_.why);
  }

  CoreCopy& core_;
  UniqueFd file_;
  target::ReadLog short_reads_, long_reads_;
  std::unique_ptr<Inspection> inspection_;
  std::unique_ptr<HeapAccess> access_;
  KnownLocks locks_;
  std::vector<std::string> missing_;
  std::vector<target::ReadBytes> mapped_;  // by address
  std::vector<Address> starts_;
  std::vector<target::ReadBytes> gaps_;
};

// What the views of the finished core lack, that they had before.
Result<std::vector<std::string>> try_views(const CoreCopy& core) {
  JTRACE_ASSIGN_OR_RETURN(const UniqueFd file, core_in_memory(core.copy));
  JTRACE_ASSIGN_OR_RETURN(
      auto target, target::Target::open_core(path_of_core(file),
                                             {.sysroot = "/proc/self/fdinfo", .libjvm = {}, .tell_unnamed = false}));
  JTRACE_ASSIGN_OR_RETURN(const auto inspection, Inspection::open(std::move(target)));
  return run_views(*inspection, views_that(fact::kInRedactedCore));
}

}  // namespace

bool answers_when_redacted(const View& view) { return view.is(kWhenRedacted); }

Result<> check_not_redacted(const target::Target& target, std::string_view what) {
  if (!is_redacted(target)) return {};
  std::vector<std::string> names = views_that(kWhenRedacted);
  names.emplace_back(stack_view().name);
  return fail(ErrorCategory::kRefused, "the core is redacted: it has no " + std::string(what),
              "it has " + joined(names));
}

Result<CoreCopy> copy_redacted(pid_t pid, const target::CopyOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(CoreCopy core, copy_whole(pid, options));
  Redaction redaction(core);
  JTRACE_RETURN_IF_ERROR(redaction.run());
  JTRACE_ASSIGN_OR_RETURN(auto lacks, try_views(core));
  const auto& before = redaction.missing_before();
  std::erase_if(lacks,
                [&](const std::string& line) { return std::find(before.begin(), before.end(), line) != before.end(); });
  core.missing.insert(core.missing.end(), lacks.begin(), lacks.end());
  return core;
}

}  // namespace jtrace::coreinspect
