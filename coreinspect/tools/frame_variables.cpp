#include "coreinspect/tools/frame_variables.h"

#include <algorithm>

#include "base/jdk_names.h"
#include "base/quoted_text.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "coreinspect/gc/heap_layout.h"
#include "coreinspect/model/class_facts.h"
#include "coreinspect/runtime/const_method.h"
#include "coreinspect/runtime/descriptor.h"
#include "coreinspect/runtime/java_number.h"
#include "coreinspect/tools/first_fields.h"
#include "coreinspect/tools/plain_value.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

constexpr int kMaxDepth = 4;           // of objects within objects that were taken apart
constexpr std::size_t kMaxParts = 64;  // of one of them
constexpr std::size_t kMaxText = 200;  // characters of a string
constexpr int kMaxSupers = 1000;

struct Variable {
  std::uint32_t slot = 0;
  std::string name, type;  // `type`: a descriptor, in modified UTF-8
};

// A char is in quotes.
void put_primitive(FrameVariable& variable, std::uint64_t bits, char type) {
  variable.value = primitive_text(bits, type);
  if (type != 'C') return;
  variable.readable = variable.value == "'" ? "'\\''" : "'" + escaped_text(variable.value) + "'";
  variable.value = "'" + variable.value + "'";
}

// "I" as "int", "[Ljava/lang/String;" as "java.lang.String[]".
std::string type_text(const std::string& descriptor) {
  const std::string array = java_class_name("[" + utf8_from_modified(descriptor));
  return array.ends_with("[]") ? array.substr(0, array.size() - 2) : array;
}

// Those whose names the class file has, at this place; otherwise the arguments.
std::vector<Variable> variables_at(const ClassModel& classes, const JavaMethod& method, int bci) {
  std::vector<Variable> variables;
  const auto tables = read_const_method(classes, method);
  const auto pool = classes.constants(method.holder);
  if (tables && pool && !tables->locals.empty()) {
    const auto text = [&](std::uint16_t index) { return classes.constant_symbol(*pool, index).value_or(""); };
    for (const auto& [start, length, name, descriptor, generic, slot] : tables->locals)
      if (bci >= start && bci < start + length)
        variables.push_back({slot, utf8_from_modified(text(name)), text(descriptor)});
    std::sort(variables.begin(), variables.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
    std::erase_if(variables, [](const Variable& each) { return each.type.empty(); });
    return variables;
  }
  for (std::uint32_t slot = 0; slot < argument_words(method); ++slot)
    if (auto type = argument_type(method, slot); !type.empty())
      variables.push_back(
          {slot, slot == 0 && !method.is_static() ? "this" : "slot " + std::to_string(slot), std::move(type)});
  return variables;
}

// The class, its superclasses, and all their interfaces.
bool is_kind_of(const Inspection& inspection, Address klass, const std::string& internal_name) {
  const ClassModel& classes = inspection.classes();
  for (int depth = 0; klass != 0 && depth < kMaxSupers; ++depth) {
    if (classes.internal_name(klass).value_or("") == internal_name) return true;
    klass = classes.super(klass).value_or(0);
  }
  return false;
}

bool has_interface(const Inspection& inspection, Address klass, const std::string& internal_name) {
  const auto array = inspection.vm().read_pointer(klass, "InstanceKlass", "_transitive_interfaces");
  if (!array) return false;
  const auto interfaces = inspection.classes().array<Address>(*array, "Array<Klass*>");
  if (!interfaces) return false;
  return std::any_of(interfaces->begin(), interfaces->end(), [&](Address each) {
    return inspection.classes().internal_name(each).value_or("") == internal_name;
  });
}

}  // namespace

FrameVariables::FrameVariables(const Inspection& inspection, bool show_secrets)
    : inspection_(inspection), locals_(inspection.objects(), inspection.code().value_or(nullptr)), mask_(show_secrets) {
  if (const auto layout = read_heap_layout(inspection.vm()); layout)
    for (const auto& region : layout->regions) regions_.push_back({region.start, region.top});
}

void FrameVariables::add(const Walk& walk, const HeadersAtStop* headers) {
  headers_ = headers;
  for (const Frame& frame : walk.frames)
    if (frame.method != nullptr && !frame.method->is_native()) frames_.emplace(&frame, read(frame));
}

std::size_t FrameVariables::settle(const std::string& why) {
  if (why.empty()) return 0;
  std::size_t dropped = 0;
  const auto drop = [&](auto&& self, FrameVariable& variable) -> void {
    for (FrameVariable& part : variable.parts) self(self, part);
    if (!variable.refers || !variable.missing.empty()) return;
    ++dropped;
    variable.value.clear();
    variable.missing = why;
  };
  for (auto& [frame, variables] : frames_)
    for (FrameVariable& variable : variables) drop(drop, variable);
  return dropped;
}

