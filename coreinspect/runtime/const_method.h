// What a ConstMethod has after its bytecodes: the tables and attributes of the class file's method.
//
// Source: constMethod.hpp of 8 to 27. Backwards from the end of the ConstMethod, each part only if its flag is set:
// pointers to annotations (method, parameter, type, default), u2 of the generic signature, and tables, each followed by
// its u2 length: method parameters, checked exceptions, exception handlers, local variables. Errors: those of the
// memory; kMalformed if a table would reach into the code.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "coreinspect/runtime/method_model.h"

namespace jtrace::coreinspect {

struct ConstMethodTables {
  bool is_overpass = false;             // made by the VM; not in the class file
  std::uint16_t generic_signature = 0;  // constant pool index; 0 for none
  bool has_parameters = false;
  std::vector<std::array<std::uint16_t, 2>> parameters;          // name, flags
  std::vector<std::array<std::uint16_t, 1>> checked_exceptions;  // class
  std::vector<std::array<std::uint16_t, 4>> handlers;            // start, end, handler, class
  std::vector<std::array<std::uint16_t, 6>> locals;              // start, length, name, type, generic type, slot
  std::vector<std::pair<int, int>> lines;                        // bci and line, in the VM's order
  std::string stack_map;                                         // bodies of attributes; "" for none
  std::string annotations, parameter_annotations, type_annotations, default_value;
};
Result<ConstMethodTables> read_const_method(const ClassModel& classes, const JavaMethod& method);

}  // namespace jtrace::coreinspect
