// The view refs: who refers to an object: fields and elements of other objects, static fields, roots.
#include <algorithm>
#include <map>
#include <set>

#include "base/jdk_names.h"
#include "base/strings.h"
#include "coreinspect/hprof/dump_threads.h"
#include "coreinspect/hprof/vm_roots.h"
#include "coreinspect/tools/heap_referrers.h"
#include "coreinspect/tools/heap_views.h"
#include "coreinspect/tools/value_text.h"

namespace jtrace::coreinspect {
namespace {

class NoVisitor {
 public:
  void begin(const HeapRegion&) {}
  void operator()(const HeapObject&) {}
  void end() {}
};

struct Row {
  std::string kind;  // "field", "element", "static", or a kind of root
  Address from = 0;
  std::string type, where;
  std::set<std::string> held_by;  // of an array or an object of the JDK: the fields of the program that have it
};

// The field of an object at that offset: a field of its class or a superclass; for a mirror a static field. "?" if
// there is no reference: a number of a mirror may be the same as the address.
Row row_of(const Inspection& inspection, const Referrer& referrer) {
  const ClassModel& model = inspection.classes();
  Row row{
      .kind = "field", .from = referrer.object, .type = model.name(referrer.klass->klass).value_or("?"), .where = "?"};
  if (referrer.klass->is_array()) {
    row.kind = "element";
    row.where = "[" + std::to_string(referrer.element) + "]";
    return row;
  }
  const auto look = [&](Address klass, bool statics) {
    const auto fields = model.fields(klass);
    for (const JavaField& field : fields ? **fields : std::vector<JavaField>()) {
      if (field.is_static() != statics || field.offset != referrer.offset || !is_reference(field)) continue;
      row.where = field.name;
      if (!statics) return true;
      row.kind = "static";
      row.where = model.name(klass).value_or("?") + "." + field.name;
      return true;
    }
    return false;
  };
  if (referrer.klass->kind == KlassInfo::Kind::kMirror) {
    const Address of = inspection.objects().klass_of_mirror(referrer.object).value_or(0);
    if (of != 0 && model.is_instance_class(of) && look(of, true)) return row;
  }
  Address klass = referrer.klass->klass;
  for (int depth = 0; klass != 0 && depth < 1000 && !look(klass, false); ++depth)
    klass = model.super(klass).value_or(0);
  return row;
}

bool is_of_program(const Row& row) {
  return row.kind == "static" || (row.kind == "field" && row.where != "?" && !is_of_the_jdk(row.type));
}
std::string text_of_field(const Row& row) {
  return row.kind == "static" ? "static " + row.where : row.type + "." + row.where;
}

std::string holders_text(const Row& row) {
  std::string text;
  for (const std::string& name : row.held_by) text += (text.empty() ? "" : " and ") + name;
  return text;
}

// Which fields of the program have the arrays, nodes and collections that refer to the object: over a few of them, the
// nearest ones.
class Holders {
 public:
  Holders(HeapAccess& access, const ReferenceMap& map, const HeapOptions& options)
      : access_(access), map_(map), options_(options) {}

  // What is to say of those without a name; "": nothing.
  Result<std::string> name(std::vector<Row>& rows) {
    for (const Row& row : rows)
      if (needs_name(row)) names_[row.from];
    Level level;  // each examined object, and for which of the first ones
    for (const auto& each : names_) level[each.first] = {each.first};
    for (int i = 0; i < kLevels && !level.empty() && level.size() <= kMost; ++i) {
      JTRACE_ASSIGN_OR_RETURN(level, next(level));
    }
    for (Row& row : rows)
      if (needs_name(row)) row.held_by = names_[row.from];
    return note_of(level);
  }

 private:
  using Level = std::map<Address, std::set<Address>>;
  static constexpr int kLevels = 5;          // an entry, its table, the map, the set around it
  static constexpr std::size_t kMost = 256;  // objects of a level

  static std::string note_of(const Level& left) {
    if (left.empty()) return {};
    if (left.size() > kMost) return "too many arrays and entries to tell which fields have all of them\n";
    std::set<Address> open;
    for (const auto& each : left) open.insert(each.second.begin(), each.second.end());
    return "no field of the program within " + std::to_string(kLevels) + " steps has " + std::to_string(open.size()) +
           " of these arrays and objects of the JDK\n";
  }
  static bool needs_name(const Row& row) {
    return row.from != 0 && (row.kind == "element" || (row.kind == "field" && !is_of_program(row)));
  }
  Result<Level> next(const Level& level) {
    std::vector<Address> wanted;
    for (const auto& each : level) wanted.push_back(each.first);
    seen_.insert(wanted.begin(), wanted.end());
    JTRACE_ASSIGN_OR_RETURN(const Walked walked, search_for(access_, map_, wanted, options_));
    Level above;
    for (const Referrer& referrer : walked.found) {
      const Row row = row_of(access_.inspection(), referrer);
      if (row.where == "?") continue;
      for (const Address first : level.at(referrer.to)) {
        if (is_of_program(row)) names_[first].insert(text_of_field(row));
        else if (!seen_.contains(referrer.object)) above[referrer.object].insert(first);
      }
    }
    for (auto& [object, firsts] : above) std::erase_if(firsts, [&](Address each) { return !names_[each].empty(); });
    std::erase_if(above, [](const auto& each) { return each.second.empty(); });
    return above;
  }

