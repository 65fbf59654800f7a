#include "trace/io/sqlite_schema.h"

#include "trace/io/exceptions.h"

namespace jtrace::trace::io {
namespace {

// Times are ns since the epoch; agent is agent.id; ids are the trace's, by agent. What has no column of its own is in
// the table attribute, so nothing is left out.
constexpr const char* kEventTables = R"(
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=8192;
CREATE TABLE node(uuid TEXT PRIMARY KEY, hostname TEXT, ipaddress TEXT, boot INTEGER);
CREATE TABLE process(uuid TEXT PRIMARY KEY, node TEXT, pid INTEGER, name TEXT, executable TEXT, started INTEGER);
CREATE TABLE agent(id INTEGER PRIMARY KEY, uuid TEXT, process TEXT, name TEXT, version TEXT, snapshot INTEGER, dropped INTEGER);
CREATE TABLE thread(agent INTEGER, id INTEGER, name TEXT, grp TEXT, started INTEGER, ended INTEGER, PRIMARY KEY(agent, id));
CREATE TABLE class(agent INTEGER, id INTEGER, name TEXT, source TEXT, PRIMARY KEY(agent, id));
CREATE TABLE method(agent INTEGER, id INTEGER, class INTEGER, name TEXT, signature TEXT, line INTEGER, PRIMARY KEY(agent, id));
CREATE TABLE event(seq INTEGER PRIMARY KEY, agent INTEGER, element TEXT, time INTEGER, thread INTEGER, class INTEGER,
                   method INTEGER, object INTEGER, ticket INTEGER, size INTEGER, depth INTEGER, cpu INTEGER, sequence INTEGER,
                   line INTEGER, collation INTEGER);
CREATE TABLE allocation(event INTEGER, agent INTEGER, thread INTEGER, class TEXT, size INTEGER, objects REAL, bytes REAL,
                        kind TEXT, stack TEXT);
CREATE TABLE value(event INTEGER, position INTEGER, name TEXT, type TEXT, value TEXT, object INTEGER, format TEXT, text TEXT);
CREATE TABLE attribute(event INTEGER, name TEXT, value);
CREATE TABLE counter(agent INTEGER, method INTEGER, count INTEGER);
CREATE TABLE option(agent INTEGER, key TEXT, value TEXT);
)";

// call.id is the seq of the call's methodEntry. complete: 0 if its end is not in the trace (it took at least so long).
constexpr const char* kAnswerTables = R"(
CREATE TABLE gc(agent INTEGER, started INTEGER, ended INTEGER, used INTEGER, total INTEGER, used_before INTEGER, kind TEXT, cause TEXT);
CREATE TABLE wait(agent INTEGER, thread INTEGER, kind TEXT, object INTEGER, owner INTEGER, started INTEGER, ended INTEGER,
                  class TEXT, complete INTEGER);
CREATE TABLE call(id INTEGER PRIMARY KEY, agent INTEGER, thread INTEGER, method INTEGER, caller INTEGER, started INTEGER,
                  ended INTEGER, self INTEGER, cpu INTEGER, waited INTEGER, depth INTEGER, complete INTEGER, arguments TEXT,
                  exception TEXT);
CREATE TABLE exception(agent INTEGER, thread INTEGER, class TEXT, thrown INTEGER, thrown_method INTEGER, thrown_line INTEGER,
                       caught_method INTEGER, caught_line INTEGER, end TEXT, other TEXT, thrown_on INTEGER, message TEXT);
CREATE TABLE method_time(agent INTEGER, method INTEGER, calls INTEGER, total INTEGER, self INTEGER, cpu INTEGER, median INTEGER,
                         p99 INTEGER, longest INTEGER, counted INTEGER, median_bound TEXT, p99_bound TEXT);
CREATE TABLE sample(agent INTEGER, time INTEGER, name TEXT, value);
CREATE TABLE heap_class(agent INTEGER, class TEXT, instances INTEGER, bytes INTEGER);
CREATE TABLE collection(agent INTEGER, started INTEGER, ended INTEGER, pauses INTEGER, used_before INTEGER, used INTEGER,
                        total INTEGER, kind TEXT, cause TEXT);
CREATE TABLE recorded(agent INTEGER PRIMARY KEY, blocked INTEGER, waiting INTEGER, sleeping INTEGER, allocations INTEGER);
CREATE TABLE loss(agent INTEGER, thread INTEGER, started INTEGER, ended INTEGER, events INTEGER);
CREATE TABLE note(agent INTEGER, note TEXT);
BEGIN;
)";

