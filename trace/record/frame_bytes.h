// The payload of a frame as a string, for jtrace. Pure.
#pragma once

#include <string>
#include <string_view>

#include "trace/record/frames.h"

namespace jtrace::trace::record {

// What write_fields() writes into.
struct FrameBytes {
  std::string bytes;
  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes.append(text);
  }
  void put_bytes(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};

template <class Fields>
std::string frame_bytes(const Fields& fields) {
  FrameBytes payload;
  write_fields(payload, fields);
  return payload.bytes;
}

}  // namespace jtrace::trace::record
