// WaitParties: who had what a thread waited for, and who ended the wait, as they are shown. WaitPartyCounts: summed up.
// Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jtrace::sampling {

// Each "" if there is nothing to know: what is waited for has no owner; nobody ends the wait of a thread that could
// run; or wakers are not recorded.
struct WaitParties {
  std::string owner, waker;
  bool none() const { return owner.empty() && waker.empty(); }
  auto operator<=>(const WaitParties&) const = default;
};

// It may have had an owner, but was not looked at in time; a record was lost.
inline constexpr const char* kNotSeen = "[not seen]";
inline constexpr const char* kStillWaits = "[still waits]";
inline constexpr const char* kInterrupt = "[interrupt]";

// The earlier part of a wait that was taken in parts.
struct EarlierPart {
  std::uint64_t ns = 0;  // 0: there is none
  std::string owner;     // as of its last part
};

class WaitPartyCounts {
 public:
  struct Amount {
    std::uint64_t times = 0, ns = 0;  // of an owner: waits in which it was seen
  };
  using ByName = std::map<std::string, Amount>;

  // `earlier`: counted already, but without who ended the wait.
  void add(const WaitParties& parties, std::uint64_t ns, const EarlierPart& earlier = {});
  void add(const WaitPartyCounts& other);

  const ByName& owners() const { return owners_; }
  const ByName& wakers() const { return wakers_; }

 private:
  ByName owners_, wakers_;
};

// The greatest first.
std::vector<std::pair<std::string, WaitPartyCounts::Amount>> by_time(const WaitPartyCounts::ByName& names);
// "holder 92 %, [not seen] 8 %", shares of `all` ns; the first ones, and the number of the others. "" of none.
std::string party_text(const WaitPartyCounts::ByName& names, std::uint64_t all);

}  // namespace jtrace::sampling
