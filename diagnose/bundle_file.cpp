#include "diagnose/bundle_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "base/strings.h"
#include "diagnose/bundle.h"

namespace jtrace::diagnose {
namespace {

constexpr std::size_t kMostOfFile = 256u << 20;

}  // namespace

bool is_bundle(const std::string& path) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return false;
  std::array<char, 4> head{};
  const ssize_t got = ::pread(fd->get(), head.data(), head.size(), 0);
  const std::string_view start(head.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  return start == std::string_view("PK\x03\x04") || start == std::string_view("PK\x05\x06") || path.ends_with(".zip");
}

Result<BundleFile> BundleFile::open(const std::string& path) {
  JTRACE_ASSIGN_OR_RETURN(std::string bytes, read_file(path, kMostOfFile));
  return of(std::move(bytes), path);
}

Result<BundleFile> BundleFile::of(std::string bytes, const std::string& path) {
  auto zip = ZipReader::open(std::move(bytes));
  if (!zip) return fail(zip.error().with_context("cannot read " + path));
  BundleFile bundle(std::move(*zip), path);
  JTRACE_RETURN_IF_ERROR(bundle.read_manifest());
  return bundle;
}

Result<> BundleFile::read_manifest() {
  if (!has("manifest.json"))
    return fail(ErrorCategory::kMalformed, path_ + " is not a bundle of jtrace diagnose: it has no manifest.json");
  JTRACE_ASSIGN_OR_RETURN(manifest_, json("manifest.json"));
  if (manifest_["format"].text() != kBundleFormat)
    return fail(ErrorCategory::kMalformed,
                path_ + " is not a bundle of jtrace diagnose: its manifest.json is of something else");
  if (manifest_["version"].number() != kBundleVersion)
    return fail(ErrorCategory::kMalformed,
                path_ + " is of another version than this jtrace reads (" + std::to_string(kBundleVersion) + ")",
                "it was made by " + printable(manifest_["tool"].text()));
  return {};
}

Result<std::string> BundleFile::text(std::string_view member) const {
  auto content = zip_.read(member);
  if (!content) return fail(content.error().with_context("cannot read " + path_));
  return content;
}

Result<JsonValue> BundleFile::json(std::string_view member) const {
  JTRACE_ASSIGN_OR_RETURN(const std::string content, text(member));
  auto value = JsonValue::parse(content);
  if (!value) return fail(value.error().with_context("cannot read " + std::string(member) + " of " + path_));
  return value;
}

std::string BundleFile::views() const {
  std::string names;
  for (const JsonValue& each : manifest_["members"].items()) {
    std::string_view name = each["name"].text();
    if (!name.starts_with("views/") || !name.ends_with(".json") || !has(name)) continue;
    name.remove_prefix(6);
    name.remove_suffix(5);
    names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

}  // namespace jtrace::diagnose
