#include "trace/io/sqlite_writer.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/file.h"
#include "trace/io/allocation_weight.h"
#include "trace/io/sqlite_answers.h"
#include "trace/io/sqlite_insert.h"
#include "trace/io/sqlite_schema.h"
#include "trace/schema.h"

namespace jtrace::trace::io {
namespace {

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

// What is kept in memory of a database without a name.
constexpr const char* kTemporaryCache = "PRAGMA cache_size=-65536;";  // KiB

class SqliteWriter final : public TemporaryDatabaseWriter {
 public:
  // `temporary`: where it is written; "": it has no name.
  SqliteWriter(std::string path, std::string temporary) : path_(std::move(path)), temporary_(std::move(temporary)) {}
  ~SqliteWriter() override {
    close();
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  Result<> open() {
    constexpr int kMode = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(temporary_.c_str(), &db_, kMode, nullptr) != SQLITE_OK || !execute(sqlite_tables().c_str()))
      return fail(error());
    if (temporary_.empty() && !execute(kTemporaryCache)) return fail(error());
    statements_.emplace(db_);
    answers_.emplace(db_);
    return {};
  }
  Database take() override { return Database(std::exchange(db_, nullptr)); }
  Result<> write(const Event& event) override {
    if (!answers_->add(event, ++seq_)) return fail(error());
    const Scope& scope = answers_->scope();
    const bool done =
        std::visit([&](const auto& element) { return put(element, scope) && row(element, scope); }, event);
    if (!done) return fail(error());
    if (element_kind(event) == ElementKind::kMethodBody) lose_attributes<kLost>(event);  // its children
    return {};
  }
  void add_missing(const std::string& line) override { missing_.push_back(line); }
  Result<> finish() override {
    if (!answers_->complete()) return fail(error());
    for (const std::string& line : missing_)
      if (!answers_->add_note("missing: " + line)) return fail(error());
    for (const auto& scope : answers_->scopes().all()) {
      const Scope& each = *scope;
      statements_->agent.number(each.index + 1).text(each.agent_id).text(each.process_id).text(each.agent_name);
      if (!statements_->agent.text(each.agent_version).number(each.snapshot).number(each.losses.events).run())
        return fail(error());
    }
    reset();
    if (!execute(kUnplacedLosses)) return fail(error());
    if (!execute(sqlite_views().c_str())) return fail(error());
    if (temporary_.empty()) return {};
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
    // What is defined again, in the next part of a trace or after a pause, is the same.
    Insert thread{
        db_,
        "INSERT INTO thread VALUES(?,?,?,?,?,NULL) ON CONFLICT DO UPDATE SET name = excluded.name, grp = excluded.grp"};
    Insert thread_end{db_, "UPDATE thread SET ended=? WHERE agent=? AND id=? AND ended IS NULL"};
    Insert class_def{db_, "INSERT OR REPLACE INTO class VALUES(?,?,?,?)"};
    Insert method{db_, "INSERT OR REPLACE INTO method VALUES(?,?,?,?,?,?)"};
    Insert event{db_, "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"};
    Insert allocation{db_, "INSERT INTO allocation VALUES(?,?,?,?,?,?,?,?,?)"};
    Insert argument{db_, "INSERT INTO value VALUES(?,?,?,?,?,?,?,?)"};
    Insert attribute{db_, "INSERT INTO attribute VALUES(?,?,?)"};
    Insert counter{db_, "INSERT INTO counter VALUES(?,?,?)"};
    Insert option{db_, "INSERT INTO option VALUES(?,?,?)"};
  };
  bool execute(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK; }
  Error error() const {
    Error made{ErrorCategory::kRefused, std::string("cannot write the database: ") + sqlite3_errmsg(db_)};
    made.path = path_;
    return made;
  }
  void reset() {
    answers_.reset();
    statements_.reset();
  }
  void close() {
    reset();
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
      const Scope& scope = answers_->scope();
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
    const std::string type = allocated_type(scope, alloc.isArray, alloc.classIdRef);
    Insert& row = statements_->allocation.number(seq_).number(scope.index + 1).value(alloc.threadIdRef).text(type);
    row.value(alloc.size).real(weight.objects).real(weight.bytes);
    return row.text(word_of(allocation_kind(scope))).value(alloc.contextData).run();
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
  bool put(const MethodCount& count, const Scope& scope) {
    return statements_->counter.number(scope.index + 1).value(count.methodIdRef).value(count.count).run();
  }
  bool put(const Option& option, const Scope& scope) {
    return statements_->option.number(scope.index + 1).text(option.key.view()).text(option.value.view()).run();
  }

  std::string path_, temporary_;
  std::vector<std::string> missing_;
  sqlite3* db_ = nullptr;
  std::optional<Statements> statements_;
  std::optional<SqliteAnswers> answers_;
  std::uint64_t seq_ = 0;
};

// The finished database takes the place of what has the name: that must be a file. A link stays, and its file is made.
Result<std::string> replaceable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCategory::kUsage, path + " is not a file: a database needs one", "-o NAME.sqlite");
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

}  // namespace

Result<std::unique_ptr<Converter>> make_sqlite_writer(const std::string& output) {
  JTRACE_ASSIGN_OR_RETURN(const std::string path, replaceable(output));
  const auto [folder, name] = split_path(path);
  std::string temporary = folder + "." + name + ".XXXXXX";
  const UniqueFd made(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!made) return fail(system_error("cannot create a file beside", path));
  auto writer = std::make_unique<SqliteWriter>(path, std::move(temporary));
  JTRACE_RETURN_IF_ERROR(writer->open());
  return std::unique_ptr<Converter>(std::move(writer));
}

Result<std::unique_ptr<TemporaryDatabaseWriter>> make_temporary_database() {
  auto writer = std::make_unique<SqliteWriter>("", "");
  JTRACE_RETURN_IF_ERROR(writer->open());
  return std::unique_ptr<TemporaryDatabaseWriter>(std::move(writer));
}

}  // namespace jtrace::trace::io