constexpr const char* kIndexes = R"(
COMMIT;
CREATE INDEX event_time ON event(time);
CREATE INDEX event_element ON event(element);
CREATE INDEX value_event ON value(event);
CREATE INDEX attribute_event ON attribute(event);
CREATE INDEX wait_thread ON wait(thread, started);
CREATE INDEX call_method ON call(method);
CREATE INDEX call_caller ON call(caller);
)";

std::string time_of(const std::string& column) {
  return "strftime('%Y-%m-%d %H:%M:%f', " + column + " / 1e9, 'unixepoch')";
}
// "com.example.Shop.serve": of the row that has `agent` and the method's id in `column`; `as` is the name of the joins.
std::string method_name(const std::string& as) { return "coalesce(" + as + "c.name || '.', '') || " + as + "m.name"; }
std::string method_join(const std::string& column, const std::string& as) {
  return " LEFT JOIN method " + as + "m ON " + as + "m.agent = x.agent AND " + as + "m.id = " + column +
         " LEFT JOIN class " + as + "c ON " + as + "c.agent = x.agent AND " + as + "c.id = " + as + "m.class";
}
std::string thread_name(const std::string& column, const std::string& as) {
  return "coalesce(" + as + "t.name, 'thread#' || " + column + ")";
}
std::string thread_join(const std::string& column, const std::string& as = "") {
  return " LEFT JOIN thread " + as + "t ON " + as + "t.agent = x.agent AND " + as + "t.id = " + column;
}
std::string view(const std::string& name, const std::string& columns, const std::string& from) {
  return "CREATE VIEW " + name + " AS SELECT " + columns + " FROM " + from + ";\n";
}

std::string views_of_calls() {
  return view("calls",
              "x.id, " + time_of("x.started") +
                  " AS time, (x.ended - x.started) / 1e6 AS ms, x.self / 1e6 AS self_ms, " +
                  "x.waited / 1e6 AS waited_ms, x.cpu / 1e6 AS cpu_ms, " + method_name("") +
                  " AS method, x.arguments, x.exception, " + thread_name("x.thread", "") +
                  " AS thread, x.caller, x.depth, x.complete, x.started, x.ended, x.thread AS thread_id, x.agent",
              "call x" + method_join("x.method", "") + thread_join("x.thread")) +
         view("arguments",
              "x.id AS call, v.position, v.name, v.type, coalesce(v.value, v.text) || iif(v.format LIKE "
              "'cut %', '...', '') AS value, v.object, " +
                  method_name("") + " AS method, x.agent",
              "value v JOIN call x ON x.id = v.event" + method_join("x.method", "")) +
         view("methods",
              method_name("") +
                  " AS method, x.calls, x.total / 1e6 AS total_ms, x.self / 1e6 AS self_ms, x.cpu / 1e6 AS cpu_ms, "
                  "x.median / 1e6 AS median_ms, x.p99 / 1e6 AS p99_ms, x.longest / 1e6 AS longest_ms, x.counted, "
                  "x.median_bound, x.p99_bound, x.agent",
              "method_time x" + method_join("x.method", ""));
}

std::string view_of_exceptions() {
  // As has_handler() of exceptions.h.
  const std::string is_caught =
      "(x.end NOT IN ('left', 'unknown') AND (x.end <> 'wrapped' OR x.caught_line IS NOT NULL OR x.other <> '" +
      std::string(kInInitializer) + "'))";
  return view("exceptions",
              time_of("x.thrown") + " AS time, x.class, x.message, x.end, x.end = 'swallowed' AS swallowed, " +
                  method_name("a") + " AS thrown, x.thrown_line, CASE WHEN " + is_caught + " THEN " + method_name("b") +
                  " END AS caught, CASE WHEN " + is_caught + " THEN x.caught_line END AS caught_line, CASE WHEN NOT " +
                  is_caught + " THEN " + method_name("b") + " END AS last_in, x.thrown_on, x.other, " +
                  thread_name("x.thread", "") + " AS thread, x.thrown AS started, x.agent",
              "exception x" + method_join("x.thrown_method", "a") + method_join("x.caught_method", "b") +
                  thread_join("x.thread"));
}

// NULL if nothing of that kind was recorded, 0 if the thread had none. `column`: "w.blocked_ms", "a.bytes AS name".
std::string if_recorded(const std::string& what, const std::string& column) {
  const std::size_t as = column.find(" AS ");
  const std::string value = column.substr(0, as);
  const std::string name = as == column.npos ? column.substr(column.find('.') + 1) : column.substr(as + 4);
  return "CASE WHEN r." + what + " THEN coalesce(" + value + (name.ends_with("_ms") ? ", 0.0" : ", 0") + ") END AS " +
         name;
}

