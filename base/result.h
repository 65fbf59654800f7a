// Result<T>: what every function that can fail returns. No exceptions cross our interfaces.
//
// An Error says what was attempted, on what, why it failed and what would help. It is made where the cause is known;
// callers add context. Library code returns it and prints nothing; only cli/ prints it, as one line. Threads: values,
// freely copied. Allocation: Error owns its strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace jtrace {

// The kind of failure; it determines the exit status of the command (exit_status below).
enum class ErrorCategory {
  kRefused,        // the JVM or the input refused
  kUsage,          // wrong arguments of the caller
  kNotFound,       // no such process or file
  kNotAttachable,  // not a JVM, not attachable, not a core
  kPermission,     // no permission, or not trusted
  kTimeout,
  kAgent,      // the agent could not be loaded, or failed
  kMalformed,  // bytes that violate their format
  kPartial,    // a part was obtained; the rest is counted or named
  kSystem,     // a system call failed: errnum determines the status
};

struct [[nodiscard]] Error {
  ErrorCategory category = ErrorCategory::kSystem;
  std::string text;                        // what was attempted and why it failed
  int errnum = 0;                          // errno value, 0 if no system call failed
  std::string path = {};                   // the file or object of the attempt
  std::optional<std::uint64_t> address{};  // address in the target
  std::string help = {};                   // what the user can do

  // The same error with "what: " before its text.
  Error with_context(std::string_view what) const;
  Error with_help(std::string_view what) const;
  // One line without a newline: text, path, address, the text of errno; help.
  std::string message() const;
};

// Exit statuses of every command (docs/architecture.md, "Errors and exit statuses").
enum class ExitStatus : int {
  kOk = 0,
  kRefused = 1,
  kUsage = 2,
  kNotFound = 3,
  kNotAttachable = 4,
  kPermission = 5,
  kTimeout = 6,
  kAgent = 7,
  kMalformed = 8,
  kPartial = 9,
};
ExitStatus exit_status(const Error& error);

// The Error of a system call that just failed: reads errno immediately.
Error system_error(std::string_view what, std::string_view path = {});
Error system_error(int errnum, std::string_view what, std::string_view path = {});

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(ErrorCategory category, std::string text, std::string help = {}) {
  Error error{category, std::move(text)};
  error.help = std::move(help);
  return tl::unexpected<Error>(std::move(error));
}

template <class T = void>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  // Written out, because with a defaulted constructor `return {};` first clears the memory of the Error, also on hot
  // paths.
  constexpr Result() requires(std::is_void_v<T> || std::is_default_constructible_v<T>) {}
};

#define JTRACE_CONCAT_2(a, b) a##b
#define JTRACE_CONCAT(a, b) JTRACE_CONCAT_2(a, b)
// JTRACE_ASSIGN_OR_RETURN(auto x, f()): x gets f()'s value, or its error is returned.
#define JTRACE_ASSIGN_OR_RETURN(declaration, expression) \
  JTRACE_ASSIGN_OR_RETURN_2(JTRACE_CONCAT(jtrace_result_, __LINE__), declaration, expression)
#define JTRACE_ASSIGN_OR_RETURN_2(result, declaration, expression) \
  auto result = (expression);                                      \
  if (!result) return ::jtrace::fail(std::move(result).error());   \
  declaration = std::move(*result)
#define JTRACE_RETURN_IF_ERROR(expression)                                                                          \
  do {                                                                                                              \
    if (auto jtrace_result = (expression); !jtrace_result) return ::jtrace::fail(std::move(jtrace_result).error()); \
  } while (false)

}  // namespace jtrace
