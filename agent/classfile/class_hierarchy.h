// ClassHierarchy: the facts about other classes that the types of a class file's methods need.
#pragma once

#include <string_view>

namespace jtrace::agent::classfile {

class ClassHierarchy {
 public:
  struct Answer {
    bool is_known = false;  // false: the class cannot be found, and the other fields are invalid
    bool is_interface = false;
    std::string_view super;  // "" for java/lang/Object; valid until the next call
  };
  // For a class by its internal name; not for arrays.
  virtual Answer super_of(std::string_view name) = 0;

 protected:
  ~ClassHierarchy() = default;
};

}  // namespace jtrace::agent::classfile
