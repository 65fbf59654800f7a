#include "session/left_pools.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "base/quoted_text.h"
#include "base/size_text.h"
#include "base/unique_fd.h"
#include "session/document/session_text.h"
#include "session/pool_file.h"
#include "trace/record/layout.h"

namespace jtrace::session {
namespace {

using State = LeftPool::State;
using trace::record::PoolHeader;
using Beginning = std::array<char, trace::record::kPoolHeaderSize>;

// The file may lack all of it (it was made and had no size yet): what is missing counts as zeros.
State judge(const Beginning& bytes, LeftPool& pool) {
  if (std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; })) return State::kBlank;
  if (std::memcmp(bytes.data(), trace::record::kPoolMagic, sizeof trace::record::kPoolMagic) != 0) return State::kNone;
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + offsetof(PoolHeader, layout_version), sizeof version);
  if (version != trace::record::kLayoutVersion) return State::kOtherVersion;
  const char* text = bytes.data() + offsetof(PoolHeader, session);
  if (*text == 0) return State::kBlank;
  const auto session = read_session({text, ::strnlen(text, sizeof(PoolHeader::session))});
  if (!session) return State::kNone;
  pool.process_name = session->identity.process_name;
  pool.output = session->output;
  return State::kHolds;
}

bool is_gone(const LeftPool& pool) {
  const auto process = target::Process::open(pool.pid);
  if (!process) return process.error().category == ErrorCategory::kNotFound;
  return process->start_ticks() != pool.start_ticks;
}

// A user who may not change the file gets the line again.
void mark_told(const LeftPool& pool) {
  const UniqueFd fd(::open(pool.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return;
  [[maybe_unused]] const int ignored = ::fchmod(fd.get(), (info.st_mode & 07777) | S_ISVTX);
}

std::string remedy(const LeftPool& pool) {
  if (pool.state == State::kBlank)
    return "nothing was recorded in it; `jtrace recover " + shell_word(pool.path) + " --remove` removes it";
  if (pool.state == State::kOtherVersion) return "the jtrace that made it, of another version, reads it";
  return "`jtrace recover " + shell_word(pool.path) + " -o OUT --remove` writes its trace and removes it";
}

}  // namespace

LeftPool look_at_pool(const std::string& path) {
  LeftPool pool{.path = path};
  const auto name = parse_pool_name(path);
  if (name) pool.pid = name->pid;
  if (name) pool.start_ticks = name->start_ticks;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return pool;
  pool.size = static_cast<std::uint64_t>(info.st_size);
  pool.is_told = (info.st_mode & S_ISVTX) != 0;
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) != 0) {
    pool.state = State::kInUse;
    return pool;
  }
  Beginning bytes{};
  if (::pread(fd.get(), bytes.data(), bytes.size(), 0) < 0) return pool;
  pool.state = judge(bytes, pool);
  if (pool.state == State::kBlank && !name) pool.state = State::kNone;
  return pool;
}

std::vector<LeftPool> list_left_pools() {
  std::vector<LeftPool> pools;
  for (const std::string& path : pool_files())
    if (LeftPool pool = look_at_pool(path); pool.state != State::kNone) pools.push_back(std::move(pool));
  return pools;
}

std::string note_of_left_pools(const target::Process& jvm) {
  std::vector<LeftPool> pools = list_left_pools();
  const auto is_of_jvm = [&](const LeftPool& pool) {
    return pool.pid == jvm.pid() && pool.start_ticks == jvm.start_ticks();
  };
  std::erase_if(pools, [&](const LeftPool& pool) {
    return pool.state == State::kInUse || pool.size == 0 || pool.is_told || (!is_of_jvm(pool) && !is_gone(pool));
  });
  if (pools.empty()) return "";
  std::stable_partition(pools.begin(), pools.end(), is_of_jvm);
  std::for_each(pools.begin(), pools.end(), mark_told);
  const LeftPool& first = pools.front();
  std::string text = "an earlier jtrace left " + size_text(first.size) + " of ring memory of " +
                     (is_of_jvm(first) ? "this JVM" : "JVM " + std::to_string(first.pid) + ", which has ended") + ": " +
                     first.path + "; " + remedy(first);
  if (pools.size() > 1) text += "; and " + std::to_string(pools.size() - 1) + " more: `jtrace recover` lists them";
  return text;
}

Result<> remove_blank_pool(const std::string& path) {
  switch (look_at_pool(path).state) {
    case State::kBlank: break;
    case State::kNone: return fail(ErrorCategory::kMalformed, path + " is not ring memory of jtrace");
    case State::kInUse: return fail(ErrorCategory::kRefused, "pool " + path + " is in use by a jtrace that runs");
    case State::kHolds:
    case State::kOtherVersion: return fail(ErrorCategory::kRefused, path + " may hold events");
  }
  if (::unlink(path.c_str()) != 0) return fail(system_error("removing", path));
  return {};
}

}  // namespace jtrace::session
