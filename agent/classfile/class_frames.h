// complete_frames: adds the StackMapTables (JVMS 4.7.4) that the methods of a class file need.
//
// Tools that change bytecode and do not know StackMapTable (it came with JDK 6) remove the tables or leave wrong
// offsets in them; from class file version 51 on the JVM then refuses the class. A method whose table has a frame at
// every place that needs one, and none inside an instruction, is left unchanged: code that was moved without its table
// cannot meet that condition. For the other methods the types are computed from the code.
//
// Unreachable code has no types: it becomes nop ... athrow, and is removed from the ranges of handlers.
#pragma once

#include <cstdint>

#include "agent/classfile/class_file.h"
#include "agent/classfile/class_hierarchy.h"

namespace jtrace::agent::classfile {

// JVMS 4.10: the first version that is verified only by its frames.
inline constexpr std::uint16_t kFirstThatNeedsFrames = 51;

struct FrameReport {
  std::uint32_t completed = 0;  // methods with a new table
  std::uint32_t left = 0;       // methods that need a table and have none, because their code cannot be followed
  // Types that were replaced by java/lang/Object, because one of their classes could not be found.
  std::uint32_t guesses = 0;
};

// True: `out` is the class with new tables. False: none was needed, or none could be made; `out` is unchanged.
bool complete_frames(const ClassFile& klass, ClassHierarchy& hierarchy, FrameReport& report, Bytes& out);

}  // namespace jtrace::agent::classfile
