#include "debug/world.h"

#include <algorithm>

namespace jtrace::debug {

using coreinspect::AddressRange;

World::World(coreinspect::Inspection& inspection, coreinspect::ThreadSnapshot snapshot, const WorldOptions& options)
    : inspection_(inspection),
      options_(options),
      classes_(inspection),
      threads_(inspection, std::move(snapshot)),
      locals_(inspection.objects()) {
  // Threads first: people type their ids.
  for (const DebugThread& thread : threads_.all()) (void)ids_.of(thread.object);
}

std::vector<std::string> World::missing() const {
  std::vector<std::string> lines = inspection_.missing();
  for (const std::string& line : threads_.snapshot().missing)
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  if (classes_.incomplete()) lines.emplace_back("the list of classes could not be read to its end");
  return lines;
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
  // The tables of JDK 11's Shenandoah, and ZGC's pages, may not tell where the heap is.
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

Result<coreinspect::HeapAccess*> World::heap() {
  if (!heap_) {
    JTRACE_ASSIGN_OR_RETURN(heap_, coreinspect::HeapAccess::open(inspection_, {.no_stop = true}));
  }
  return heap_.get();
}

}  // namespace jtrace::debug
