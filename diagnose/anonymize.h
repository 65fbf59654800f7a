// Anonymizer: replaces the names by which a machine and its user can be recognised. Values; threads: any.
//
// The host name, the user's name, the home folder and the working folder become HOST, USER, /HOME and /WORK, and each
// IPv4 address, except those of the loopback and 0.0.0.0, becomes ip-1, ip-2, ... Words are replaced as wholes, and not
// after a full stop (java.vm.name on a host vm). The host is none beside a slash (jdk/internal/vm/Continuation), but
// for URLs and addresses, and none before a full stop, but for domains (vm.example.com). The user root keeps its name,
// and so do folders that many machines have ("/", "/root", "/tmp"). All else stays as it is: names of classes, threads
// and files elsewhere, and other hosts that are called by name.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target/process.h"

namespace jtrace::diagnose {

class Anonymizer {
 public:
  struct Names {
    std::string host, user, home, work;  // "" unknown
  };
  explicit Anonymizer(const Names& names);
  // The same address gets the same number in all texts of this object.
  std::string applied_to(std::string_view text);

 private:
  std::vector<std::pair<std::string, std::string>> words_;
  std::map<std::string, std::size_t, std::less<>> addresses_;
};

// What can be learned of the process; what cannot be read is "".
Anonymizer::Names names_of(const target::Process& process);

}  // namespace jtrace::diagnose
