// complete_frames: a class file whose methods have the StackMapTables (JVMS 4.7.4) that they need.
//
// Who changes bytecode and knows nothing of StackMapTable (it came with JDK 6) drops the tables or leaves them where
// their places are wrong; from class file version 51 on the JVM then refuses the class. A method whose table has a
// frame at every place that needs one, and none inside an instruction, is left as it is: code that was moved without
// its table cannot pass that. For the others the types are computed from the code.
//
// Code that nothing reaches has no types: it becomes nop ... athrow, and handlers let it out.
#pragma once

#include <cstdint>

#include "agent/classfile/class_file.h"
#include "agent/classfile/class_hierarchy.h"

namespace jtrace::agent::classfile {

// JVMS 4.10: the first version that is checked by its frames and by nothing else.
inline constexpr std::uint16_t kFirstThatNeedsFrames = 51;

struct FrameReport {
  std::uint32_t completed = 0;  // methods with a new table
  std::uint32_t left = 0;       // methods that need one and were left alone: their code cannot be followed
  std::uint32_t guesses = 0;    // types that were taken for java/lang/Object, as a class of theirs could not be found
};

// True: `out` is the class with new tables. False: none was needed, or none could be made; `out` is not touched.
bool complete_frames(const ClassFile& klass, ClassHierarchy& hierarchy, FrameReport& report, Bytes& out);

}  // namespace jtrace::agent::classfile
