#include "trace/io/sqlite_csv.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "trace/io/csv_field.h"
#include "trace/io/sqlite_handle.h"
#include "trace/io/sqlite_schema.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kBuffered = 1u << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Error refusal(sqlite3* db, const std::string& path) {
  Error made{ErrorCategory::kRefused, std::string("cannot read the database: ") + sqlite3_errmsg(db)};
  made.path = path;
  return made;
}

Result<> write_view(sqlite3* db, const std::string& view, const std::string& path) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(db, ("SELECT * FROM " + view).c_str(), -1, &made, nullptr) != SQLITE_OK)
    return fail(refusal(db, path));
  const Statement statement(made);
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wxe"));
  if (!file) return fail(system_error("cannot create", path));
  const int columns = sqlite3_column_count(made);
  std::string out;
  const auto flush = [&] {
    const bool written = std::fwrite(out.data(), 1, out.size(), file.get()) == out.size();
    out.clear();
    return written;
  };
  for (int i = 0; i < columns; ++i) append_field(out, i == 0, sqlite3_column_name(made, i));
  out += '\n';
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(made)) == SQLITE_ROW) {
    for (int i = 0; i < columns; ++i) append_field(out, i == 0, column_text(made, i));
    out += '\n';
    if (out.size() > kBuffered && !flush()) return fail(system_error("cannot write", path));
  }
  if (step != SQLITE_DONE) return fail(refusal(db, path));
  if (!flush() || std::fflush(file.get()) != 0) return fail(system_error("cannot write", path));
  return {};
}

void remove_folder(const std::string& folder) {
  for (const std::string_view view : kSqliteViews) ::unlink((folder + "/" + std::string(view) + ".csv").c_str());
  ::rmdir(folder.c_str());
}

Result<> write_views(const std::string& database, const std::string& folder) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(database.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const Database db(opened);
  if (status != SQLITE_OK) return fail(refusal(opened, database));
  for (const std::string_view view : kSqliteViews)
    JTRACE_RETURN_IF_ERROR(write_view(opened, std::string(view), folder + "/" + std::string(view) + ".csv"));
  return {};
}

}  // namespace

Result<> write_csv_folder(const std::string& database, const std::string& folder) {
  std::string path = folder;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (::access(path.c_str(), F_OK) == 0) {
    errno = EEXIST;
    return fail(system_error("cannot create the folder of the CSV files", path));
  }
  std::string temporary = path + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return fail(system_error("cannot create a folder beside", path));
  Result<> written = write_views(database, temporary);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = fail(system_error("cannot give the finished folder its name", path));
  if (!written) remove_folder(temporary);
  return written;
}

}  // namespace jtrace::trace::io
