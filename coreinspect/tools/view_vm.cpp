// The views of the VM itself: info, flags, properties, args, vmstructs.
#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "coreinspect/model/core_death.h"
#include "coreinspect/tools/counters.h"
#include "coreinspect/tools/crash.h"
#include "coreinspect/tools/properties.h"
#include "coreinspect/tools/secrets.h"
#include "coreinspect/tools/views.h"

namespace jtrace::coreinspect {
namespace {

// Rows of "name: value", or the members of one JSON object.
class Facts {
 public:
  Facts(ViewResult& result, bool json) : result_(result), json_(json), writer_(result.out) {
    if (json_) writer_.begin_object();
  }
  void end() {
    if (json_) writer_.end_object();
  }
  template <class T>
  void add(std::string_view key, std::string_view words, const T& value, std::string_view unit = {}) {
    if (json_) {
      writer_.member(key, value);
      return;
    }
    result_.out.append(words).append(": ");
    if constexpr (std::is_convertible_v<T, std::string_view>) result_.out += printable(std::string(value));
    else result_.out += std::to_string(value);
    result_.out.append(unit).append("\n");
  }

 private:
  ViewResult& result_;
  bool json_;
  JsonWriter writer_;
};

void add_crash(const Inspection& inspection, Facts& facts) {
  const target::CoreFile* core = inspection.target().core();
  if (!core) return;
  if (const auto& signal = core->signal()) {
    facts.add("signal", "signal", signal_name(signal->number));
    facts.add("signalCode", "signal code", signal->code);
    if (signal->fault) facts.add("faultAddress", "fault address", hex(*signal->fault));
    if (signal->sent_by) facts.add("sentBy", "signal sent by process", *signal->sent_by);
  }
  if (core->threads().empty()) return;
  const target::ThreadRegisters& first = core->threads().front();
  // The keys of the JSON are the same: `signal` shows whether it crashed.
  facts.add("crashedThread",
            died_by_signal(*core) ? "crashed thread (native id)" : "first thread of the core (native id)", first.tid);
  facts.add("pc", "its pc", hex(first.registers.pc()));
  if (const auto crash = crash_in_handler(inspection)) {
    facts.add("crashSignal", "crashed by", signal_name(crash->signal));
    if (crash->fault) facts.add("crashFaultAddress", "at the address", hex(*crash->fault));
  }
  const auto threads = java_thread_addresses(inspection.vm());
  if (!threads) return;
  for (Address address : *threads) {
    const JavaThread thread = read_java_thread(inspection.objects(), address);
    if (!thread.has_stack_address(first.registers.sp())) continue;
    facts.add("crashedThreadName", "its name", thread.name);
    facts.add("crashedThreadState", "its state in the VM", vm_state_name(thread.vm_state));
  }
}

void add_counter_facts(const Inspection& inspection, Facts& facts) {
  const auto counters = read_counters(inspection.vm());
  if (!counters) return;
  const auto begin = counters->long_value("sun.rt.createVmBeginTime");  // ms since the epoch
  const auto ticks = counters->long_value("sun.os.hrt.ticks");
  const auto frequency = counters->long_value("sun.os.hrt.frequency");
  if (begin) facts.add("startTime", "started (ms since the epoch)", *begin);
  if (inspection.target().process() && begin)
    facts.add("uptime", "uptime",
              static_cast<double>(static_cast<std::int64_t>(realtime_ns() / 1'000'000) - *begin) / 1e3, " s");
  else if (ticks && frequency && *frequency > 0)
    facts.add("uptime", "uptime", static_cast<double>(*ticks) / static_cast<double>(*frequency), " s");
  std::int64_t used = 0;
  bool any = false;
  for (const char* space : {"0.space.0", "0.space.1", "0.space.2", "1.space.0"})
    if (const auto bytes = counters->long_value("sun.gc.generation." + std::string(space) + ".used")) {
      used += *bytes;
      any = true;
    }
  // The JVM writes these counters after collections, and for the young generation at some allocations: they are not the
  // figures of this moment.
  if (any) facts.add("heapUsedAtLastUpdate", "heap used when the counters were last written", used, " bytes");
}

}  // namespace

Result<ViewResult> view_info(Inspection& inspection, const ViewOptions& options) {
  ViewResult result;
  const Vm& vm = inspection.vm();
  const target::Target& target = inspection.target();
  Facts facts(result, options.json);
  facts.add("release", "HotSpot", vm.release());
  facts.add("feature", "JDK", vm.feature());
  facts.add("internalInfo", "build", vm.internal_info());
  facts.add("pid", target.core() ? "process id (its own)" : "process id",
            target.process() ? target.process()->pid() : target.nspid());
  facts.add("libjvm", "libjvm.so", target.libjvm_mapping().path);
  facts.add("buildId", "build id of libjvm.so", target.libjvm().build_id());
  facts.add("collector", "collector", vm.collector());
  if (const VmFlag* flag = vm.flag("MaxHeapSize")) facts.add("maxHeapSize", "largest heap", flag->value, " bytes");
  if (const VmFlag* flag = vm.flag("InitialHeapSize"))
    facts.add("initialHeapSize", "initial heap", flag->value, " bytes");
  facts.add("compressedOops", "compressed references", vm.flag_is_true("UseCompressedOops") ? "yes" : "no");
  if (vm.flag("UseCompactObjectHeaders"))
    facts.add("compactHeaders", "compact object headers", vm.flag_is_true("UseCompactObjectHeaders") ? "yes" : "no");
  add_counter_facts(inspection, facts);
  if (const auto threads = java_thread_addresses(vm)) facts.add("javaThreads", "Java threads", threads->size());
  add_crash(inspection, facts);
  if (const auto* memory = target.core_memory()) {
    facts.add("bytesFromFiles", "memory taken from files, not from the core", memory->bytes_from_files(), " bytes");
  }
  if (target.core())
    facts.add("diedInGc", died_by_signal(*target.core()) ? "died inside a collection" : "taken inside a collection",
              inspection.died_in_gc() ? "yes" : "no");
  facts.add("readable", "objects can be read", inspection.healthy() ? "yes" : "no");
  facts.end();
  result.missing = target.missing();
  if (!inspection.healthy()) result.missing.push_back(inspection.healthy().error().message());
  return result;
}

Result<ViewResult> view_flags(Inspection& inspection, const ViewOptions& options) {
  if (inspection.vm().flags().empty()) return fail(ErrorCategory::kMalformed, "the flags of this JVM cannot be read");
  ViewResult result;
  auto flags = inspection.vm().flags();
  std::sort(flags.begin(), flags.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  JsonWriter json(result.out);
  SecretMask mask(options.show_secrets);
  for (const VmFlag& flag : flags) {
    if (!options.all && flag.origin == 0) continue;
    const std::string value = mask.flag(flag);
    if (options.json)
      json.begin_object()
          .member("name", flag.name)
          .member("value", value)
          .member("type", flag.type)
          .member("origin", flag.origin_name())
          .end_object();
    else
      result.out.append(flag.name)
          .append(" = ")
          .append(printable(value))
          .append(" {")
          .append(flag.origin_name())
          .append("}\n");
  }
  result.masked = mask.count();
  return result;
}

Result<ViewResult> view_properties(Inspection& inspection, const ViewOptions& options) {
  JTRACE_RETURN_IF_ERROR(inspection.healthy());
  JTRACE_ASSIGN_OR_RETURN(const PropertyTable table, read_system_properties(inspection.objects()));
  ViewResult result;
  JsonWriter json(result.out);
  SecretMask mask(options.show_secrets);
  for (const auto& [key, plain] : table.entries) {
    const std::string value = mask.property(key, plain);
    if (options.json) json.begin_object().member("key", key).member("value", value).end_object();
    else result.out.append(printable(key)).append(" = ").append(printable(value)).append("\n");
  }
  if (table.unreadable > 0)
    result.missing.push_back(counted(table.unreadable, "property", "properties") + " could not be read");
  result.masked = mask.count();
  return result;
}

namespace {

// A C array of C strings, such as Arguments::_jvm_args_array.
Result<std::vector<std::string>> text_array(const Vm& vm, std::string_view array, std::string_view count_name) {
  JTRACE_ASSIGN_OR_RETURN(const Address first, vm.read_static<Address>("Arguments", array));
  JTRACE_ASSIGN_OR_RETURN(const auto count, vm.read_static<std::int32_t>("Arguments", count_name));
  std::vector<std::string> texts;
  for (int i = 0; i < std::min(count, 100'000); ++i) {
    JTRACE_ASSIGN_OR_RETURN(const Address at, vm.memory().read<Address>(first + static_cast<Address>(i) * 8));
    JTRACE_ASSIGN_OR_RETURN(std::string text, vm.memory().read_cstring(at, 1u << 20));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

Result<ViewResult> view_args(Inspection& inspection, const ViewOptions& options) {
  const Vm& vm = inspection.vm();
  ViewResult result;
  JsonWriter json(result.out);
  SecretMask mask(options.show_secrets);
  const auto add = [&](std::string_view kind, const std::string& value) {
    if (options.json) json.begin_object().member("kind", kind).member("value", value).end_object();
    else result.out.append(kind).append(": ").append(printable(value)).append("\n");
  };
  const auto add_array = [&](std::string_view kind, std::string_view array, std::string_view count) {
    const auto texts = text_array(vm, array, count);
    if (!texts) result.missing.push_back(texts.error().message());
    else
      for (const std::string& text : *texts) add(kind, mask.command(text));
  };
  add_array("jvm_flags", "_jvm_flags_array", "_num_jvm_flags");
  add_array("jvm_args", "_jvm_args_array", "_num_jvm_args");
  if (auto command = vm.read_static_text("Arguments", "_java_command")) add("java_command", mask.command(*command));
  else result.missing.push_back(command.error().message());
  result.masked = mask.count();
  return result;
}

Result<ViewResult> view_vmstructs(Inspection& inspection, const ViewOptions& options) {
  const TypeDatabase& types = inspection.vm().types();
  ViewResult result;
  JsonWriter json(result.out);
  for (const VmType& type : types.types()) {
    if (options.json)
      json.begin_object()
          .member("kind", "type")
          .member("name", type.name)
          .member("super", type.super)
          .member("size", type.size)
          .member("oop", type.is_oop)
          .member("integer", type.is_integer)
          .member("unsigned", type.is_unsigned)
          .end_object();
    else
      result.out +=
          "type " + type.name + " " + (type.super.empty() ? "-" : type.super) + " " + std::to_string(type.size) + "\n";
  }
  for (const TypeField& field : types.fields()) {
    const std::string where = field.is_static ? hex(field.address) : std::to_string(field.offset);
    if (options.json) {
      json.begin_object().member("kind", "field").member("type", field.type).member("name", field.name);
      json.member("typeString", field.type_string).member("static", field.is_static);
      if (field.is_static) json.member("address", where);
      else json.member("offset", field.offset);
      json.end_object();
    } else {
      result.out += "field " + field.type + " " + field.name + " " +
                    (field.type_string.empty() ? "-" : field.type_string) + (field.is_static ? " static " : " ") +
                    where + "\n";
    }
  }
  for (const auto* constants : {&types.int_constants(), &types.long_constants()}) {
    const char* kind = constants == &types.int_constants() ? "int" : "long";
    for (const auto& [name, value] : *constants) {
      if (options.json)
        json.begin_object().member("kind", kind).member("name", name).member("value", value).end_object();
      else result.out += std::string(kind) + " " + name + " " + std::to_string(value) + "\n";
    }
  }
  return result;
}

}  // namespace jtrace::coreinspect
