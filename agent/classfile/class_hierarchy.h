// ClassHierarchy: what the types of a class file's methods have to know of other classes.
#pragma once

#include <string_view>

namespace jtrace::agent::classfile {

class ClassHierarchy {
 public:
  struct Answer {
    bool is_known = false;  // false: no such class can be found, and the rest says nothing
    bool is_interface = false;
    std::string_view super;  // "" for java/lang/Object; good until the next question
  };
  // Of a class by its internal name; never of an array.
  virtual Answer super_of(std::string_view name) = 0;

 protected:
  ~ClassHierarchy() = default;
};

}  // namespace jtrace::agent::classfile
