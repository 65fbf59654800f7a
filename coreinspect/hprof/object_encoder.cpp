#include "coreinspect/hprof/object_encoder.h"

#include <algorithm>

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kSegment = 16u << 20;           // written when it is that full: viewers dislike many short ones
constexpr std::uint64_t kMaxRecord = 0xffff'ff00ull;  // bytes: a record's length has 32 bits

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

ObjectEncoder::ObjectEncoder(const HeapAccess& access, const ClassPlans& classes,
                             const std::vector<const ClassPlan*>& plans, HprofWriter& writer)
    : access_(&access),
      classes_(&classes),
      plans_(&plans),
      writer_(&writer),
      source_(std::make_unique<HeapSource>(access.memory())),
      segment_(kSegment + (1u << 20)) {
  const ObjectModel& objects = access.inspection().objects();
  const auto offset = access.inspection().vm().read_static<std::int32_t>("java_lang_Class", "_klass_offset");
  mirror_klass_ = offset && *offset > 0 ? static_cast<std::uint32_t>(*offset) : 0;
  narrow_ = objects.reference_size() == 4;
  // from_narrow() is linear: its two numbers are found from two references.
  const Address first = objects.from_narrow(1), second = objects.from_narrow(2);
  while (narrow_ && oop_shift_ < 16 && (Address{1} << oop_shift_) < second - first) ++oop_shift_;
  oop_base_ = first - (second - first);
}

std::uint64_t ObjectEncoder::reference(const std::byte* at) const {
  if (narrow_) {
    const auto narrow = load<std::uint32_t>(at);
    return narrow == 0 ? 0 : access_->place_of(oop_base_ + (std::uint64_t{narrow} << oop_shift_));
  }
  return access_->place_of(access_->inspection().objects().from_root(load<std::uint64_t>(at)));
}

void ObjectEncoder::operator()(const HeapObject& object) {
  if (object.klass->filler) {
    ++counts_.fillers;
    return;
  }
  const std::uint32_t index = object.klass->index;
  const ClassPlan* plan = index < plans_->size() ? (*plans_)[index] : nullptr;
  if (!plan) {
    ++counts_.unknown;
    return;
  }
  if (object.klass->is_array()) array(object, *plan);
  else instance(object, *plan);
  if (segment_.size() >= kSegment) flush();
}

void ObjectEncoder::instance(const HeapObject& object, const ClassPlan& plan) {
  if (object.klass->kind != KlassInfo::Kind::kInstance) single_sizes_.emplace_back(object.address, object.size);
  const std::byte* bytes = object.bytes;
  std::size_t available = object.available;
  std::vector<std::byte> copy;
  if (available < object.size) {
    copy.resize(object.size);
    for (std::size_t done = 0; done < copy.size();) {
      const auto part = source_->window(object.address + done, object.address + object.size, 1);
      if (part.empty()) break;
      std::memcpy(copy.data() + done, part.data(), part.size());
      done += part.size();
    }
    bytes = copy.data();
    available = copy.size();
  }
  if (is_class_of_dump(object, bytes, available)) return;
  segment_.sub(HprofSub::kInstanceDump);
  segment_.id(object.address);
  segment_.u4(1);
  segment_.id(plan.mirror);
  segment_.u4(plan.instance_bytes);
  fields(bytes, available, plan);
  ++counts_.instances;
}

// A mirror of a class is in the dump as the class itself. Those of int and the like are objects, and so are those
// of the archive (CDS, AOT cache) whose classes this JVM has not loaded.
bool ObjectEncoder::is_class_of_dump(const HeapObject& object, const std::byte* bytes, std::size_t available) const {
  if (object.klass->kind != KlassInfo::Kind::kMirror || mirror_klass_ + 8 > available) return false;
  return classes_->find(load<std::uint64_t>(bytes + mirror_klass_)) != nullptr;
}

