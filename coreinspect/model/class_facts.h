// Facts about a class besides its name: loader, interfaces, access, source file. Each is looked up once. Borrows the
// inspection. Threads: one at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

struct Loader {
  Address data = 0;    // ClassLoaderData
  Address object = 0;  // 0: the boot loader
  std::string name;    // its class as Java prints it; "boot" for the boot loader
};

class Loaders {
 public:
  explicit Loaders(const Inspection& inspection) : inspection_(inspection) {}
  const Loader& of(Address klass);

 private:
  const Inspection& inspection_;
  std::map<Address, Loader> loaders_;
};

// JVM_ACC_* of the class file; 0 if unknown.
std::uint32_t class_access(const Vm& vm, Address klass);
// Internal names, in the order of the class file.
std::vector<std::string> interface_names(const Inspection& inspection, Address klass);
// "" if the class file has none.
std::string class_source_file(const Inspection& inspection, Address klass);

}  // namespace jtrace::coreinspect
