#include "trace/io/sqlite_writer.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include "base/file.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/scopes.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

// Times are ns since the epoch; agent is agent.id; ids are the trace's, by agent. What has no column of its own is in
// the table attribute, so nothing is left out.
constexpr const char* kSchema = R"(
PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=8192;
CREATE TABLE node(uuid TEXT PRIMARY KEY, hostname TEXT, ipaddress TEXT, boot INTEGER);
CREATE TABLE process(uuid TEXT PRIMARY KEY, node TEXT, pid INTEGER, name TEXT, executable TEXT, started INTEGER);
CREATE TABLE agent(id INTEGER PRIMARY KEY, uuid TEXT, process TEXT, name TEXT, version TEXT, snapshot INTEGER, dropped INTEGER);
CREATE TABLE thread(agent INTEGER, id INTEGER, name TEXT, grp TEXT, started INTEGER, ended INTEGER);
CREATE TABLE class(agent INTEGER, id INTEGER, name TEXT, source TEXT);
CREATE TABLE method(agent INTEGER, id INTEGER, class INTEGER, name TEXT, signature TEXT, line INTEGER);
CREATE TABLE event(seq INTEGER PRIMARY KEY, agent INTEGER, element TEXT, time INTEGER, thread INTEGER, class INTEGER,
                   method INTEGER, object INTEGER, ticket INTEGER, size INTEGER, depth INTEGER, cpu INTEGER, sequence INTEGER,
                   line INTEGER, collation INTEGER);
CREATE TABLE allocation(event INTEGER, agent INTEGER, thread INTEGER, class TEXT, size INTEGER, objects REAL, bytes REAL,
                        kind TEXT, stack TEXT);
CREATE TABLE value(event INTEGER, position INTEGER, name TEXT, type TEXT, value TEXT, object INTEGER, format TEXT, text TEXT);
CREATE TABLE attribute(event INTEGER, name TEXT, value);
CREATE TABLE gc(agent INTEGER, started INTEGER, ended INTEGER, used INTEGER, total INTEGER);
CREATE TABLE wait(agent INTEGER, thread INTEGER, kind TEXT, object INTEGER, owner INTEGER, started INTEGER, ended INTEGER);
CREATE TABLE counter(agent INTEGER, method INTEGER, count INTEGER);
CREATE TABLE option(agent INTEGER, key TEXT, value TEXT);
BEGIN;
)";
constexpr const char* kEnd = R"(
COMMIT;
CREATE INDEX event_time ON event(time);
CREATE INDEX event_element ON event(element);
CREATE INDEX value_event ON value(event);
CREATE INDEX attribute_event ON attribute(event);
)";

// A statement with its parameters; absent ones are NULL, numbers above 2^63-1 are text. Texts are borrowed until run().
class Insert {
 public:
  Insert(sqlite3* db, const char* sql) { sqlite3_prepare_v2(db, sql, -1, &statement_, nullptr); }
  ~Insert() { sqlite3_finalize(statement_); }
  Insert(const Insert&) = delete;
  Insert& operator=(const Insert&) = delete;

