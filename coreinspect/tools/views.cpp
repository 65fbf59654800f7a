#include "coreinspect/tools/views.h"

#include "base/strings.h"

namespace jtrace::coreinspect {

const std::vector<View>& views() {
  static const std::vector<View> all = {
      {"info", "", "version, uptime, collector, heap; of a core: signal and crashed thread", view_info},
      {"flags", "", "flags that are not at their default (--all: all), with their origin", view_flags},
      {"properties", "", "system properties", view_properties},
      {"args", "", "arguments of the JVM and of the program", view_args},
      {"counters", "", "performance counters in the memory of the JVM", view_counters},
      {"threads", "", "all threads with state, ids and Java frames", view_threads},
      {"locks", "", "threads that wait for a lock, who has it, deadlocks", view_locks},
      {"classes", "", "loaded classes with loader and superclass", view_classes},
      {"class", "NAME", "fields and methods of a class", view_class},
      {"method", "NAME", "bytecode of the methods CLASS.METHOD, or of the Method at 0xADDRESS", view_method},
      {"statics", "NAME", "static fields of a class with their values", view_statics},
      {"loaders", "", "class loaders with the number of their classes", view_loaders},
      {"heap", "", "spaces of the heap and their use", view_heap},
      {"histogram", "", "instances and bytes of each class", view_histogram},
      {"heapdump", "", "all objects, classes, roots and stacks as an hprof file: -o FILE.hprof or FILE.hprof.gz",
       view_heapdump},
      {"object", "ADDRESS", "an object with its fields, and what it refers to (--depth N)", view_object},
      {"refs", "ADDRESS", "who refers to an object: fields, elements, statics, roots", view_refs},
      {"regions", "", "regions of the heap, and what of them cannot be parsed", view_regions},
      {"codecache", "", "generated code: compiled methods, stubs", view_codecache},
      {"find", "ADDRESS", "what an address is", view_find},
      {"symbols", "", "exported symbols of libjvm.so", view_symbols},
      {"pmap", "", "mappings of the process", view_pmap},
      {"events", "", "all of this as events of trace.dtd: a snapshot (xml)", nullptr},
      {"vmstructs", "", "the tables in which the JVM describes itself", view_vmstructs},
  };
  return all;
}

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string hex(std::uint64_t value) {
  std::string text;
  append_hex(text, value);
  return text;
}

}  // namespace jtrace::coreinspect
