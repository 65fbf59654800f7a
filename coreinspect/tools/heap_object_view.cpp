// The view object: an object with the values of its fields, the elements of collections and entries of maps, and the
// objects that it refers to, to a given depth.
#include <algorithm>
#include <deque>
#include <set>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "coreinspect/gc/heap_walker.h"
#include "coreinspect/oops/memory_objects.h"
#include "coreinspect/tools/first_fields.h"
#include "coreinspect/tools/plain_value.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/shown_contents.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr std::size_t kMaxObjects = 10'000;
constexpr std::size_t kDefaultElements = 100;

struct ShownField {
  std::string name, signature, declared_by, value;
  Address at = 0;
  bool is_static = false;
  bool masked = false;  // the objects that it refers to are not shown either
};

struct ShownObject {
  Address address = 0;
  std::string type;
  std::uint64_t size = 0;
  std::optional<std::uint32_t> length;  // of an array
  std::vector<ShownField> fields;
  std::uint64_t left_out = 0;  // elements
  std::optional<ShownContents> contents;
};

class ShownObjectReader {
 public:
  ShownObjectReader(Inspection& inspection, const ViewOptions& options)
      : inspection_(inspection),
        options_(options),
        mask_(options.show_secrets),
        klasses_(inspection.objects()),
        walker_(klasses_, header_shape(inspection.objects()), inspection.vm().memory()) {}

  Result<ShownObject> read(Address address) {
    const auto klass = inspection_.objects().klass_of(address);
    const KlassInfo* info = klass ? klasses_.find(*klass) : nullptr;
    if (!info) {
      Error error{.category = ErrorCategory::kNotFound, .text = "there is no object"};
      error.address = address;
      error.help = "addresses are those of the same core, or of a live JVM at this moment: a collection moves objects";
      return fail(std::move(error));
    }
    ShownObject shown{.address = address, .type = inspection_.classes().name(info->klass).value_or("?")};
    JTRACE_ASSIGN_OR_RETURN(shown.size, size_of(address));
    if (info->is_array()) JTRACE_RETURN_IF_ERROR(add_elements(*info, shown));
    else JTRACE_RETURN_IF_ERROR(add_fields(*info, shown));
    if (shown.type.starts_with("java.util.")) shown.contents = contents_of(address);
    return shown;
  }

  const SecretMask& mask() const { return mask_; }

 private:
  // Found by a walk of one step.
  Result<std::uint64_t> size_of(Address address) {
    HeapRegion region{.start = address, .end = address + (1ull << 40), .top = address + (1ull << 40), .type = {}};
    region.one_object = true;
    region.alignment = object_alignment(inspection_.vm());
    std::uint64_t size = 0;
    walker_.walk(region, {}, address, [&](const HeapObject& object) { size = object.size; });
    if (size == 0) return fail(ErrorCategory::kMalformed, "an object without a size");
    return size;
  }

  Result<> add_fields(const KlassInfo& info, ShownObject& shown) {
    Address klass = info.klass;
    for (int depth = 0; klass != 0 && depth < 1000; ++depth) {
      JTRACE_ASSIGN_OR_RETURN(const auto* fields, inspection_.classes().fields(klass));
      const std::string declared = inspection_.classes().name(klass).value_or("?");
      for (const JavaField& field : *fields)
        if (!field.is_static() && !field.injected && !field.signature.empty())
          add(shown, field.name, field.signature, declared, shown.address + field.offset, false, key_of(shown, field));
      JTRACE_ASSIGN_OR_RETURN(klass, inspection_.classes().super(klass));
    }
    // A class mirror contains the statics of its class.
    if (info.kind != KlassInfo::Kind::kMirror) return {};
    const Address of = inspection_.objects().klass_of_mirror(shown.address).value_or(0);
    if (of == 0 || !inspection_.classes().is_instance_class(of)) return {};
    JTRACE_ASSIGN_OR_RETURN(const auto* fields, inspection_.classes().fields(of));
    const std::string declared = inspection_.classes().name(of).value_or("?");
    for (const JavaField& field : *fields)
      if (field.is_static() && !field.injected && !field.signature.empty())
        add(shown, field.name, field.signature, declared, shown.address + field.offset, true);
    return {};
  }

  Result<> add_elements(const KlassInfo& info, ShownObject& shown) {
    JTRACE_ASSIGN_OR_RETURN(shown.length, inspection_.objects().array_length(shown.address));
    const std::size_t most = most_rows();
    const std::string signature = inspection_.classes().internal_name(info.klass).value_or("[?").substr(1);
    // Maps without nodes (Map.of, IdentityHashMap) have each value after its key.
    const bool pairs = signature == "Ljava/lang/Object;";
    for (std::uint32_t i = 0; i < *shown.length && i < most; ++i)
      add(shown, "[" + std::to_string(i) + "]", signature, "",
          shown.address + info.base + (Address{i} << info.log2_element), false,
          pairs && i % 2 == 1 ? inspection_.objects().element(shown.address, i - 1).value_or(0) : 0);
    shown.left_out = *shown.length - shown.fields.size();
    return {};
  }

  std::optional<ShownContents> contents_of(Address address) {
    MemoryObjects objects(inspection_.objects());
    JavaContents contents(objects);
    const auto text_of = [&](Address object) { return printable(readable_text(inspection_, object)); };
    const auto value_of = [&](Address key, Address value) {
      const bool hidden = mask_.hides_entry(inspection_, key, value);
      const std::string text = hidden ? text_of(value) : with_fields(value, text_of(value));
      return ShownContents::Value{.text = mask_.value_of(hidden, text), .reference = hidden ? 0 : value};
    };
    return shown_contents(contents, address, most_rows(), text_of, value_of);
  }