void ObjectEncoder::fields(const std::byte* bytes, std::size_t size, const ClassPlan& plan) {
  char* to = segment_.reserve(plan.instance_bytes);
  const auto put = [&]<class T>(T value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  };
  for (const FieldPlan& field : plan.fields) {
    const std::byte* at = field.redacted ? nullptr : bytes + field.offset;
    if (field.offset + 8 > size && field.offset + hprof_size(field.type) > size + 4) at = nullptr;
    switch (hprof_size(field.type)) {
      case 1: put(at ? load<std::uint8_t>(at) : std::uint8_t{0}); break;
      case 2: put(at ? __builtin_bswap16(load<std::uint16_t>(at)) : std::uint16_t{0}); break;
      case 4: put(at ? __builtin_bswap32(load<std::uint32_t>(at)) : std::uint32_t{0}); break;
      default:
        put(!at               ? std::uint64_t{0}
            : field.type == 2 ? __builtin_bswap64(reference(at))
                              : __builtin_bswap64(load<std::uint64_t>(at)));
    }
  }
  segment_.commit(plan.instance_bytes);
}

void ObjectEncoder::elements(const KlassInfo& info, const std::byte* from, std::size_t count, HprofBuffer& out) const {
  if (info.kind == KlassInfo::Kind::kPrimitiveArray) {
    out.append_swapped(from, count, 1u << info.log2_element);
    return;
  }
  char* to = out.reserve(count * 8);
  const std::size_t step = std::size_t{1} << info.log2_element;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t id = __builtin_bswap64(reference(from + i * step));
    std::memcpy(to + i * 8, &id, 8);
  }
  out.commit(count * 8);
}

void ObjectEncoder::array(const HeapObject& object, const ClassPlan& plan) {
  const KlassInfo& info = *object.klass;
  const bool primitive = info.kind == KlassInfo::Kind::kPrimitiveArray;
  const std::uint32_t written = primitive ? 1u << info.log2_element : 8u;
  std::uint64_t count = object.length;
  if (count * written > kMaxRecord) {
    count = kMaxRecord / written;
    ++counts_.truncated;
  }
  if (segment_.size() > 0 && segment_.size() + count * written > kSegment) flush();
  segment_.sub(primitive ? HprofSub::kPrimitiveArrayDump : HprofSub::kObjectArrayDump);
  segment_.id(object.address);
  segment_.u4(1);
  segment_.u4(static_cast<std::uint32_t>(count));
  if (primitive) segment_.u1(info.element_type);
  else segment_.id(plan.mirror);
  ++(primitive ? counts_.primitive_arrays : counts_.object_arrays);
  if (primitive && classes_->redacted()) zeros(count * written);
  else if (info.base + (count << info.log2_element) <= object.available)
    elements(info, object.bytes + info.base, count, segment_);
  else large_array(object, count, written);
}

// Piece by piece; what is larger than a segment goes out as one of its own, which begins with what is gathered: the
// head of the array.
void ObjectEncoder::large_array(const HeapObject& object, std::uint64_t count, std::uint32_t written) {
  const KlassInfo& info = *object.klass;
  const std::size_t step = std::size_t{1} << info.log2_element;
  const bool own = count * written > kSegment;
  std::unique_lock<std::mutex> lock;
  if (own) {
    (void)writer_->begin_segment(lock, segment_.size() + count * written);
    (void)writer_->append_segment(segment_.text());  // errors stick to the sink
    segment_.clear();
  }
  Address at = object.address + info.base;
  const Address end = at + (count << info.log2_element);
  const std::vector<std::byte> zeros(8);
  while (at < end) {
    const auto part = source_->window(at, end, HeapSource::kPiece);
    const std::size_t whole = std::min<std::size_t>(part.size() / step, (4u << 20) / step);
    // What cannot be read is written as zeros: the count is in the head.
    if (whole == 0) elements(info, zeros.data(), 1, segment_);
    else elements(info, part.data(), whole, segment_);
    at += std::max<std::size_t>(whole, 1) * step;
    if (own) {
      (void)writer_->append_segment(segment_.text());
      segment_.clear();
    }
  }
}

// The elements of an array whose head is gathered. As in large_array(), those of a large one are not gathered.
void ObjectEncoder::zeros(std::uint64_t bytes) {
  if (bytes <= kSegment) return segment_.zeros(bytes);
  std::unique_lock<std::mutex> lock;
  (void)writer_->begin_segment(lock, segment_.size() + bytes);
  (void)writer_->append_segment(segment_.text());  // errors stick to the sink
  segment_.clear();
  segment_.zeros(std::min<std::uint64_t>(bytes, kSegment));
  for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, kSegment))
    (void)writer_->append_segment(segment_.text().substr(0, bytes));
  segment_.clear();
}

void ObjectEncoder::flush() {
  (void)writer_->write_segment(segment_);  // errors stick to the sink
  segment_.clear();
}

}  // namespace jtrace::coreinspect
