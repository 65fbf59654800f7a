// Bundles of jtrace diagnose from anybody: the archive, its manifest, and a comparison with itself.
#include <cstddef>
#include <cstdint>
#include <string>

#include "diagnose/bundle_diff.h"
#include "diagnose/bundle_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jtrace::diagnose;
  const auto bundle = BundleFile::of(std::string(reinterpret_cast<const char*>(data), size), "x.zip");
  if (!bundle) return 0;
  (void)bundle->views();
  (void)bundle->text("SUMMARY.txt");
  if (const auto diff = compare(*bundle, *bundle)) (void)(text_of(*diff) + json_of(*diff));
  return 0;
}