  HeapAccess& access_;
  const ReferenceMap& map_;
  const HeapOptions& options_;
  std::map<Address, std::set<std::string>> names_;  // of the first ones, which refer to the object
  std::set<Address> seen_;
};

void add_roots(HeapAccess& access, Address wanted, std::vector<Row>& rows, std::vector<std::string>& missing) {
  Inspection& inspection = access.inspection();
  for (const DumpThread& thread : read_dump_threads(access, missing)) {
    const std::string name = "thread \"" + thread.name + "\"";
    if (thread.object == wanted) rows.push_back({"thread", thread.object, "", name});
    for (const FrameReference& reference : thread.candidates) {
      if (reference.object != wanted) continue;
      const bool known = reference.frame < thread.frames.size();
      const JavaMethod* method = known ? thread.frames[reference.frame].method : nullptr;
      rows.push_back({"frame", 0, "", method ? name + " " + method->class_name + "." + method->name : name});
    }
    for (Address object : thread.jni_locals)
      if (object == wanted) rows.push_back({"JNI local", 0, "", name});
    for (Address object : thread.monitors)
      if (object == wanted) rows.push_back({"monitor", 0, "", name});
  }
  for (const auto& [object, handle] : jni_globals(inspection, missing))
    if (object == wanted) rows.push_back({"JNI global", handle, "", ""});
}

// For an object that the walk has not met. References to nothing would look like those to an object.
Result<> check_object(Inspection& inspection, Address wanted) {
  const auto klass = inspection.objects().klass_of(wanted);
  if (klass && inspection.classes().internal_name(*klass)) return {};
  Error error{.category = ErrorCategory::kNotFound, .text = "there is no object"};
  error.address = wanted;
  error.help = "addresses are those of the same core, or of a live JVM at this moment: a collection moves objects";
  return fail(std::move(error));
}

}  // namespace

Result<ViewResult> view_refs(Inspection& inspection, const ViewOptions& options) {
  const auto wanted = options.arguments.empty() ? std::nullopt : parse_address_not_name(options.arguments.front());
  if (!wanted) return view_class_refs(inspection, options);
  JTRACE_ASSIGN_OR_RETURN(const auto access, open_heap(inspection, options, true));
  std::vector<NoVisitor> nothing(threads_of(options.heap));
  if (auto first = walk_regions(*access, nothing, 0, options.heap.progress); !first) return fail(first.error());
  const ReferenceMap map = reference_map(*access);
  const std::vector<Address> only = {*wanted};
  JTRACE_ASSIGN_OR_RETURN(const Walked walked, search_for(*access, map, only, options.heap));

  ViewResult result;
  result.missing = access->missing();
  for (const std::string& line : walk_faults(walked.totals)) result.missing.push_back(line);
  std::vector<Row> rows;
  for (const Referrer& referrer : walked.found) rows.push_back(row_of(inspection, referrer));
  // a word of a mirror that looks like the reference but is not
  std::erase_if(rows, [](const Row& row) { return row.where == "?"; });
  add_roots(*access, *wanted, rows, result.missing);
  const std::size_t all = rows.size();
  if (!walked.met_first) JTRACE_RETURN_IF_ERROR(check_object(inspection, *wanted));
  if (options.heap.top > 0 && all > options.heap.top) rows.resize(options.heap.top);
  const auto named = Holders(*access, map, options.heap).name(rows);
  if (!named) result.missing.push_back("which fields of the program have these: " + named.error().message());
  JsonWriter json(result.out);
  for (const Row& row : rows) {
    if (options.json) {
      json.begin_object().member("kind", row.kind).member("from", hex(row.from));
      json.member("class", row.type).member("where", row.where);
      if (!row.held_by.empty()) json.member("heldBy", holders_text(row));
      json.end_object();
      continue;
    }
    result.out += row.kind + " " + printable(row.where);
    if (!row.type.empty()) result.out += " of " + printable(row.type) + "@" + hex(row.from);
    if (!row.held_by.empty())
      result.out += ", which " + printable(holders_text(row)) + (row.held_by.size() == 1 ? " has" : " have");
    result.out += "\n";
  }
  if (options.json) append_walk_members(result.members, *access, walked.totals, 0);
  else
    result.out += named.value_or("") + counted(all, "reference") +
                  (all > rows.size() ? ", the first " + std::to_string(rows.size()) + " shown" : "") + "\n";
  return result;
}

}  // namespace jtrace::coreinspect
