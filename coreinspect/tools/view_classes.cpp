// Views of loaded classes: classes, class, loaders, statics.
#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <span>

#include "base/quoted_text.h"
#include "base/strings.h"
#include "coreinspect/model/class_facts.h"
#include "coreinspect/runtime/java_number.h"
#include "coreinspect/tools/class_file.h"
#include "coreinspect/tools/named_classes.h"
#include "coreinspect/tools/properties.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

Result<std::vector<Address>> wanted_classes(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  if (options.arguments.empty()) return fail(ErrorCategory::kUsage, "this view needs the name of a class");
  const std::string& wanted = options.arguments.front();
  if (!wanted.starts_with("0x")) return named_classes(inspection, wanted);
  Address address = 0;
  std::from_chars(wanted.data() + 2, wanted.data() + wanted.size(), address, 16);
  JTRACE_RETURN_IF_ERROR(inspection.classes().name(address));
  return std::vector<Address>{address};
}

Result<ViewResult> class_file(Inspection& inspection, const std::vector<Address>& classes) {
  if (classes.size() > 1) {
    std::string text;
    Loaders loaders(inspection);
    for (Address klass : classes)
      text += (text.empty() ? "" : ", ") + inspection.classes().name(klass).value_or("?") + " at " + hex(klass) +
              " of " + loaders.of(klass).name;
    return fail(ErrorCategory::kUsage, "several classes of that name: " + text, "name one by its address");
  }
  ViewResult result;
  JTRACE_ASSIGN_OR_RETURN(result.out, rebuild_class_file(inspection.methods(), classes.front(), result.missing));
  return result;
}

std::string access_text(std::uint32_t access, bool method) {
  constexpr std::pair<std::uint32_t, const char*> words[] = {
      {0x0001, "public"}, {0x0002, "private"}, {0x0004, "protected"}, {0x0008, "static"}, {0x0010, "final"}};
  std::string text;
  for (const auto& [bit, word] : words)
    if ((access & bit) != 0) text += std::string(word) + " ";
  if (method) {
    if ((access & 0x0020) != 0) text += "synchronized ";
    if ((access & 0x0100) != 0) text += "native ";
    if ((access & 0x0400) != 0) text += "abstract ";
  } else {
    if ((access & 0x0040) != 0) text += "volatile ";
    if ((access & 0x0080) != 0) text += "transient ";
  }
  return text;
}

// "I" becomes "int", "Ljava/lang/String;" becomes "java.lang.String".
std::string type_of_signature(std::string_view signature) {
  if (signature.size() == 1)
    return java_class_name("[" + std::string(signature))
        .substr(0, java_class_name("[" + std::string(signature)).size() - 2);
  if (signature.starts_with('L') && signature.ends_with(';'))
    return java_class_name(signature.substr(1, signature.size() - 2));
  return java_class_name(signature);
}

std::size_t size_of(char type) {
  constexpr std::string_view kOne = "ZB", kTwo = "CS", kFour = "IF";
  const auto is = [&](std::string_view types) { return types.find(type) != types.npos; };
  return is(kOne) ? 1 : is(kTwo) ? 2 : is(kFour) ? 4 : 8;
}

std::string primitive_at(const Inspection& inspection, Address at, char type) {
  std::uint64_t bits = 0;
  if (!inspection.vm().memory().read_exactly(at, std::as_writable_bytes(std::span(&bits, 1)).first(size_of(type))))
    return "?";
  return type == 'C' ? "'" + primitive_text(bits, type) + "'" : primitive_text(bits, type);
}

}  // namespace

std::string object_text(const Inspection& inspection, Address object) {
  constexpr std::size_t kShown = 1000;  // characters
  if (object == 0) return "null";
  const auto klass = inspection.objects().klass_of(object);
  const std::string type = klass ? inspection.classes().name(*klass).value_or("?") : "?";
  if (type == "java.lang.String")
    if (const auto text = inspection.objects().text(object, kShown)) {
      const auto more = inspection.objects().text(object, kShown + 1);
      return quoted_text(*text) + (more && *more != *text ? "..." : "");
    }
  return type + "@" + hex(object);
}