  // Selects the next parameter, counted from 1.
  Insert& at(int parameter) {
    at_ = parameter - 1;
    return *this;
  }
  Insert& null() {
    sqlite3_bind_null(statement_, ++at_);
    return *this;
  }
  Insert& number(std::uint64_t value) {
    if (value <= INT64_MAX) {
      sqlite3_bind_int64(statement_, ++at_, static_cast<sqlite3_int64>(value));
      return *this;
    }
    const std::string digits = std::to_string(value);
    sqlite3_bind_text(statement_, ++at_, digits.data(), static_cast<int>(digits.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Insert& real(double value) {
    sqlite3_bind_double(statement_, ++at_, value);
    return *this;
  }
  Insert& text(std::string_view text) {
    sqlite3_bind_text(statement_, ++at_, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    return *this;
  }
  template <class Value>
  Insert& value(const Value& value) {
    return is_present(value) ? number(value.value()) : null();
  }
  Insert& value(Time time) { return time.present() ? number(time.ns()) : null(); }
  Insert& value(Text value) { return value.present() ? text(value.view()) : null(); }
  Insert& value(Boolean truth) { return is_present(truth) ? number(*truth ? 1 : 0) : null(); }
  Insert& value(ObjectId id) {
    if (!id.present()) return null();
    if (id.is_number()) return number(id.value());
    if (id != ObjectId::sleep()) return text("-Unavailable-");
    sqlite3_bind_int64(statement_, ++at_, -1);
    return *this;
  }
  Insert& clear() {
    sqlite3_clear_bindings(statement_);
    return at(1);
  }
  bool run() {
    at_ = 0;
    const bool done = sqlite3_step(statement_) == SQLITE_DONE;
    sqlite3_reset(statement_);
    return done;
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
  int at_ = 0;
};

// The parameter of the event statement for an attribute; kElsewhere if another table has it.
constexpr int kElsewhere = -1, kNowhere = 0;
constexpr int column_of(std::string_view element, std::string_view attribute) {
  struct Column {
    std::string_view attribute;
    int at;
  };
  constexpr Column kColumns[] = {
      {"time", 4},
      {"threadIdRef", 5},
      {"threadId", 5},
      {"classIdRef", 6},
      {"classId", 6},
      {"methodIdRef", 7},
      {"methodId", 7},
      {"objIdRef", 8},
      {"objId", 8},
      {"ticket", 9},
      {"size", 10},
      {"stackDepth", 11},
      {"threadCpuTime", 12},
      {"sequenceCounter", 13},
      {"line_number", 14},
      {"collationValue", 15},
      {"traceIdRef", kElsewhere},  // agent
  };
  struct Own {
    std::string_view element, attribute;
  };
  constexpr Own kOwn[] = {
      {"node", "nodeId"},
      {"node", "hostname"},
      {"node", "ipaddress"},
      {"processCreate", "pid"},
      {"processCreate", "processId"},
      {"processCreate", "nodeIdRef"},
      {"processCreate", "name"},
      {"processCreate", "application_executable"},
      {"agentCreate", "agentId"},
      {"agentCreate", "processIdRef"},
      {"agentCreate", "agentName"},
      {"agentCreate", "version"},
      {"threadStart", "threadName"},
      {"threadStart", "groupName"},
      {"classDef", "name"},
      {"classDef", "sourceName"},
      {"methodDef", "name"},
      {"methodDef", "signature"},
      {"methodDef", "startLineNumber"},
      {"gcFinish", "usedObjectSpace"},
      {"gcFinish", "totalObjectSpace"},
      {"methodCount", "count"},
      {"option", "key"},
      {"option", "value"},
      {"objAlloc", "isArray"},
      {"objAlloc", "contextData"},
      {"monContendedEnter", "threadOwner"},
      {"monWait", "threadOwner"},
      {"value", "name"},
      {"value", "type"},
      {"value", "value"},
      {"value", "serializationFormat"},
  };
  for (const Own& each : kOwn)
    if (each.element == element && each.attribute == attribute) return kElsewhere;
  for (const Column& each : kColumns)
    if (each.attribute == attribute) return each.at;
  return kNowhere;
}

class SqliteWriter final : public Converter {
 public:
  SqliteWriter(std::string path, std::string temporary) : path_(std::move(path)), temporary_(std::move(temporary)) {}
  ~SqliteWriter() override {
    close();
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Result<> open() {
    if (sqlite3_open(temporary_.c_str(), &db_) != SQLITE_OK || !execute(kSchema)) return fail(error());
    statements_.emplace(db_);
    return {};
  }
  Result<> write(const Event& event) override {
    Scope& scope = scopes_.note(event);
    scope_ = &scope;
    ++seq_;
    const bool done =
        std::visit([&](const auto& element) { return put(element, scope) && row(element, scope); }, event);
    if (!done) return fail(error());
    if (element_kind(event) == ElementKind::kMethodBody) lose_attributes<kLost>(event);  // its children
    return {};
  }
  Result<> finish() override {
    // Calls whose end was not seen.
    for (const auto& [key, wait] : waits_)
      if (!write_wait(key.first, ThreadId(key.second), wait, {})) return fail(error());
    for (const auto& scope : scopes_.all()) {
      const Scope& each = *scope;
      statements_->agent.number(each.index + 1).text(each.agent_id).text(each.process_id).text(each.agent_name);
      if (!statements_->agent.text(each.agent_version).number(each.snapshot).number(each.dropped).run())
        return fail(error());
    }
    statements_.reset();
    if (!execute(kEnd)) return fail(error());
    close();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0)
      return fail(system_error("cannot give the finished file its name", path_));
    temporary_.clear();
    return {};
  }

 private:
  static constexpr Carried kLost[] = {{"methodBody", "name"}};
  struct Statements {
    explicit Statements(sqlite3* db) : db_(db) {}
    sqlite3* db_;
    Insert node{db_, "INSERT OR IGNORE INTO node VALUES(?,?,?,?)"};
    Insert process{db_, "INSERT OR IGNORE INTO process VALUES(?,?,?,?,?,?)"};
    Insert agent{db_, "INSERT INTO agent VALUES(?,?,?,?,?,?,?)"};
    Insert thread{db_, "INSERT INTO thread VALUES(?,?,?,?,?,NULL)"};
    Insert thread_end{db_, "UPDATE thread SET ended=? WHERE agent=? AND id=? AND ended IS NULL"};
    Insert class_def{db_, "INSERT INTO class VALUES(?,?,?,?)"};
    Insert method{db_, "INSERT INTO method VALUES(?,?,?,?,?,?)"};
    Insert event{db_, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"};
    Insert allocation{db_, "INSERT INTO allocation VALUES(?,?,?,?,?,?,?,?,?)"};
    Insert argument{db_, "INSERT INTO value VALUES(?,?,?,?,?,?,?,?)"};
    Insert attribute{db_, "INSERT INTO attribute VALUES(?,?,?)"};
    Insert gc{db_, "INSERT INTO gc VALUES(?,?,?,?,?)"};
    Insert wait{db_, "INSERT INTO wait VALUES(?,?,?,?,?,?,?)"};
    Insert counter{db_, "INSERT INTO counter VALUES(?,?,?)"};
    Insert option{db_, "INSERT INTO option VALUES(?,?,?)"};
  };
  struct Wait {
    const char* kind;
    ObjectId object;
    ThreadId owner;
    Time started;
  };

  bool execute(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
  Error error() const {
    Error made{ErrorCategory::kRefused, std::string("cannot write the database: ") + sqlite3_errmsg(db_)};
    made.path = path_;
    return made;
  }
  void close() {
    statements_.reset();
    if (db_ != nullptr) sqlite3_close(db_);
    db_ = nullptr;
  }

  // Calls f(column, attribute, its member) for each attribute of Element; the column is a type.
  template <class Element, class F>
  static void for_each_column(F&& f) {
    using Of = Schema<Element>;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(std::integral_constant<int, column_of(Of::name, Of::infos[I].name)>(), Of::infos[I], kMember<Element, I>),
       ...);
    }
    (std::make_index_sequence<Of::infos.size()>());
  }
  template <class Element>
  bool row(const Element& element, const Scope& scope) {
    Insert& event = statements_->event.clear().number(seq_).number(scope.index + 1).text(Schema<Element>::name);
    for_each_column<Element>([&](auto column, const AttributeInfo&, auto pointer) {
      if constexpr (decltype(column)::value > 0) {
        const auto& member = element.*pointer;
        if (is_present(member)) event.at(decltype(column)::value).value(member);
      }
    });
    return event.run() && put_attributes(element, {}) && put_children(element);
  }
  // Attributes without a column.
  template <class Element>
  bool put_attributes(const Element& element, std::string_view of) {
    bool done = true;
    for_each_column<Element>([&](auto column, const AttributeInfo& attribute, auto pointer) {
      if constexpr (decltype(column)::value == kNowhere || std::is_same_v<Element, InvocationContext>) {
        const auto& member = element.*pointer;
        if (!is_present(member) || !done || is_known(element, attribute.name)) return;
        const std::string name = std::string(of) + std::string(attribute.name);
        done = statements_->attribute.number(seq_).text(name).value(member).run();
      }
    });
    return done;
  }
  // A line's file is usually that of its class.
  template <class Element>
  bool is_known(const Element& element, std::string_view attribute) const {
    if constexpr (std::is_same_v<Element, Line>) {
      if (attribute != "file_name" || !element.methodIdRef.present()) return false;
      const Scope& scope = *scope_;
      const auto method = scope.methods.find(element.methodIdRef.value());
      if (method == scope.methods.end()) return false;
      const auto found = scope.classes.find(method->second.class_id);
      return found != scope.classes.end() && found->second.source == element.file_name.view();
    }
    return false;
  }
  template <class Element>
  bool put_children(const Element& element) {
    bool done = true;
    if constexpr (requires { element.values; }) {
      std::uint64_t position = 0;
      for (const Value& each : element.values) done = done && put_value(each, position++);
    }
    if constexpr (requires { element.invocationContext; }) {
      if (element.invocationContext != nullptr)
        done = done && put_attributes(*element.invocationContext, "InvocationContext.");
    }
    return done;
  }
  bool put_value(const Value& each, std::uint64_t position) {
    Insert& row = statements_->argument.number(seq_).number(position).value(each.name).value(each.type);
    return row.value(each.value).value(each.objIdRef).value(each.serializationFormat).value(each.text).run();
  }

  template <class Element>
  bool put(const Element&, const Scope&) {
    return true;
  }
  bool put(const Value& value, const Scope&) { return put_value(value, 0); }
  bool put(const ObjAlloc& alloc, const Scope& scope) {
    const AllocationWeight weight = allocation_weight(scope, alloc);
    const AllocationKind kind = allocation_kind(scope);
    const std::string type = allocated_type(scope, alloc.isArray, alloc.classIdRef);
    Insert& row = statements_->allocation.number(seq_).number(scope.index + 1).value(alloc.threadIdRef).text(type);
    row.value(alloc.size).real(weight.objects).real(weight.bytes);
    return row
        .text(kind == AllocationKind::kSampled   ? "estimated"
              : kind == AllocationKind::kUnknown ? "unknown"
                                                 : "exact")
        .value(alloc.contextData)
        .run();
  }
  bool put(const Node& node, const Scope&) {
    return statements_->node.text(node.nodeId.view())
        .text(node.hostname.view())
        .text(node.ipaddress.view())
        .value(node.time)
        .run();
  }
  bool put(const ProcessCreate& process, const Scope&) {
    return statements_->process.text(process.processId.view())
        .text(process.nodeIdRef.view())
        .value(process.pid)
        .text(process.name.view())
        .text(process.application_executable.view())
        .value(process.time)
        .run();
  }
  bool put(const ThreadStart& start, const Scope& scope) {
    return statements_->thread.number(scope.index + 1)
        .value(start.threadId)
        .text(start.threadName.view())
        .text(start.groupName.view())
        .value(start.time)
        .run();
  }
  bool put(const ThreadEnd& end, const Scope& scope) {
    return statements_->thread_end.value(end.time).number(scope.index + 1).value(end.threadIdRef).run();
  }
  bool put(const ClassDef& definition, const Scope& scope) {
    return statements_->class_def.number(scope.index + 1)
        .value(definition.classId)
        .text(java_class_name(definition.name.view()))
        .text(definition.sourceName.view())
        .run();
  }
  bool put(const MethodDef& definition, const Scope& scope) {
    return statements_->method.number(scope.index + 1)
        .value(definition.methodId)
        .value(definition.classIdRef)
        .text(definition.name.view())
        .text(definition.signature.view())
        .value(definition.startLineNumber)
        .run();
  }
  bool put(const GcStart& start, const Scope&) {
    gc_started_ = start.time;
    return true;
  }
  bool put(const GcFinish& finish, const Scope& scope) {
    const Time started = gc_started_.present() ? gc_started_ : finish.time;
    gc_started_ = {};
    return statements_->gc.number(scope.index + 1)
        .value(started)
        .value(finish.time)
        .value(finish.usedObjectSpace)
        .value(finish.totalObjectSpace)
        .run();
  }
  bool begin_wait(const Scope& scope, ThreadId thread, Wait wait) {
    if (thread.present()) waits_[{scope.index, thread.value()}] = wait;
    return true;
  }
  bool end_wait(const Scope& scope, ThreadId thread, Time time) {
    const auto found = waits_.find({scope.index, thread.present() ? thread.value() : 0});
    if (found == waits_.end()) return true;
    const Wait wait = found->second;
    waits_.erase(found);
    return write_wait(scope.index, thread, wait, time);
  }
  bool write_wait(std::size_t scope, ThreadId thread, const Wait& wait, Time time) {
    return statements_->wait.number(scope + 1)
        .value(thread)
        .text(wait.kind)
        .value(wait.object)
        .value(wait.owner)
        .value(wait.started)
        .value(time)
        .run();
  }
  bool put(const MonContendedEnter& enter, const Scope& scope) {
    return begin_wait(scope, enter.threadIdRef, {"blocked", enter.objIdRef, enter.threadOwner, enter.time});
  }
  bool put(const MonWait& wait, const Scope& scope) {
    const bool sleeps = wait.objIdRef == ObjectId::sleep();
    return begin_wait(scope, wait.threadIdRef,
                      {sleeps ? "sleeping" : "waiting", wait.objIdRef, wait.threadOwner, wait.time});
  }
  bool put(const MonContendedEntered& entered, const Scope& scope) {
    return end_wait(scope, entered.threadIdRef, entered.time);
  }
  bool put(const MonWaited& waited, const Scope& scope) { return end_wait(scope, waited.threadIdRef, waited.time); }
  bool put(const MethodCount& count, const Scope& scope) {
    return statements_->counter.number(scope.index + 1).value(count.methodIdRef).value(count.count).run();
  }
  bool put(const Option& option, const Scope& scope) {
    return statements_->option.number(scope.index + 1).text(option.key.view()).text(option.value.view()).run();
  }

  std::string path_, temporary_;
  sqlite3* db_ = nullptr;
  std::optional<Statements> statements_;
  Scopes scopes_;
  const Scope* scope_ = nullptr;  // of the event being written
  std::uint64_t seq_ = 0;
  Time gc_started_;
  std::map<std::pair<std::size_t, std::uint64_t>, Wait> waits_;
};

}  // namespace

Result<std::unique_ptr<Converter>> make_sqlite_writer(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  std::string temporary = path.substr(0, name) + "." + path.substr(name) + ".XXXXXX";
  const UniqueFd made(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!made) return fail(system_error("cannot create a file beside", path));
  auto writer = std::make_unique<SqliteWriter>(path, std::move(temporary));
  JTRACE_RETURN_IF_ERROR(writer->open());
  return std::unique_ptr<Converter>(std::move(writer));
}

}  // namespace jtrace::trace::io