  // Of an object of the program in an array or a collection also what it holds: it is one of many. JSON has addresses.
  std::string with_fields(Address object, std::string text) {
    const auto klass = options_.json || object == 0 ? Result<Address>(0) : inspection_.objects().klass_of(object);
    if (!klass || *klass == 0) return text;
    const std::string name = inspection_.classes().name(*klass).value_or("?");
    if (is_of_the_jdk(name) || name.ends_with("[]") || text != printable(name + "@" + hex(object))) return text;
    return text + printable(fields_text(first_fields(inspection_, mask_, object, *klass)));
  }

  std::size_t most_rows() const { return options_.heap.top > 0 ? options_.heap.top : kDefaultElements; }

  // If this field is the value of a map's entry, the key of the entry; otherwise 0.
  Address key_of(const ShownObject& shown, const JavaField& field) const {
    if (field.name == "v0") return inspection_.objects().reference(shown.address, "k0").value_or(0);
    if (field.name != "value" && field.name != "val") return 0;
    return inspection_.objects().reference(shown.address, "key").value_or(0);
  }

  void add(ShownObject& shown, const std::string& name, const std::string& signature, const std::string& declared,
           Address at, bool is_static, Address key = 0) {
    const bool hidden =
        mask_.hides_field(inspection_, name, signature, at) || mask_.hides_entry(inspection_, key, signature, at);
    std::string text = value_text(inspection_, at, signature);
    if (declared.empty() && !hidden && signature.starts_with('L'))
      text = with_fields(inspection_.objects().load(at).value_or(0), text);
    const std::string value = mask_.value_of(hidden, std::move(text));
    shown.fields.push_back({name, signature, declared, value, at, is_static, hidden});
  }

  Inspection& inspection_;
  const ViewOptions& options_;
  SecretMask mask_;
  KlassTable klasses_;
  HeapWalker walker_;
};

bool is_reference_field(const ShownField& field) {
  return field.signature.starts_with('L') || field.signature.starts_with('[');
}

void append_json(const Inspection& inspection, const ShownObject& object, int depth, JsonWriter& json) {
  json.begin_object().member("address", hex(object.address)).member("class", object.type).member("size", object.size);
  json.member("depth", depth);
  if (object.length) json.member("length", *object.length).member("leftOut", object.left_out);
  json.key("fields").begin_array();
  for (const ShownField& field : object.fields) {
    json.begin_object().member("name", field.name).member("signature", field.signature).member("value", field.value);
    if (!field.declared_by.empty()) json.member("declaredBy", field.declared_by).member("static", field.is_static);
    if (is_reference_field(field)) json.member("reference", hex(inspection.objects().load(field.at).value_or(0)));
    json.end_object();
  }
  json.end_array();
  if (object.contents) object.contents->write(json);
  json.end_object();
}

void append_text(const ShownObject& object, int depth, std::string& out) {
  const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
  out += indent + printable(object.type) + " at " + hex(object.address) + ", " + std::to_string(object.size) + " bytes";
  if (object.length) out += ", " + counted(*object.length, "element");
  out += "\n";
  for (const ShownField& field : object.fields) {
    out += indent + "  " + (field.is_static ? "static " : "") + printable(field.name + " = " + field.value);
    if (!field.declared_by.empty() && field.declared_by != object.type)
      out += "  (" + printable(field.declared_by) + ")";
    out += "\n";
  }
  if (object.left_out > 0) out += indent + "  ... " + std::to_string(object.left_out) + " more (--rows N shows more)\n";
  if (object.contents) out += object.contents->text(indent + "  ");
}

// What is shown below it: of a collection what it holds, not the arrays and nodes that hold it.
std::vector<Address> references_of(const Inspection& inspection, const ShownObject& object) {
  std::vector<Address> references;
  if (object.contents) {
    for (const ShownContents::Row& row : object.contents->rows) references.push_back(row.value.reference);
    return references;
  }
  for (const ShownField& field : object.fields)
    if (is_reference_field(field) && !field.masked)
      references.push_back(inspection.objects().load(field.at).value_or(0));
  return references;
}

}  // namespace

Result<ViewResult> view_object(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  const auto first = options.arguments.empty() ? std::nullopt : parse_address(options.arguments.front());
  if (!first)
    return fail(ErrorCategory::kUsage,
                "not an address: " + (options.arguments.empty() ? "" : options.arguments.front()),
                "hexadecimal, with or without 0x");
  ShownObjectReader reader(inspection, options);
  ViewResult result;
  JsonWriter json(result.out);
  std::deque<std::pair<Address, int>> open{{*first, 0}};
  std::set<Address> seen{*first};
  std::size_t shown = 0;
  while (!open.empty()) {
    const auto [address, depth] = open.front();
    open.pop_front();
    auto object = reader.read(address);
    if (!object && shown == 0) return fail(object.error());
    if (!object) {
      result.missing.push_back(object.error().message());
      continue;
    }
    // What it is, is in the line that refers to it: a text, a box, a constant of an enum.
    if (!options.json && depth > 0 && (object->type == "java.lang.String" || plain_value(inspection, address)))
      continue;
    if (++shown > kMaxObjects) {
      result.missing.push_back("more than " + std::to_string(kMaxObjects) + " objects: the rest is left out");
      break;
    }
    if (options.json) append_json(inspection, *object, depth, json);
    else append_text(*object, depth, result.out);
    if (depth >= options.heap.depth) continue;
    for (const Address next : references_of(inspection, *object))
      if (next != 0 && seen.insert(next).second) open.emplace_back(next, depth + 1);
  }
  result.masked = reader.mask().count();
  return result;
}

}  // namespace jtrace::coreinspect
