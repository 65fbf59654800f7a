#include "diagnose/outside_waits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/jdk_names.h"

namespace jtrace::diagnose {
namespace {

struct Call {
  std::string_view method, waits, does;
};

constexpr std::string_view kData = "waits for data from a socket", kReads = "reads from a socket";
constexpr std::string_view kPeer = "waits for a connection that it opens", kOpens = "opens a connection";
constexpr std::string_view kRoom = "waits until a socket takes data", kWrites = "writes to a socket";
constexpr std::string_view kHost = "waits for the address of a host", kAsks = "asks for the address of a host";
constexpr std::string_view kFile = "waits for data from a file or pipe", kReadsFile = "reads from a file or pipe";
constexpr std::string_view kFull = "waits until a file or pipe takes data", kWritesFile = "writes to a file or pipe";
constexpr std::string_view kDisk = "waits until a file is on its disk", kForces = "puts a file on its disk";

// Sockets: of 8 and 11, of 13 and later (JEP 353), channels.
constexpr std::array kCalls = {Call{"java.net.SocketInputStream.socketRead0", kData, kReads},
                               Call{"sun.nio.ch.NioSocketImpl.implRead", kData, kReads},
                               Call{"sun.nio.ch.SocketChannelImpl.read", kData, kReads},
                               Call{"java.net.PlainSocketImpl.socketConnect", kPeer, kOpens},
                               Call{"sun.nio.ch.NioSocketImpl.connect", kPeer, kOpens},
                               Call{"sun.nio.ch.SocketChannelImpl.connect", kPeer, kOpens},
                               Call{"java.net.SocketOutputStream.socketWrite0", kRoom, kWrites},
                               Call{"sun.nio.ch.NioSocketImpl.implWrite", kRoom, kWrites},
                               Call{"sun.nio.ch.SocketChannelImpl.write", kRoom, kWrites},
                               Call{"java.net.Inet6AddressImpl.lookupAllHostAddr", kHost, kAsks},
                               Call{"java.net.Inet4AddressImpl.lookupAllHostAddr", kHost, kAsks},
                               Call{"java.io.FileInputStream.readBytes", kFile, kReadsFile},
                               Call{"java.io.FileInputStream.read0", kFile, kReadsFile},
                               Call{"java.io.RandomAccessFile.readBytes", kFile, kReadsFile},
                               Call{"sun.nio.ch.FileChannelImpl.read", kFile, kReadsFile},
                               Call{"java.io.FileOutputStream.writeBytes", kFull, kWritesFile},
                               Call{"java.io.RandomAccessFile.writeBytes", kFull, kWritesFile},
                               Call{"sun.nio.ch.FileChannelImpl.write", kFull, kWritesFile},
                               Call{"sun.nio.ch.FileChannelImpl.force", kDisk, kForces},
                               Call{"java.io.FileDescriptor.sync", kDisk, kForces}};

const Call* call_of(const ThreadFact& thread) {
  if (thread.state != "RUNNABLE" || thread.wait) return nullptr;
  for (const FrameFact& frame : thread.frames) {
    if (!is_of_the_jdk(frame.method)) return nullptr;
    const auto call =
        std::find_if(kCalls.begin(), kCalls.end(), [&](const Call& each) { return each.method == frame.method; });
    if (call != kCalls.end()) return &*call;
  }
  return nullptr;
}

}  // namespace

std::string outside_wait(const ThreadFact& thread) {
  const Call* call = call_of(thread);
  if (call == nullptr) return "";
  return std::string(thread.slept ? call->waits : call->does) +
         (thread.peer.empty() ? "" : " (peer " + thread.peer + ")");
}

bool waits_for_socket(const ThreadFact& thread) {
  const Call* call = call_of(thread);
  return call != nullptr && (call->waits == kData || call->waits == kPeer || call->waits == kRoom);
}

}  // namespace jtrace::diagnose
