// Which thread initializes which class at this moment. Other threads that need the class wait in Object.wait on a lock
// of the VM.
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
// Walks over all loaded classes. What cannot be read is left out.
std::vector<ClassInitialiser> class_initialisers(const Inspection& inspection);
// True if the object can be such a lock.
bool may_be_init_lock(const Inspection& inspection, Address object);
// True if it is the lock of that class. Not every JDK exports the names of the fields that the VM adds, but only this
// one refers to an int[0].
bool is_init_lock_of(const Inspection& inspection, const ClassInitialiser& initialiser, Address object);

}  // namespace jtrace::coreinspect