std::string value_text(const Inspection& inspection, Address at, std::string_view signature) {
  const char kind = signature.front();
  if (kind != 'L' && kind != '[') return primitive_at(inspection, at, kind);
  const auto object = inspection.objects().load(at);
  return object ? object_text(inspection, *object) : "?";
}

Result<ViewResult> view_classes(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  bool incomplete = false;
  JTRACE_ASSIGN_OR_RETURN(const auto classes, inspection.classes().all(&incomplete));
  Loaders loaders(inspection);
  ViewResult result;
  JsonWriter json(result.out);
  std::size_t unreadable = 0;
  for (Address klass : classes) {
    const auto name = inspection.classes().name(klass);
    if (!name) {
      ++unreadable;
      continue;
    }
    const Loader& loader = loaders.of(klass);
    const Address up = inspection.classes().super(klass).value_or(0);
    const std::string super = up ? inspection.classes().name(up).value_or("?") : "";
    const auto helper = inspection.classes().layout_helper(klass).value_or(0);
    if (options.json) {
      json.begin_object().member("name", *name).member("loader", loader.name).member("super", super);
      if (helper > 0) json.member("size", helper & ~7);
      json.member("address", hex(klass)).end_object();
    } else {
      result.out += hex(klass) + " " + printable(*name) + " loader=" + printable(loader.name) +
                    (super.empty() ? "" : " super=" + printable(super)) +
                    (helper > 0 ? " size=" + std::to_string(helper & ~7) : "") + "\n";
    }
  }
  if (incomplete) result.missing.push_back("a list of classes could not be read to its end");
  if (unreadable > 0) result.missing.push_back(counted(unreadable, "class", "classes") + " could not be read");
  return result;
}

namespace {

// Counts for one loader. A hidden class (8 to 14: an anonymous class) has a ClassLoaderData of its own, beside the
// loader's.
struct LoadedBy {
  Loader loader;
  std::map<Address, std::size_t> counts;  // classes by ClassLoaderData
  std::size_t classes() const {
    std::size_t sum = 0;
    for (const auto& [data, count] : counts) sum += count;
    return sum;
  }
  std::size_t hidden() const {
    std::size_t most = 0;
    for (const auto& [data, count] : counts) most = std::max(most, count);
    return classes() - most;
  }
};

}  // namespace

Result<ViewResult> view_loaders(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  bool incomplete = false;
  JTRACE_ASSIGN_OR_RETURN(const auto classes, inspection.classes().all(&incomplete));
  Loaders loaders(inspection);
  std::vector<LoadedBy> found;
  std::map<Address, std::size_t> places;  // by the loader's object
  for (Address klass : classes) {
    const Loader& loader = loaders.of(klass);
    const auto [place, is_new] = places.try_emplace(loader.object, found.size());
    if (is_new) found.push_back({loader, {}});
    ++found[place->second].counts[loader.data];
  }
  ViewResult result;
  JsonWriter json(result.out);
  for (const LoadedBy& each : found) {
    const Loader& loader = each.loader;
    if (options.json) {
      json.begin_object()
          .member("loader", loader.name)
          .member("object", loader.object ? hex(loader.object) : "")
          .member("classes", each.classes())
          .member("hidden", each.hidden())
          .end_object();
      continue;
    }
    result.out += printable(loader.name) + (loader.object ? " " + hex(loader.object) : "") +
                  " classes=" + std::to_string(each.classes());
    if (each.hidden() != 0) result.out += ", " + std::to_string(each.hidden()) + " of them hidden";
    result.out += "\n";
  }
  if (incomplete) result.missing.push_back("a list of classes could not be read to its end");
  return result;
}

namespace {

// A class, in one of the two forms.
class ClassText {
 public:
  ClassText(std::string& out, bool json) : out_(out), as_json_(json), json_(out) {}

