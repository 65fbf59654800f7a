#include "trace/io/io_methods.h"

#include <algorithm>
#include <iterator>

namespace jtrace::trace::io {
namespace {

struct IoMethod {
  std::string_view type, method;
  IoKind kind;
  bool is_native = false;
};
constexpr IoMethod kIoMethods[] = {
    {"java/net/SocketInputStream", "read", IoKind::kSocket},           // to 12
    {"java/net/SocketOutputStream", "write", IoKind::kSocket},         // to 12
    {"java/net/AbstractPlainSocketImpl", "connect", IoKind::kSocket},  // to 17
    {"sun/nio/ch/NioSocketImpl", "read", IoKind::kSocket},             // from 13
    {"sun/nio/ch/NioSocketImpl", "write", IoKind::kSocket},
    {"sun/nio/ch/NioSocketImpl", "connect", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "read", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "write", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "connect", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "blockingRead", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "blockingWriteFully", IoKind::kSocket},
    {"sun/nio/ch/SocketChannelImpl", "blockingConnect", IoKind::kSocket},
    {"java/io/FileInputStream", "read", IoKind::kFile},
    {"java/io/FileOutputStream", "write", IoKind::kFile},
    {"java/io/RandomAccessFile", "read", IoKind::kFile},
    {"java/io/RandomAccessFile", "write", IoKind::kFile},
    {"sun/nio/ch/FileChannelImpl", "read", IoKind::kFile},
    {"sun/nio/ch/FileChannelImpl", "write", IoKind::kFile},
    {"sun/nio/ch/FileChannelImpl", "force", IoKind::kFile},
    {"java/net/SocketInputStream", "socketRead0", IoKind::kSocket, true},
    {"java/net/SocketOutputStream", "socketWrite0", IoKind::kSocket, true},
    {"java/net/PlainSocketImpl", "socketConnect", IoKind::kSocket, true},
    {"sun/nio/ch/Net", "poll", IoKind::kSocket, true},
    {"sun/nio/ch/Net", "connect0", IoKind::kSocket, true},
    {"sun/nio/ch/SocketDispatcher", "read0", IoKind::kSocket, true},
    {"sun/nio/ch/SocketDispatcher", "readv0", IoKind::kSocket, true},
    {"java/io/FileInputStream", "read0", IoKind::kFile, true},
    {"java/io/FileInputStream", "readBytes", IoKind::kFile, true},
    {"java/io/FileOutputStream", "writeBytes", IoKind::kFile, true},
    {"java/io/RandomAccessFile", "readBytes", IoKind::kFile, true},
    {"java/io/RandomAccessFile", "writeBytes", IoKind::kFile, true},
    {"java/io/FileDescriptor", "sync", IoKind::kFile, true},
};

}  // namespace

IoKind io_kind(std::string_view type, std::string_view method) {
  if (!type.starts_with("java/") && !type.starts_with("sun/")) return IoKind::kNone;
  const auto found = std::find_if(std::begin(kIoMethods), std::end(kIoMethods),
                                  [&](const IoMethod& row) { return row.type == type && row.method == method; });
  return found == std::end(kIoMethods) ? IoKind::kNone : found->kind;
}

std::vector<std::string> io_filters() {
  std::vector<std::string> rules;
  for (const IoMethod& row : kIoMethods) {
    if (row.is_native) continue;
    std::string type(row.type);
    std::replace(type.begin(), type.end(), '/', '.');
    rules.push_back(type + " " + std::string(row.method) + " include");
  }
  return rules;
}

}  // namespace jtrace::trace::io
