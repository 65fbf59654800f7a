// ClassDefinition: the facts of a classDef, with the texts it refers to. Values; reading: one thread at a time.
#pragma once

#include <optional>
#include <string>

#include "coreinspect/model/class_facts.h"
#include "trace/event.h"

namespace jtrace::coreinspect {

struct ClassDefinition {
  std::string name;        // internal form; "?" where it could not be read
  std::string superclass;  // "" for java/lang/Object and interfaces
  std::string loader;      // class of the class loader, internal form; "" for the boot loader
  std::string interfaces;  // separated by commas
  std::string source;      // file name without a path
  std::string_view access;
  trace::Number interface_count, method_count, static_fields, instance_fields;
  bool is_instance = false;         // false: an array class, which has no further facts
  std::optional<Error> nameless{};  // why there is no name

  // Borrows the texts. The caller sets ids, time and thread.
  trace::ClassDef element() const;
};

ClassDefinition read_class_definition(const Inspection& inspection, Loaders& loaders, Address klass);

}  // namespace jtrace::coreinspect
