#include "coreinspect/hprof/redaction.h"

#include <algorithm>
#include <array>

namespace jtrace::coreinspect {
namespace {

struct Kept {
  std::string_view type, field;
};
// Numbers of entries and places in arrays, kinds and states; no hash of a content, and no counter of a program.
constexpr std::array kKept = std::to_array<Kept>({
    {"java.lang.String", "coder"},
    {"java.lang.AbstractStringBuilder", "coder"},
    {"java.lang.AbstractStringBuilder", "count"},
    {"java.lang.Thread", "tid"},
    {"java.lang.Thread", "eetop"},
    {"java.lang.Thread", "priority"},
    {"java.lang.Thread", "daemon"},
    {"java.lang.Thread", "threadStatus"},
    {"java.lang.Thread$FieldHolder", "priority"},
    {"java.lang.Thread$FieldHolder", "daemon"},
    {"java.lang.Thread$FieldHolder", "threadStatus"},
    {"java.lang.VirtualThread", "state"},
    {"java.lang.ThreadLocal$ThreadLocalMap", "size"},
    {"java.lang.ThreadLocal$ThreadLocalMap", "threshold"},
    {"java.lang.ref.SoftReference", "timestamp"},
    {"java.lang.ref.SoftReference", "clock"},
    {"java.lang.ref.ReferenceQueue", "queueLength"},
    {"java.nio.Buffer", "capacity"},
    {"java.nio.DirectByteBuffer$Deallocator", "size"},
    {"java.nio.DirectByteBuffer$Deallocator", "capacity"},
    {"java.util.HashMap", "size"},
    {"java.util.HashMap", "threshold"},
    {"java.util.Hashtable", "count"},
    {"java.util.WeakHashMap", "size"},
    {"java.util.IdentityHashMap", "size"},
    {"java.util.EnumMap", "size"},
    {"java.util.TreeMap", "size"},
    {"java.util.ArrayList", "size"},
    {"java.util.Vector", "elementCount"},
    {"java.util.LinkedList", "size"},
    {"java.util.PriorityQueue", "size"},
    {"java.util.ArrayDeque", "head"},
    {"java.util.ArrayDeque", "tail"},
    {"java.util.ImmutableCollections$SetN", "size"},
    {"java.util.ImmutableCollections$MapN", "size"},
    {"java.util.concurrent.PriorityBlockingQueue", "size"},
    {"java.util.concurrent.ArrayBlockingQueue", "count"},
    {"java.util.concurrent.ArrayBlockingQueue", "takeIndex"},
    {"java.util.concurrent.ArrayBlockingQueue", "putIndex"},
    {"java.util.concurrent.LinkedBlockingQueue", "capacity"},
    {"java.util.concurrent.LinkedBlockingDeque", "count"},
    {"java.util.concurrent.LinkedBlockingDeque", "capacity"},
    {"java.util.concurrent.ConcurrentHashMap", "baseCount"},
    {"java.util.concurrent.ConcurrentHashMap", "sizeCtl"},
    {"java.util.concurrent.ConcurrentHashMap$CounterCell", "value"},
});

bool is_named(std::string_view name, std::string_view dotted) {
  return std::equal(name.begin(), name.end(), dotted.begin(), dotted.end(),
                    [](char a, char b) { return a == b || (a == '/' && b == '.'); });
}

}  // namespace

bool stays_redacted(std::string_view class_name, std::string_view field) {
  return std::any_of(kKept.begin(), kKept.end(),
                     [&](const Kept& each) { return each.field == field && is_named(class_name, each.type); });
}

}  // namespace jtrace::coreinspect
