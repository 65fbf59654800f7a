// The table of commands: one row for each command of JDWP that is answered; whatever is not in it is not implemented.
//
// A handler reads its arguments from `in`, checks each of them, and writes its answer; with an error the answer is
// dropped. Threads: one at a time.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "debug/client.h"
#include "debug/world.h"

namespace jtrace::debug {

struct Request {
  World& world;
  Client& client;
  PacketReader& in;
  PacketWriter& out;
};

using Handler = JdwpError (*)(Request& request);

struct Command {
  std::uint8_t set, command;
  std::string_view name;
  Handler handler;
};
std::span<const Command> commands();
const Command* find_command(std::uint8_t set, std::uint8_t command);
// Finds the handler, runs it, and gives the whole reply.
std::string answer(World& world, Client& client, const CommandHeader& header, std::span<const std::byte> body);

// Of a reply: longer ones are refused.
inline constexpr std::size_t kMaxReply = 64u << 20;

// Arguments, checked. The error is the one that a client expects.
template <class T>
using Argument = tl::expected<T, JdwpError>;

struct ObjectArgument {
  Address address = 0;                 // 0: one of the two that follow
  const std::string* text = nullptr;   // a string made by jtrace
  const ApartObject* apart = nullptr;  // an object of a frame that the compiler has taken apart
  const LoadedClass* type = nullptr;
};
Argument<const LoadedClass*> read_type(Request& request);
Argument<ObjectArgument> read_object(Request& request);
// An object of the heap with that tag; `otherwise` is the error for another.
Argument<Address> read_tagged(Request& request, Tag tag, JdwpError otherwise);
Argument<const DebugThread*> read_thread(Request& request);
Argument<const coreinspect::Frame*> read_frame(Request& request, const DebugThread& thread);
Argument<const coreinspect::JavaMethod*> read_method(Request& request, const LoadedClass& type);

#define JTRACE_ARGUMENT(declaration, expression) \
  JTRACE_ARGUMENT_2(JTRACE_CONCAT(jtrace_argument_, __LINE__), declaration, expression)
#define JTRACE_ARGUMENT_2(argument, declaration, expression) \
  auto argument = (expression);                              \
  if (!argument) return argument.error();                    \
  declaration = *argument

}  // namespace jtrace::debug
