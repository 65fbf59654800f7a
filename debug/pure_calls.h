// Calls that a debugger asks for and that only read, answered by reading: nothing of the target runs.
//
// Which method would run is found as the JVM would (by the object's class), and only if that very method is known is
// there an answer: what a class of the program overrides is not guessed. toString is the exception: it always gives a
// text, which then says that it was not run. Threads: one at a time.
#pragma once

#include <span>
#include <string>

#include "debug/command.h"

namespace jtrace::debug {

// Writes the value, with its tag; false: not answered. `exactly`: `method` itself, not what overrides it.
bool answer_call(World& world, const ObjectArgument& object, const coreinspect::JavaMethod& method,
                 std::span<const PacketReader::Value> arguments, bool exactly, PacketWriter& out);

// The method that a virtual call on such an object runs, of classes only; null if there is none.
const coreinspect::JavaMethod* find_virtual(World& world, const LoadedClass& type, std::string_view name,
                                            std::string_view signature);

}  // namespace jtrace::debug
