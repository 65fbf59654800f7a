#include "coreinspect/tools/hprof_redactor.h"

#include <algorithm>
#include <unordered_set>

#include "base/strings.h"
#include "coreinspect/hprof/redaction.h"
#include "coreinspect/tools/kept_contents.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kPiece = 1u << 20;
constexpr int kMaxSuperclasses = 1000;
constexpr std::uint8_t kReference = 2;
// Of a segment that is written in parts. A single record may be longer, up to the 2^32 bytes of the length field.
constexpr std::uint64_t kMostOfSegment = 1u << 30;
constexpr char kBlank = '*';
// Records without names and contents (hprof_b_spec.h): UNLOAD_CLASS, ALLOC_SITES, HEAP_SUMMARY, START_THREAD,
// END_THREAD, CPU_SAMPLES, CONTROL_SETTINGS.
constexpr std::uint8_t kPlainTags[] = {0x03, 0x06, 0x07, 0x0a, 0x0b, 0x0d, 0x0e};

class Redactor {
 public:
  Redactor(const HprofFile& file, trace::ByteSink& sink,
           const std::function<bool(std::uint64_t, std::uint64_t)>& progress, const RewriteOptions& options)
      : file_(file), sink_(sink), progress_(progress), options_(options) {}

  Result<RedactionCounts> run() {
    make_plans();
    JTRACE_ASSIGN_OR_RETURN(kept_arrays_, find_kept_arrays(file_, options_.kept));
    find_names();
    write_head();
    auto segment = file_.segments().begin();
    Result<> status;
    file_.each_record([&](const HprofRecord& record) {
      if (segment != file_.segments().end() && segment->start == record.body) write_segment(record, *segment++);
      else if (!record.is_segment()) write_record(record);
      if (progress_ && !progress_(record.end, file_.size()))
        status = fail(ErrorCategory::kRefused, "interrupted: no heap dump is written");
      return status.has_value() && sink_.result().has_value();
    });
    flush();
    JTRACE_RETURN_IF_ERROR(status);
    JTRACE_RETURN_IF_ERROR(sink_.result());
    counts_.missing = file_.missing();
    if (unknown_ > 0) counts_.missing.push_back(counted(unknown_, "record") + " of unknown kinds: left out");
    if (without_class_ > 0)
      counts_.missing.push_back(counted(without_class_, "object") +
                                " of classes that the dump does not have: all of their fields are zeros");
    return std::move(counts_);
  }

 private:
  struct Run {
    std::uint64_t offset, size;
  };
  struct Plan {
    std::uint64_t size = 0;
    std::vector<Run> zeros;
  };

  void make_plans() {
    for (const HprofClass& each : file_.classes()) classes_.emplace(each.id, &each);
    for (const HprofClass& each : file_.classes()) plans_.emplace(each.id, plan_of(each.id));
  }
  Plan plan_of(std::uint64_t id) const {
    Plan plan;
    for (int steps = 0; id != 0 && steps < kMaxSuperclasses; ++steps) {
      const auto found = classes_.find(id);
      if (found == classes_.end()) break;
      const std::string name = file_.class_name(id);
      for (const HprofField& field : found->second->fields) {
        const std::uint32_t size = file_.field_size(field.type);
        if (field.type != kReference && !stays(name, file_.text(field.name))) add_zeros(plan, size);
        plan.size += size;
      }
      id = found->second->super;
    }
    return plan;
  }
  bool stays(const std::string& class_name, const std::string& field) const {
    return stays_redacted(class_name, field) || options_.kept.keeps(class_name, field);
  }
  static void add_zeros(Plan& plan, std::uint64_t size) {
    if (!plan.zeros.empty() && plan.zeros.back().offset + plan.zeros.back().size == plan.size)
      plan.zeros.back().size += size;
    else plan.zeros.push_back({plan.size, size});
  }

  // Of classes, fields and methods: those texts stay.
  void find_names() {
    const std::uint32_t id = file_.id_size();
    for (const HprofClass& each : file_.classes()) {
      for (const HprofField& field : each.fields) names_.insert(field.name);
      for (const HprofStatic& field : each.statics) names_.insert(field.field.name);
    }
    file_.each_record([&](const HprofRecord& record) {
      const std::uint64_t size = record.end - record.body;
      if (record.tag == static_cast<std::uint8_t>(HprofTag::kLoadClass) && size >= 8 + 2ull * id)
        names_.insert(file_.id(record.body + 8 + id));
      if (record.tag == static_cast<std::uint8_t>(HprofTag::kFrame) && size >= 4ull * id)
        for (std::uint32_t i = 1; i < 4; ++i) names_.insert(file_.id(record.body + i * id));
      return true;
    });
  }