std::string views_of_time() {
  return view("waits",
              time_of("x.started") + " AS time, (x.ended - x.started) / 1e6 AS ms, x.kind, " +
                  thread_name("x.thread", "") + " AS thread, x.class, CASE WHEN x.owner IS NOT NULL THEN " +
                  thread_name("x.owner", "o") +
                  " END AS owner, x.complete, x.started, x.ended, x.thread AS thread_id, x.object, x.agent",
              "wait x" + thread_join("x.thread") + thread_join("x.owner", "o")) +
         view("pauses",
              time_of("x.started") +
                  " AS time, (x.ended - x.started) / 1e6 AS ms, x.kind, x.cause, x.used_before / 1048576.0 AS "
                  "before_mb, "
                  "x.used / 1048576.0 AS used_mb, x.total / 1048576.0 AS total_mb, x.started, x.ended, x.agent",
              "gc x") +
         view("collections",
              time_of("coalesce(x.started, x.ended)") +
                  " AS time, (x.ended - x.started) / 1e6 AS ms, x.kind, x.cause, x.pauses, x.used_before / 1048576.0 "
                  "AS before_mb, x.used / 1048576.0 AS used_mb, x.total / 1048576.0 AS total_mb, x.started, x.ended, "
                  "x.agent",
              "collection x") +
         view("threads",
              "x.name, x.grp AS thread_group, " + time_of("x.started") + " AS started, " + time_of("x.ended") +
                  " AS ended, " + if_recorded("blocked", "w.blocked_ms") + ", " +
                  if_recorded("waiting", "w.waiting_ms") + ", " + if_recorded("sleeping", "w.sleeping_ms") + ", " +
                  // Of one that ran before the trace: docs/formats.md, "Allocations".
                  if_recorded("allocations AND (a.bytes IS NOT NULL OR b.thread IS NULL)",
                              "a.bytes AS allocated_bytes") +
                  ", x.id, x.agent",
              "thread x LEFT JOIN recorded r ON r.agent = x.agent LEFT JOIN (SELECT agent, thread, sum((ended - "
              "started) * (kind = 'blocked')) / 1e6 AS "
              "blocked_ms, "
              "sum((ended - started) * (kind = 'waiting')) / 1e6 AS waiting_ms, "
              "sum((ended - started) * (kind = 'sleeping')) / 1e6 AS sleeping_ms FROM wait GROUP BY 1, 2) w "
              "ON w.agent = x.agent AND w.thread = x.id "
              "LEFT JOIN (SELECT agent, thread, sum(bytes) AS bytes FROM allocation GROUP BY 1, 2) a "
              "ON a.agent = x.agent AND a.thread = x.id "
              "LEFT JOIN (SELECT DISTINCT agent, CAST(value AS INTEGER) AS thread FROM option "
              "WHERE key = 'jtrace.threadState') b ON b.agent = x.agent AND b.thread = x.id") +
         view("losses",
              time_of("x.started") +
                  " AS time, (x.ended - x.started) / 1e6 AS ms, CASE WHEN x.thread IS NOT NULL THEN " +
                  thread_name("x.thread", "") +
                  " END AS thread, coalesce(x.events, 'unknown') AS events, x.started, x.ended, "
                  "x.agent",
              "loss x" + thread_join("x.thread"));
}

std::string other_views() {
  return view("allocations",
              time_of("e.time") +
                  " AS time, x.class, x.size, x.objects, x.bytes, x.kind, "
                  "replace(CASE WHEN instr(x.stack, ';') THEN substr(x.stack, 1, instr(x.stack, ';') - 1) ELSE x.stack "
                  "END, "
                  "'/', '.') AS site, x.stack, " +
                  thread_name("x.thread", "") + " AS thread, x.agent",
              "allocation x JOIN event e ON e.seq = x.event" + thread_join("x.thread")) +
         view("counters", time_of("x.time") + " AS time, x.name, x.value, x.time AS started, x.agent", "sample x") +
         view("heap", "x.class, x.instances, x.bytes, x.agent", "heap_class x") +
         view("notes", "x.note, x.agent", "note x");
}

}  // namespace

std::string sqlite_tables() { return std::string(kEventTables) + kAnswerTables; }
std::string sqlite_views() {
  return kIndexes + views_of_calls() + view_of_exceptions() + views_of_time() + other_views();
}

}  // namespace jtrace::trace::io
