// The line of /proc/PID/stat, or of a thread's (proc_pid_stat(5)). Pure; any thread. The text must outlive the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jtrace::target {

class StatLine {
 public:
  explicit StatLine(std::string_view text);

  // Field 3: R S D T t Z X ...; '?' if the text is no such line.
  char state() const;
  // A field by its place in proc_pid_stat(5), from 3 on; "" if the line does not have it.
  std::string_view field(std::size_t place) const;
  // Its value; 0 if the line does not have it, or it is no number.
  std::uint64_t number(std::size_t place) const;

  static constexpr std::size_t kMajorFaults = 12, kUserTicks = 14, kSystemTicks = 15, kStartTicks = 22, kProcessor = 39,
                               kWaitStatus = 52;

 private:
  std::string_view rest_;  // from field 3 on
};

}  // namespace jtrace::target
