// Who initialises which class at this moment. Other threads that need it wait, in Object.wait on a lock of the VM's
// own.
//
// InstanceKlass::_init_state and _init_thread; the lock is an int[0] in a field that the VM adds to java.lang.Class
// (instanceKlass.cpp, initialize_impl; javaClasses.hpp, CLASS_INJECTED_FIELDS): JDK 8 to 27. Values; one thread.
#pragma once

#include <vector>

#include "coreinspect/model/inspection.h"

namespace jtrace::coreinspect {

struct ClassInitialiser {
  Address klass = 0;
  Address mirror = 0;  // its java.lang.Class
  Address thread = 0;  // JavaThread that runs its static initialiser; 0 unknown
};
// A walk over all loaded classes. What cannot be read is left out.
std::vector<ClassInitialiser> class_initialisers(const Inspection& inspection);
// Whether it can be such a lock.
bool may_be_init_lock(const Inspection& inspection, Address object);
// Whether it is the lock of that class. What the fields that the VM adds are called is not told by every JDK: none but
// this one refers to an int[0].
bool is_init_lock_of(const Inspection& inspection, const ClassInitialiser& initialiser, Address object);

}  // namespace jtrace::coreinspect