  void begin(const std::string& name, Address klass, const std::string& loader, const std::string& super) {
    if (as_json_)
      json_.begin_object()
          .member("name", name)
          .member("address", hex(klass))
          .member("loader", loader)
          .member("super", super)
          .key("fields")
          .begin_array();
    else
      out_ += "class " + printable(name) + (super.empty() ? "" : " extends " + printable(super)) +
              " loader=" + printable(loader) + " at " + hex(klass) + "\n";
  }
  void add(const JavaField& field) {
    if (as_json_)
      json_.begin_object()
          .member("name", field.name)
          .member("signature", field.signature)
          .member("offset", field.offset)
          .member("static", field.is_static())
          .member("injected", field.injected)
          .end_object();
    else
      out_ += "  " + access_text(field.access, false) + printable(type_of_signature(field.signature)) + " " +
              printable(field.name) + "; // offset " + std::to_string(field.offset) +
              (field.injected ? ", injected" : "") + "\n";
  }
  void begin_methods() {
    if (as_json_) json_.end_array().key("methods").begin_array();
  }
  void add(const JavaMethod& method, Address address) {
    if (as_json_)
      json_.begin_object()
          .member("name", method.name)
          .member("signature", method.signature)
          .member("access", method.access)
          .member("codeSize", method.code_size)
          .member("address", hex(address))
          .end_object();
    else
      out_ += "  " + access_text(method.access, true) + printable(method.name + method.signature) + "; // " +
              std::to_string(method.code_size) + " bytes of code, Method " + hex(address) + "\n";
  }
  void end() {
    if (as_json_) json_.end_array().end_object();
  }

 private:
  std::string& out_;
  bool as_json_;
  JsonWriter json_;
};

// Returns how many methods could not be read.
std::size_t add_methods(Inspection& inspection, const std::vector<Address>& methods, ClassText& text) {
  std::size_t unreadable = 0;
  text.begin_methods();
  for (const Address address : methods)
    if (const auto method = inspection.methods().method(address)) text.add(**method, address);
    else ++unreadable;
  return unreadable;
}

}  // namespace

Result<ViewResult> view_class(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const auto classes, wanted_classes(inspection, options));
  if (options.bytes) return class_file(inspection, classes);
  const ClassModel& model = inspection.classes();
  Loaders loaders(inspection);
  ViewResult result;
  ClassText text(result.out, options.json);
  for (Address klass : classes) {
    JTRACE_ASSIGN_OR_RETURN(const std::string name, model.name(klass));
    if (!model.is_instance_class(klass))
      return fail(ErrorCategory::kUsage, name + " is an array class: it has no fields or methods");
    JTRACE_ASSIGN_OR_RETURN(const auto* fields, model.fields(klass));
    JTRACE_ASSIGN_OR_RETURN(const auto methods, model.methods(klass));
    const Address up = model.super(klass).value_or(0);
    text.begin(name, klass, loaders.of(klass).name, up ? model.name(up).value_or("?") : "");
    for (const JavaField& field : *fields) text.add(field);
    const std::size_t unreadable = add_methods(inspection, methods, text);
    text.end();
    if (unreadable > 0) result.missing.push_back(counted(unreadable, "method") + " of " + name + " could not be read");
  }
  return result;
}

Result<ViewResult> view_statics(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const auto classes, wanted_classes(inspection, options));
  ViewResult result;
  JsonWriter json(result.out);
  SecretMask mask(options.show_secrets);
  for (Address klass : classes) {
    JTRACE_ASSIGN_OR_RETURN(const auto* fields, inspection.classes().fields(klass));
    JTRACE_ASSIGN_OR_RETURN(const Address mirror, mirror_of(inspection.objects(), klass));
    const std::string class_name = inspection.classes().name(klass).value_or("?");
    for (const JavaField& field : *fields) {
      if (!field.is_static() || field.signature.empty() || field.injected) continue;
      const Address at = mirror + field.offset;
      const std::string value = mask.value_of(mask.hides_field(inspection, field.name, field.signature, at),
                                              value_text(inspection, at, field.signature));
      if (options.json)
        json.begin_object()
            .member("class", class_name)
            .member("name", field.name)
            .member("signature", field.signature)
            .member("value", value)
            .end_object();
      else result.out += printable(class_name + "." + field.name + " = " + value) + "\n";
    }
  }
  result.masked = mask.count();
  return result;
}

}  // namespace jtrace::coreinspect