  void write_head() {
    copy(0, file_.head_size());
    if (!options_.redact) return;
    const std::string kept = options_.kept.text();
    const std::string mark = std::string(kRedactedMark) + (kept.empty() ? "" : std::string(kKeptMark) + kept);
    const std::uint32_t id = file_.id_size();
    number(static_cast<std::uint8_t>(HprofTag::kUtf8), 1);
    number(0, 4);
    number(id + mark.size(), 4);
    number(~std::uint64_t{0}, id);  // an id that no other text has
    text(mark);
  }

  void write_record(const HprofRecord& record) {
    if (file_.is_cut(record)) return;  // reported by HprofFile::missing()
    switch (static_cast<HprofTag>(record.tag)) {
      case HprofTag::kUtf8: return write_text(record);
      case HprofTag::kLoadClass:
      case HprofTag::kFrame:
      case HprofTag::kTrace:
      case HprofTag::kHeapDumpEnd: return copy(record.place, record.end);
      default: break;
    }
    if (std::find(std::begin(kPlainTags), std::end(kPlainTags), record.tag) != std::end(kPlainTags))
      return copy(record.place, record.end);
    ++unknown_;
  }
  void write_text(const HprofRecord& record) {
    const std::uint64_t start = record.body + file_.id_size();
    if (start > record.end) return;
    if (!options_.redact) return copy(record.place, record.end);
    // The mark of an earlier redaction: the new one is in the head.
    if (file_.is_redacted() && file_.text(file_.id(record.body)).starts_with(kRedactedMark)) return;
    if (names_.contains(file_.id(record.body))) return copy(record.place, record.end);
    copy(record.place, start);
    text(std::string(record.end - start, kBlank));
    ++counts_.blanked;
  }

  void write_segment(const HprofRecord& record, const HprofFile::Segment& segment) {
    if (options_.stays) return write_parts(record, segment);
    const bool whole = segment.end == record.end && !file_.is_cut(record);
    copy(record.place, record.place + 5);
    // One that is too long for its length field stays so.
    if (whole) copy(record.place + 5, record.body);
    else number(segment.end - segment.start, 4);
    for (std::uint64_t place = segment.start; place < segment.end;) {
      const std::uint64_t size = file_.sub_size(place, segment.end);
      if (size == 0) return;  // the file was cut in the meantime
      write_sub(place, place + size);
      place += size;
    }
  }
  bool is_left_out(std::uint64_t place) const {
    const auto kind = static_cast<HprofSub>(file_.number(place, 1));
    const bool is_object =
        kind == HprofSub::kInstanceDump || kind == HprofSub::kObjectArrayDump || kind == HprofSub::kPrimitiveArrayDump;
    return is_object && !options_.stays(file_.id(place + 1));
  }
  // What stays of a segment, as segments whose lengths fit into a record's length field.
  void write_parts(const HprofRecord& record, const HprofFile::Segment& segment) {
    std::uint64_t first = segment.start, size = 0, place = first;
    const auto write_part = [&] {
      if (size == 0) return;
      const bool is_one = first == segment.start && place == segment.end;
      number(is_one ? record.tag : static_cast<std::uint8_t>(HprofTag::kHeapDumpSegment), 1);
      copy(record.place + 1, record.place + 5);
      number(size, 4);
      for (std::uint64_t at = first; at < place;) {
        const std::uint64_t end = at + file_.sub_size(at, segment.end);
        if (!is_left_out(at)) write_sub(at, end);
        at = end;
      }
      first = place;
      size = 0;
    };
    while (place < segment.end) {
      const std::uint64_t next = file_.sub_size(place, segment.end);
      if (next == 0) break;  // the file was cut in the meantime
      const bool left_out = is_left_out(place);
      if (!left_out && size + next > kMostOfSegment) write_part();
      counts_.left_out += left_out ? 1 : 0;
      size += left_out ? 0 : next;
      place += next;
    }
    write_part();
  }
  void write_sub(std::uint64_t place, std::uint64_t end) {
    const auto kind = static_cast<HprofSub>(file_.number(place, 1));
    if (!options_.redact) {
      const bool is_object = kind == HprofSub::kInstanceDump || kind == HprofSub::kObjectArrayDump ||
                             kind == HprofSub::kPrimitiveArrayDump;
      counts_.objects += is_object ? 1 : 0;
      return copy(place, end);
    }
    if (kind == HprofSub::kClassDump) return write_class(place, end);
    if (kind == HprofSub::kInstanceDump) return write_instance(file_.object_at(place), place);
    if (kind == HprofSub::kPrimitiveArrayDump) {
      const HprofObject array = file_.object_at(place);
      const bool is_kept = kept_arrays_.contains(array.id);
      copy(place, is_kept ? array.end : array.body);
      if (is_kept) counts_.kept += array.end - array.body;
      else zeros(array.end - array.body);
    } else {
      copy(place, end);
    }
    counts_.objects += kind == HprofSub::kPrimitiveArrayDump || kind == HprofSub::kObjectArrayDump ? 1 : 0;
  }
  void write_instance(const HprofObject& object, std::uint64_t place) {
    ++counts_.objects;
    copy(place, object.body);
    const auto plan = plans_.find(object.type_id);
    if (plan == plans_.end() || plan->second.size != object.count) {
      without_class_ += object.count > 0 ? 1 : 0;
      return zeros(object.count);
    }
    std::uint64_t at = 0;
    for (const Run& run : plan->second.zeros) {
      copy(object.body + at, object.body + run.offset);
      zeros(run.size);
      at = run.offset + run.size;
    }
    copy(object.body + at, object.end);
  }
  // Constants and static fields; the head and the names of fields stay.
  void write_class(std::uint64_t place, std::uint64_t end) {
    const std::uint32_t id = file_.id_size();
    const std::string name = file_.class_name(file_.id(place + 1));
    std::uint64_t at = place + 1 + 7ull * id + 8, written = place;
    const auto value = [&](std::uint8_t type, bool stays) {
      if (type != kReference && !stays) {
        copy(written, at);
        zeros(file_.field_size(type));
        written = at + file_.field_size(type);
      }
      at += file_.field_size(type);
    };
    std::uint64_t count = file_.number(at, 2);
    for (at += 2; count > 0; --count) {
      at += 3;
      value(static_cast<std::uint8_t>(file_.number(at - 1, 1)), false);
    }
    count = file_.number(at, 2);
    for (at += 2; count > 0; --count) {
      const std::uint64_t field = file_.id(at);
      at += id + 1;
      value(static_cast<std::uint8_t>(file_.number(at - 1, 1)), stays(name, file_.text(field)));
    }
    copy(written, end);
  }

