#include "debug/world.h"

#include <algorithm>
#include <utility>

#include "coreinspect/tools/counters.h"
#include "debug/apart_text.h"

namespace jtrace::debug {

using coreinspect::AddressRange;

// Those of the archive of the JDK's classes too.
std::optional<std::uint64_t> World::unloaded_classes(const coreinspect::Inspection& inspection) {
  const auto counters = coreinspect::read_counters(inspection.vm());
  const auto own = counters ? counters->long_value("java.cls.unloadedClasses") : std::nullopt;
  const auto shared = counters ? counters->long_value("java.cls.sharedUnloadedClasses") : std::nullopt;
  if (!own) return std::nullopt;
  return static_cast<std::uint64_t>(*own + shared.value_or(0));
}

World::World(coreinspect::Inspection& inspection, coreinspect::ThreadSnapshot snapshot, const WorldOptions& options)
    : inspection_(inspection),
      options_(options),
      classes_(inspection),
      threads_(inspection, std::move(snapshot)),
      locals_(inspection.objects(), inspection.code().value_or(nullptr)) {
  // Threads first: people type their ids.
  for (const DebugThread& thread : threads_.all()) (void)ids_.of(thread.object);
}

std::vector<std::string> World::missing() const {
  std::vector<std::string> lines = inspection_.missing();
  for (const std::string& line : threads_.snapshot().missing)
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  if (classes_.incomplete()) lines.emplace_back("the list of classes could not be read to its end");
  for (std::string& line : walk_faults()) lines.push_back(std::move(line));
  return lines;
}

void World::let_run(std::optional<std::uint64_t> unloaded) {
  runs_ = true;
  unloaded_ = unloaded;
  classes_.find_unloadable();
  if (!unloaded_) classes_.drop_unloadable();
  (void)threads_.locks();  // they are those of the snapshot
  for (const DebugThread& thread : threads_.all()) {
    thread_ids_.push_back({.thread = ids_.of(thread.object), .groups = {}});
    for (const Address group : threads_.groups_of(thread)) thread_ids_.back().groups.push_back(ids_.of(group));
  }
  for (const auto& thread : threads_.snapshot().virtual_threads)
    for (const auto& frame : thread.walk.frames)
      if (!thread.mounted) unsettled_.insert(&frame);
  std::vector<std::pair<Address, Address>> stacks;
  for (const auto& thread : threads_.snapshot().threads) {
    for (const auto& frame : thread.walk.frames) locals_.keep(frame);
    if (thread.java.stack_base != 0)
      stacks.emplace_back(thread.java.stack_base - thread.java.stack_size, thread.java.stack_base);
  }
  inspection_.vm().cached_memory()->keep_overlays(stacks);
}

World::Unloading World::drop_unloaded_classes() {
  inspection_.vm().cached_memory()->forget();
  if (!unloaded_) return Unloading::kNone;  // they were dropped in let_run()
  const auto now = unloaded_classes(inspection_);
  if (!now) return Unloading::kUnknown;
  if (now == unloaded_) return Unloading::kNone;
  unloaded_ = now;
  classes_.drop_unloadable();
  return Unloading::kSome;
}

void World::refresh() {
  inspection_.vm().cached_memory()->forget();
  classes_.expect_new();
  worst_walk_ = {};
  regions_.reset();
  heap_.reset();
}

void World::follow_objects() {
  moved_ = true;
  refresh();
  inspection_.classes().forget();
  threads_.follow_objects();
  ids_.lose_objects();
  for (std::size_t i = 0; i < thread_ids_.size(); ++i) {
    const DebugThread& thread = threads_.all()[i];
    ids_.find_again(thread_ids_[i].thread, thread.object);
    const auto groups = threads_.groups_of(thread);
    for (std::size_t k = 0; k < std::min(groups.size(), thread_ids_[i].groups.size()); ++k)
      ids_.find_again(thread_ids_[i].groups[k], groups[k]);
  }
}

const LoadedClass* World::type_of(Address object) {
  const LoadedClass* type = classes_.of_object(object);
  return type != nullptr && has(*type) ? type : nullptr;
}

const LoadedClass* World::type_of_anything(Address object) {
  if (!regions_) {
    regions_.emplace();
    if (const auto layout = coreinspect::read_heap_layout(inspection_.vm()); layout)
      for (const auto& region : layout->regions) regions_->push_back({region.start, region.top});
  }
  const auto after = std::upper_bound(regions_->begin(), regions_->end(), object,
                                      [](Address at, const AddressRange& range) { return at < range.start; });
  const bool inside = after != regions_->begin() && object < std::prev(after)->end;
  // The tables of JDK 11's Shenandoah, and ZGC's pages, may not show where the heap is.
  return inside || regions_->empty() ? type_of(object) : nullptr;
}

const LoadedClass* World::string_class() {
  if (string_ == nullptr)
    if (const auto found = classes_.by_signature("Ljava/lang/String;"); !found.empty()) string_ = found.front();
  return string_;
}

void World::write_object(PacketWriter& out, Address object) {
  if (object == 0) {
    out.u1('L').id(0);
    return;
  }
  const LoadedClass* type = type_of(object);
  if (type == nullptr) return write_unavailable(out, 'L', "no object can be read at its address");
  out.u1(static_cast<std::uint8_t>(type->tag)).id(ids_.of(object));
}

void World::write_text(PacketWriter& out, std::string text) {
  out.u1(static_cast<std::uint8_t>(Tag::kString)).id(ids_.of_string(std::move(text)));
}

void World::write_unavailable(PacketWriter& out, char type, std::string_view why) {
  if (!options_.plain_values) return write_text(out, "<not available: " + std::string(why) + ">");
  const Tag tag = type == '[' ? Tag::kObject : static_cast<Tag>(type);
  out.u1(static_cast<std::uint8_t>(tag)).primitive(tag, 0);
}

void World::write_value_at(PacketWriter& out, Address at, char type) {
  if (type == 'L' || type == '[') {
    const auto object = inspection_.objects().load(at);
    if (object) write_object(out, *object);
    else write_unavailable(out, type, "memory is missing");
    return;
  }
  const auto tag = static_cast<Tag>(type);
  std::uint64_t bits = 0;
  const std::size_t size = is_tag(static_cast<std::uint8_t>(type)) ? size_of(tag) : 0;
  const auto room = std::as_writable_bytes(std::span(&bits, 1)).first(size);
  if (size > 0 && inspection_.vm().memory().read_exactly(at, room)) {
    out.u1(static_cast<std::uint8_t>(type)).primitive(tag, bits);
    return;
  }
  write_unavailable(out, size > 0 ? type : 'L', "memory is missing");
}

// Whether an object of that class can be in a variable of that type.
bool World::can_be_in(const LoadedClass& type, const std::string& declared) {
  if (declared == "Ljava/lang/Object;" || type.signature == declared) return true;
  if (declared.starts_with('[')) {
    if (!type.is_array()) return false;
    return declared[1] == 'L' || declared[1] == '[' ? type.signature[1] == 'L' || type.signature[1] == '[' : false;
  }
  const auto candidates = classes_.by_signature(declared);
  return std::any_of(candidates.begin(), candidates.end(), [&](const LoadedClass* each) {
    // Which interfaces a class has is not looked at: any object may be there.
    return each->kind == TypeKind::kInterface || classes_.is_subclass(type.klass, each->klass);
  });
}

void World::write_local(PacketWriter& out, const coreinspect::Frame& frame,
                        const Result<coreinspect::LocalValue>& value, const std::string& type) {
  const char kind = type.front();
  if (unsettled_.contains(&frame)) return write_unavailable(out, kind, "the virtual thread may have run since");
  if (!value) return write_unavailable(out, kind, value.error().text);
  if (kind != 'L' && kind != '[') {
    out.u1(static_cast<std::uint8_t>(kind)).primitive(static_cast<Tag>(kind), value->bits);
    return;
  }
  if (value->apart) return write_apart(out, frame, *value->apart, type);
  if (value->bits == 0) return write_object(out, 0);
  if (moved_) return write_unavailable(out, kind, "a collection has moved the objects since the stop");
  const LoadedClass* of = type_of_anything(value->bits);
  if (of == nullptr || !can_be_in(*of, type)) return write_unavailable(out, kind, "dead: no " + type + " is there");
  write_object(out, value->bits);
}

const ApartObject* World::apart(Id id) {
  if (const auto known = apart_.find(id); known != apart_.end()) return &known->second;
  const ObjectIds::Entry* entry = ids_.find(id);
  if (entry == nullptr || entry->frame == nullptr) return nullptr;
  auto object = locals_.taken_apart(*entry->frame, entry->apart);
  const LoadedClass* type = object ? classes_.find(object->klass) : nullptr;
  if (type == nullptr) return nullptr;
  return &apart_.emplace(id, ApartObject{type, entry->frame, std::move(*object)}).first->second;
}

// Of an array of primitives all elements must be known: a client has no word for one that is not.
void World::write_apart(PacketWriter& out, const coreinspect::Frame& frame, std::uint32_t apart_id,
                        const std::string& type) {
  const Id id = ids_.of_apart(frame, apart_id);
  const ApartObject* made = apart(id);
  if (made == nullptr || !can_be_in(*made->type, type))
    return write_unavailable(out, 'L', "an object that the compiler has taken apart");
  if (made->type->tag == Tag::kString) {
    auto text = text_of_string(*this, *made);
    if (!text) return write_unavailable(out, 'L', "a string that the compiler has taken apart");
    return write_text(out, std::move(*text));
  }
  const bool complete = std::all_of(made->object.parts.begin(), made->object.parts.end(),
                                    [](const auto& part) { return part.value.has_value(); });
  if (made->type->is_array() && made->type->signature[1] != 'L' && made->type->signature[1] != '[' && !complete)
    return write_unavailable(out, 'L', "an array that the compiler has taken apart");
  out.u1(static_cast<std::uint8_t>(made->type->tag)).id(id);
}

void World::note_walk(const coreinspect::WalkTotals& totals) {
  const auto lost = [](const coreinspect::WalkTotals& of) { return of.unparsable + of.unreadable; };
  if (lost(totals) > lost(worst_walk_)) worst_walk_ = totals;
}

Result<coreinspect::HeapAccess*> World::heap() {
  if (!heap_) {
    JTRACE_ASSIGN_OR_RETURN(heap_, coreinspect::HeapAccess::open(inspection_, {.no_stop = true}));
  }
  return heap_.get();
}

}  // namespace jtrace::debug
