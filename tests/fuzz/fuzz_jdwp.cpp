// Any commands of JDWP, all of the table and others, with ids that were given out and ids that were not, and bodies of
// any length, over a core: JTRACE_FUZZ_CORE names it (jtrace core PID -o FILE); JTRACE_FUZZ_SYSROOT where its files
// are. Without one only packets and bodies are read.
//
// An input is a list of commands: set, command, number of parts, then the parts: a letter, and for numbers a byte.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/bytes.h"
#include "debug/command.h"
#include "debug/source.h"

namespace {

using namespace jtrace;
using namespace jtrace::debug;

struct Opened {
  std::unique_ptr<coreinspect::Inspection> inspection;
  std::unique_ptr<CoreSource> source;
  World* world = nullptr;
};

Opened& opened() {
  static Opened core = [] {
    Opened made;
    const char* path = std::getenv("JTRACE_FUZZ_CORE");
    if (path == nullptr) return made;
    const char* root = std::getenv("JTRACE_FUZZ_SYSROOT");
    auto target = target::Target::open_core(path, {.sysroot = root != nullptr ? root : "", .libjvm = {}});
    if (!target) std::fprintf(stderr, "%s\n", target.error().message().c_str()), std::exit(2);
    auto inspection = coreinspect::Inspection::open(std::move(*target));
    if (!inspection) std::fprintf(stderr, "%s\n", inspection.error().message().c_str()), std::exit(2);
    made.inspection = std::move(*inspection);
    auto source = CoreSource::open(*made.inspection, {});
    if (!source) std::fprintf(stderr, "%s\n", source.error().message().c_str()), std::exit(2);
    made.source = std::move(*source);
    made.world = *made.source->begin();
    return made;
  }();
  return core;
}

// One of the things that a client knows, by number.
void put_known(World& world, PacketWriter& out, char kind, std::uint8_t number) {
  const auto& threads = world.threads().all();
  const auto& classes = world.classes().all();
  const auto* type = classes.empty() ? nullptr : classes[number * 37u % classes.size()];
  const DebugThread* thread = threads.empty() ? nullptr : &threads[number % threads.size()];
  switch (kind) {
    case 'c': out.id(type != nullptr ? type->klass : 0); break;
    case 't': out.id(thread != nullptr ? world.ids().of(thread->object) : 0); break;
    case 'g': out.id(thread != nullptr ? world.ids().of(thread->group) : 0); break;
    case 'r': out.id(thread != nullptr ? world.threads().frame_id(*thread, number / 16) : 0); break;
    case 'o': out.id(world.ids().size() == 0 ? 0 : 1 + number * 31u % world.ids().size()); break;
    case 'm': {
      const auto* methods = type != nullptr ? &world.classes().methods(*type) : nullptr;
      out.id(type != nullptr ? type->klass : 0);
      out.id(methods == nullptr || methods->empty() ? 0 : (*methods)[number % methods->size()]);
      break;
    }
    case 'f': {
      const auto fields = type != nullptr ? world.classes().fields(*type) : decltype(world.classes().fields(*type))();
      out.id(fields.empty() ? 0 : fields[number % fields.size()].first);
      break;
    }
    default: out.u1(number);
  }
}

void put_part(World* world, PacketWriter& out, char kind, std::uint8_t number) {
  switch (kind) {
    case '0': out.id(0); break;
    case '1': out.u4(number % 32); break;
    case '2': out.u4(static_cast<std::uint32_t>(-static_cast<int>(number))); break;
    case '3': out.u4(0x7fffff00u | number); break;
    case '4': out.u8(0x9e3779b97f4a7c15ull * (number + 1)); break;
    case '5': out.u8(~std::uint64_t{number}); break;
    case '6': out.text("Ljava/lang/String;"); break;
    default:
      if (world != nullptr) put_known(*world, out, kind, number);
      else out.u1(number);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  World* world = opened().world;
  Client client;
  client.gone = [] { return false; };
  ByteReader in(std::as_bytes(std::span(data, size)), std::endian::little);
  for (std::uint32_t id = 1; in.remaining() >= 3 && id < 64; ++id) {
    const auto set = in.read<std::uint8_t>();
    const auto command = in.read<std::uint8_t>();
    PacketWriter body;
    for (int parts = in.read<std::uint8_t>() % 8; parts > 0 && in.remaining() >= 2; --parts) {
      const auto kind = in.read<std::uint8_t>();
      put_part(world, body, "0123456ctgromf"[kind % 14], in.read<std::uint8_t>());
    }
    const auto bytes = std::as_bytes(std::span(body.bytes()));
    const CommandHeader header{.length = static_cast<std::uint32_t>(11 + bytes.size()),
                               .id = id,
                               .flags = 0,
                               .set = static_cast<std::uint8_t>(set % 19),
                               .command = static_cast<std::uint8_t>(command % 24)};
    if (world == nullptr) {
      PacketReader reader(bytes);
      (void)reader.text();
      while (!reader.failed()) (void)reader.value();
      continue;
    }
    const std::string reply = answer(*world, client, header, bytes);
    if (reply.size() < 11) std::abort();
  }
  return 0;
}
