// BundleFile: a bundle that is read again. Any thread. Errors: kMalformed (no archive, damaged, no bundle, of a newer
// version), kNotFound.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "diagnose/zip_reader.h"

namespace jtrace::diagnose {

// Whether the file is a zip archive, or is called like one.
bool is_bundle(const std::string& path);

class BundleFile {
 public:
  static Result<BundleFile> open(const std::string& path);
  // The same of an archive in memory; `path` is for messages.
  static Result<BundleFile> of(std::string bytes, const std::string& path);

  const std::string& path() const { return path_; }
  const JsonValue& manifest() const { return manifest_; }
  bool has(std::string_view member) const { return zip_.has(member); }
  Result<std::string> text(std::string_view member) const;
  Result<JsonValue> json(std::string_view member) const;
  // The views in it, separated by commas.
  std::string views() const;

 private:
  BundleFile(ZipReader zip, std::string path) : zip_(std::move(zip)), path_(std::move(path)) {}
  Result<> read_manifest();

  ZipReader zip_;
  std::string path_;
  JsonValue manifest_;
};

}  // namespace jtrace::diagnose
