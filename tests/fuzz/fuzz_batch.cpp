// Messages of a fleet: any bytes, and any bytes under a right checksum.
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "fleet/batch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)jtrace::fleet::decode_batch(bytes);
  if (size < 16) return 0;
  const std::uint64_t hash = XXH64(bytes.data() + 16, size - 16, 0);
  std::memcpy(bytes.data(), "JTB1\1", 6);
  std::memcpy(bytes.data() + 8, &hash, sizeof hash);
  (void)jtrace::fleet::decode_batch(bytes);
  return 0;
}
