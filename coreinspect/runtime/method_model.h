// MethodModel: Java methods with their names, lines and bytecodes.
//
// Method, ConstMethod (method.hpp, constMethod.hpp). Ownership: borrows the classes; keeps what it has read. Threads:
// one at a time. Errors: those of the memory; kMalformed if the address is not a method.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "coreinspect/oops/class_model.h"

namespace jtrace::coreinspect {

struct JavaMethod {
  Address address = 0;
  Address holder = 0;       // Klass
  std::string class_name;   // as Java prints it
  std::string name;         // "<init>"
  std::string signature;    // "(I)V"
  std::string source_file;  // "" if unknown
  std::uint32_t access = 0;
  Address code = 0;             // of the first bytecode
  std::uint32_t code_size = 0;  // bytes
  std::uint32_t max_locals = 0, max_stack = 0;
  std::map<int, int> lines;  // bci -> line, if the class file has them
  bool is_native() const { return (access & 0x0100) != 0; }
  bool is_static() const { return (access & 0x0008) != 0; }
  int line_of(int bci) const;  // -1 if unknown
};

// bci and line of a compressed line table (compressedLineNumberStream of method.hpp), in its order.
std::vector<std::pair<int, int>> decode_lines(std::span<const std::byte> bytes, bool excludes_zero);

class MethodModel {
 public:
  explicit MethodModel(const ClassModel& classes) : classes_(classes), vm_(classes.vm()) {}

  const ClassModel& classes() const { return classes_; }
  // Lives as long as the model.
  Result<const JavaMethod*> method(Address address) const;
  // The SourceFile attribute of a class with that constant pool; "" if it has none.
  Result<std::string> source_file_of(Address holder, Address pool) const;

 private:
  Result<JavaMethod> read_method(Address address) const;
  void read_lines(Address const_method, JavaMethod& method) const;

  const ClassModel& classes_;
  const Vm& vm_;
  mutable std::map<Address, JavaMethod> methods_;
};

}  // namespace jtrace::coreinspect
