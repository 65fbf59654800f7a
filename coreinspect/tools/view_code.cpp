// Views of generated code and of addresses: codecache, find.
#include <algorithm>

#include "base/strings.h"
#include "coreinspect/model/thread_reader.h"
#include "coreinspect/tools/value_text.h"
#include "target/symbol_files.h"

namespace jtrace::coreinspect {

std::optional<Address> parse_address(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  Address value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Address> parse_address_not_name(std::string_view text) {
  constexpr std::size_t kSure = 8;
  const bool is_sure =
      text.size() >= kSure || text.starts_with("0x") || (!text.empty() && text[0] >= '0' && text[0] <= '9');
  return is_sure ? parse_address(text) : std::nullopt;
}

namespace {

std::string method_text(const Inspection& inspection, Address address) {
  const auto method = inspection.methods().method(address);
  return method ? (*method)->class_name + "." + (*method)->name + (*method)->signature : std::string("?");
}

struct Finding {
  std::string kind, text;
};

void find_code(const Inspection& inspection, Address at, std::vector<Finding>& findings) {
  const auto code = inspection.code();
  if (!code) return;
  if ((*code)->in_interpreter(at)) findings.push_back({"interpreter", "in the interpreter's code"});
  const auto blob = (*code)->find(at);
  if (!blob || !*blob) return;
  const CodeBlob& found = **blob;
  findings.push_back({"code", found.name + (found.is_nmethod() ? " of " + method_text(inspection, found.method) : "") +
                                  " at " + hex(found.address) + ", code+" + hex(at - found.code_begin)});
}

void find_thread(const Inspection& inspection, Address at, std::vector<Finding>& findings) {
  const auto threads = java_thread_addresses(inspection.vm());
  const auto size = inspection.vm().types().size_of("JavaThread").value_or(0);
  if (!threads) return;
  ThreadReader reader(inspection);
  for (Address address : *threads) {
    const JavaThread thread = reader.read(address);
    if (at - address < size)
      findings.push_back({"thread", "JavaThread of \"" + thread.name + "\" + " + hex(at - address)});
    if (thread.has_stack_address(at)) findings.push_back({"stack", "on the stack of \"" + thread.name + "\""});
  }
}

// A structure is recognized by its own words: a class, a method or an object has a name, or it is none.
void find_structure(const Inspection& inspection, Address at, std::vector<Finding>& findings) {
  bool incomplete = false;
  const auto classes = inspection.classes().all(&incomplete);
  if (!classes) return;
  const auto is_class = [&](Address address) {
    return std::find(classes->begin(), classes->end(), address) != classes->end();
  };
  if (is_class(at)) findings.push_back({"class", inspection.classes().name(at).value_or("?")});
  if (const auto method = inspection.methods().method(at); method && is_class((*method)->holder))
    findings.push_back({"method", method_text(inspection, at)});
  const auto klass = inspection.objects().klass_of(at);
  if (!klass || !is_class(*klass)) return;
  const std::string name = inspection.classes().name(*klass).value_or("?");
  const Address of = name == "java.lang.Class" ? inspection.objects().klass_of_mirror(at).value_or(0) : 0;
  findings.push_back({"object", "an object of class " + name +
                                    (is_class(of) ? ": that of " + inspection.classes().name(of).value_or("?") : "")});
}

void find_mapping_of(const Inspection& inspection, Address at, std::vector<Finding>& findings) {
  const target::Target& target = inspection.target();
  const target::Mapping* mapping = target::find_mapping(target.mappings(), at);
  if (!mapping) return;
  std::string text = (mapping->path.empty() ? "memory without a file" : mapping->path) + " " + hex(mapping->start) +
                     "-" + hex(mapping->end);
  if (!mapping->path.empty()) text += ", file offset " + hex(mapping->offset + (at - mapping->start));
  findings.push_back({"mapping", text});
  if (mapping->path != target.libjvm_mapping().path) return;
  const target::Address vaddr = at - target.libjvm().bias();
  for (const target::ElfImage& image : target::open_symbol_files(target, *mapping)) {
    const target::ElfSymbol* symbol = image.symbol_at(vaddr);
    if (!symbol) continue;
    findings.push_back({"symbol", std::string(symbol->name) + "+" + hex(vaddr - symbol->value)});
    return;
  }
}

}  // namespace

Result<ViewResult> view_codecache(Inspection& inspection, const ViewOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(const CodeCache* code, inspection.code());
  ViewResult result;
  JsonWriter json(result.out);
  const auto walked = code->for_each([&](const CodeBlob& blob) {
    const std::string method = blob.is_nmethod() ? method_text(inspection, blob.method) : "";
    if (options.json) {
      json.begin_object().member("address", hex(blob.address)).member("size", blob.size).member("name", blob.name);
      if (blob.is_nmethod())
        json.member("method", method).member("level", blob.comp_level).member("compileId", blob.compile_id);
      json.end_object();
    } else {
      result.out += hex(blob.address) + " " + std::to_string(blob.size) + " " + printable(blob.name);
      if (blob.is_nmethod())
        result.out += " " + std::to_string(blob.compile_id) + " level " + std::to_string(blob.comp_level) + " " +
                      printable(method);
      result.out += "\n";
    }
    return true;
  });
  if (!walked)
    result.missing.push_back(walked.error().with_context("the list of code could not be read to its end").message());
  return result;
}

Result<ViewResult> view_find(Inspection& inspection, const ViewOptions& options) {
  if (options.arguments.empty()) return fail(ErrorCategory::kUsage, "find needs an address");
  const auto at = parse_address(options.arguments.front());
  if (!at)
    return fail(ErrorCategory::kUsage, "not an address: " + options.arguments.front(),
                "hexadecimal, with or without 0x");
  std::vector<Finding> findings;
  find_code(inspection, *at, findings);
  if (inspection.healthy()) {
    find_thread(inspection, *at, findings);
    find_structure(inspection, *at, findings);
  }
  find_mapping_of(inspection, *at, findings);
  if (findings.empty())
    return fail(ErrorCategory::kNotFound, hex(*at) + " is unknown: not mapped, not code, no structure of the VM");
  ViewResult result;
  JsonWriter json(result.out);
  for (const Finding& finding : findings) {
    if (options.json)
      json.begin_object()
          .member("address", hex(*at))
          .member("kind", finding.kind)
          .member("text", finding.text)
          .end_object();
    else result.out += finding.kind + ": " + printable(finding.text) + "\n";
  }
  return result;
}

}  // namespace jtrace::coreinspect