  void copy(std::uint64_t from, std::uint64_t to) {
    for (; from < to; from += std::min<std::uint64_t>(kPiece, to - from)) {
      const auto bytes = file_.bytes(from, std::min<std::uint64_t>(kPiece, to - from));
      buffer_.bytes(bytes.data(), bytes.size());
      flush_if_full();
    }
  }
  void zeros(std::uint64_t count) {
    counts_.zeroed += count;
    for (; count > 0; count -= std::min<std::uint64_t>(kPiece, count)) {
      buffer_.zeros(std::min<std::uint64_t>(kPiece, count));
      flush_if_full();
    }
  }
  void number(std::uint64_t value, std::uint32_t size) {
    for (std::uint32_t i = size; i > 0; --i) buffer_.u1(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
  }
  void text(std::string_view bytes) {
    buffer_.bytes(bytes.data(), bytes.size());
    flush_if_full();
  }
  void flush_if_full() {
    if (buffer_.size() >= kPiece) flush();
  }
  void flush() {
    (void)sink_.write(buffer_.text());  // errors stick to the sink
    buffer_.clear();
  }

  const HprofFile& file_;
  trace::ByteSink& sink_;
  const std::function<bool(std::uint64_t, std::uint64_t)>& progress_;
  const RewriteOptions& options_;
  std::unordered_set<std::uint64_t> kept_arrays_;
  std::unordered_map<std::uint64_t, const HprofClass*> classes_;
  std::unordered_map<std::uint64_t, Plan> plans_;
  std::unordered_set<std::uint64_t> names_;
  HprofBuffer buffer_{2 * kPiece};
  RedactionCounts counts_;
  std::uint64_t unknown_ = 0, without_class_ = 0;
};

}  // namespace

Result<RedactionCounts> rewrite_dump(const HprofFile& file, trace::ByteSink& sink,
                                     const std::function<bool(std::uint64_t done, std::uint64_t all)>& progress,
                                     const RewriteOptions& options) {
  const KeptFields& kept = options.kept;
  if (!kept.empty() && file.is_redacted() && !KeptFields::of_text(file.kept_fields()).has_all_of(kept))
    return fail(ErrorCategory::kUsage, "the heap dump is redacted already: it has contents of " +
                                           (file.kept_fields().empty() ? "no field" : file.kept_fields()));
  return Redactor(file, sink, progress, options).run();
}

Result<RedactionCounts> redact_dump(const HprofFile& file, trace::ByteSink& sink,
                                    const std::function<bool(std::uint64_t done, std::uint64_t all)>& progress,
                                    const KeptFields& kept) {
  return rewrite_dump(file, sink, progress, {.kept = kept});
}

}  // namespace jtrace::coreinspect
