#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace jtrace {

Error Error::with_context(std::string_view what) const {
  Error copy = *this;
  copy.text = std::string(what) + ": " + text;
  return copy;
}

Error Error::with_help(std::string_view what) const {
  Error copy = *this;
  copy.help = what;
  return copy;
}

std::string Error::message() const {
  std::string out = text;
  if (!path.empty()) out += ": " + path;
  if (address) {
    char hex[32];
    std::snprintf(hex, sizeof hex, " at 0x%llx", static_cast<unsigned long long>(*address));
    out += hex;
  }
  if (errnum != 0) {
    out += ": ";
    out += std::strerror(errnum);
  }
  if (!help.empty()) out += "; " + help;
  return out;
}

static ExitStatus status_of_errno(int errnum) {
  switch (errnum) {
    case EACCES:
    case EPERM:
    case EROFS: return ExitStatus::kPermission;
    case ENOENT:
    case ENOTDIR:
    case ESRCH: return ExitStatus::kNotFound;
    case ETIMEDOUT: return ExitStatus::kTimeout;
    case ENAMETOOLONG: return ExitStatus::kUsage;
    default: return ExitStatus::kRefused;
  }
}

ExitStatus exit_status(const Error& error) {
  switch (error.category) {
    case ErrorCategory::kRefused: return ExitStatus::kRefused;
    case ErrorCategory::kUsage: return ExitStatus::kUsage;
    case ErrorCategory::kNotFound: return ExitStatus::kNotFound;
    case ErrorCategory::kNotAttachable: return ExitStatus::kNotAttachable;
    case ErrorCategory::kPermission: return ExitStatus::kPermission;
    case ErrorCategory::kTimeout: return ExitStatus::kTimeout;
    case ErrorCategory::kAgent: return ExitStatus::kAgent;
    case ErrorCategory::kMalformed: return ExitStatus::kMalformed;
    case ErrorCategory::kPartial: return ExitStatus::kPartial;
    case ErrorCategory::kSystem: return status_of_errno(error.errnum);
  }
  return ExitStatus::kRefused;
}

Error system_error(std::string_view what, std::string_view path) { return system_error(errno, what, path); }

Error system_error(int errnum, std::string_view what, std::string_view path) {
  return Error{
      .category = ErrorCategory::kSystem, .text = std::string(what), .errnum = errnum, .path = std::string(path)};
}

}  // namespace jtrace