std::size_t FrameVariables::masked() const {
  const auto count = [](auto&& self, const FrameVariable& variable) -> std::size_t {
    std::size_t all = variable.masked && variable.missing.empty() ? 1 : 0;
    for (const FrameVariable& part : variable.parts) all += self(self, part);
    return all;
  };
  std::size_t all = 0;
  for (const auto& [frame, variables] : frames_)
    for (const FrameVariable& variable : variables) all += count(count, variable);
  return all;
}

void FrameVariables::put_text(FrameVariable& variable, std::string text, std::uint32_t characters) {
  variable.masked = !mask_.shows() && names_secret_field(variable.name);
  text = mask_.value_of(variable.masked, std::move(text));
  if (!variable.masked && characters > kMaxText) variable.cut = characters;
  variable.readable = quoted_text(text);
  if (variable.cut != 0) variable.readable += "... (" + std::to_string(variable.cut) + " characters)";
  variable.value = "\"" + text + "\"";
}

const std::vector<FrameVariable>* FrameVariables::of(const Frame& frame) const {
  const auto found = frames_.find(&frame);
  return found == frames_.end() ? nullptr : &found->second;
}

std::vector<FrameVariable> FrameVariables::read(const Frame& frame) {
  std::vector<FrameVariable> variables;
  for (const Variable& each : variables_at(inspection_.classes(), *frame.method, frame.bci))
    variables.push_back(variable(frame, each.name, each.type, locals_.value(frame, each.slot, each.type.front()), 0));
  return variables;
}

FrameVariable FrameVariables::variable(const Frame& frame, std::string name, const std::string& type,
                                       const Result<LocalValue>& value, int depth) {
  FrameVariable variable{.name = std::move(name), .type = type_text(type)};
  if (!value) variable.missing = value.error().text;
  else if (!is_reference(type.front())) put_primitive(variable, value->bits, type.front());
  else if (value->apart) put_apart(variable, frame, *value->apart, depth);
  else if (value->bits == 0) variable.value = "null";
  else put_object(variable, value->bits, type);
  return variable;
}

bool FrameVariables::is_in_heap(Address object) const {
  return regions_.empty() || std::any_of(regions_.begin(), regions_.end(), [&](const AddressRange& region) {
           return object >= region.start && object < region.end;
         });
}

// What a variable has while it is dead may be no object, or one of another type: it is not its value.
bool FrameVariables::can_be_in(Address klass, const std::string& declared) const {
  const auto name = inspection_.classes().internal_name(klass);
  if (!name) return false;
  if (declared == "Ljava/lang/Object;") return true;
  if (declared.starts_with('[')) {
    return *name == declared ||
           (is_reference(declared[1]) && name->size() > 1 && name->front() == '[' && is_reference((*name)[1]));
  }
  const std::string wanted = declared.substr(1, declared.size() - 2);
  if (name->starts_with('[')) return wanted == "java/lang/Cloneable" || wanted == "java/io/Serializable";
  return is_kind_of(inspection_, klass, wanted) || has_interface(inspection_, klass, wanted);
}

void FrameVariables::put_object(FrameVariable& variable, Address object, const std::string& type) {
  variable.refers = true;
  const bool of_stop = headers_ != nullptr && headers_->has(object);
  const auto klass = !is_in_heap(object) ? Result<Address>(0)
                     : of_stop           ? inspection_.objects().klass_in(*headers_, object)
                                         : inspection_.objects().klass_of(object);
  if (!klass || *klass == 0 || !can_be_in(*klass, type)) {
    variable.missing = "dead: no " + variable.type + " is there";
    return;
  }
  const std::string name = inspection_.classes().name(*klass).value_or("?");
  if (name == "java.lang.String") {
    const auto text = inspection_.objects().text(object, kMaxText);
    const auto characters = inspection_.objects().text_length(object);
    if (!text || !characters) variable.missing = "memory is missing";
    else put_text(variable, *text, *characters);
    return;
  }
  variable.value = name + "@" + hex(object);
  if (!name.ends_with("[]")) {
    if (!of_stop) put_readable(variable, object);
    if (!is_of_the_jdk(name)) put_fields(variable, object, *klass);
    return;
  }
  if (const auto length = inspection_.objects().array_length(object))
    variable.value = name.substr(0, name.find('[') + 1) + std::to_string(*length) + name.substr(name.find('[') + 1) +
                     "@" + hex(object);
}

// How many elements a collection of a live JVM has may have changed since the stop.
void FrameVariables::put_readable(FrameVariable& variable, Address object) {
  if (const auto value = plain_value(inspection_, object)) variable.readable = *value + " (" + variable.value + ")";
  else if (inspection_.target().core()) {
    const std::string text = readable_text(inspection_, object);
    if (text != variable.value) variable.readable = text;
  }
}

// Those of a live JVM may have changed since the stop.
void FrameVariables::put_fields(FrameVariable& variable, Address object, Address klass) {
  if (!inspection_.target().core()) return;
  variable.fields = first_fields(inspection_, mask_, object, klass);
}

// A string whose object was taken apart, but not its array: a char[] up to 8, then a byte[] with a coder, 0 for
// Latin-1.
std::optional<FrameVariables::Text> FrameVariables::text_of(const TakenApart& string) const {
  const bool chars = inspection_.vm().feature() < 9;
  Address array = 0;
  bool wide = chars;
  for (const TakenApart::Part& part : string.parts) {
    if (part.field.name != "value" && part.field.name != "coder") continue;
    if (!part.value || part.value->apart) return std::nullopt;
    if (part.field.name == "value") array = part.value->bits;
    else wide = part.value->bits != 0;
  }
  const ObjectModel& objects = inspection_.objects();
  const auto klass = is_in_heap(array) ? objects.klass_of(array) : Result<Address>(0);
  if (!klass || *klass == 0 || !can_be_in(*klass, chars ? "[C" : "[B")) return std::nullopt;
  const auto length = objects.array_length(array);
  const auto base = objects.array_base(array);
  if (!length || !base) return std::nullopt;
  std::vector<std::byte> bytes(
      std::min<std::size_t>(chars ? *length * std::size_t{2} : *length, wide ? 2 * kMaxText : kMaxText));
  if (!inspection_.vm().memory().read_exactly(*base, bytes)) return std::nullopt;
  return Text{utf8_from_java(bytes, wide), wide && !chars ? *length / 2 : *length};
}

void FrameVariables::put_apart(FrameVariable& variable, const Frame& frame, std::uint32_t id, int depth) {
  const auto object = locals_.taken_apart(frame, id);
  if (!object) {
    variable.missing = object.error().text;
    return;
  }
  variable.apart = true;
  variable.value = inspection_.classes().name(object->klass).value_or("?");
  if (variable.value == "java.lang.String") {
    const auto text = text_of(*object);
    variable.apart = false;
    if (!text) {
      variable.missing = "a string that the compiler has taken apart";
      return;
    }
    variable.refers = true;  // its array is in the heap
    put_text(variable, text->text, text->characters);
    return;
  }
  if (depth >= kMaxDepth) return;
  const bool is_array = variable.value.ends_with("[]");
  for (std::size_t i = 0; i < object->parts.size() && i < kMaxParts; ++i) {
    const TakenApart::Part& part = object->parts[i];
    std::string name = is_array ? "[" + std::to_string(i) + "]" : utf8_from_modified(part.field.name);
    variable.parts.push_back(this->variable(frame, std::move(name), part.field.signature, part.value, depth + 1));
  }
}

namespace {

// "text", "{x=1, y=<not available: optimised out>}"
std::string shown(const FrameVariable& variable) {
  if (!variable.missing.empty()) return "<not available: " + variable.missing + ">";
  if (!variable.apart && !variable.readable.empty()) return variable.readable;
  if (!variable.apart && variable.fields.empty()) return variable.value;
  if (!variable.apart) return variable.value + fields_text(variable.fields);
  std::string text = variable.value + " {";
  for (const FrameVariable& part : variable.parts)
    text += (&part == &variable.parts.front() ? "" : ", ") + part.name + "=" + shown(part);
  return text + "} (taken apart by the compiler)";
}

void write_variable(JsonWriter& json, const FrameVariable& variable) {
  json.begin_object().member("name", variable.name).member("type", variable.type);
  if (variable.missing.empty()) json.member("value", variable.value);
  else json.member("missing", variable.missing);
  // Of a constant, a box, a collection; strings and characters are in `value`.
  if (variable.missing.empty() && !variable.readable.empty() && variable.value.find('@') != std::string::npos &&
      !variable.value.starts_with('"') && !variable.value.starts_with('\''))
    json.member("shown", variable.readable);
  if (variable.missing.empty() && variable.cut != 0) json.member("characters", variable.cut);
  if (variable.missing.empty() && !variable.fields.empty()) {
    json.key("fields").begin_object();
    for (const auto& [name, value] : variable.fields) json.member(name, value);
    json.end_object();
  }
  if (variable.apart) {
    json.key("parts").begin_array();
    for (const FrameVariable& part : variable.parts) write_variable(json, part);
    json.end_array();
  }
  json.end_object();
}

}  // namespace

void FrameVariables::append_text(std::string& out, const Frame& frame) const {
  const auto* variables = of(frame);
  if (variables == nullptr) return;
  for (const FrameVariable& each : *variables)
    out += "      " + printable(each.type + " " + each.name + " = " + shown(each)) + "\n";
}

void FrameVariables::write(JsonWriter& json, const Frame& frame) const {
  const auto* variables = of(frame);
  if (variables == nullptr) return;
  json.key("locals").begin_array();
  for (const FrameVariable& each : *variables) write_variable(json, each);
  json.end_array();
}

}  // namespace jtrace::coreinspect
