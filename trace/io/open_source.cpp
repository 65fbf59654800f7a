#include "trace/io/open_source.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "trace/io/document_kind.h"
#include "trace/io/jsonl_source.h"
#include "trace/io/sddf_reader.h"
#include "trace/io/xml_source.h"

namespace jtrace::trace::io {
namespace {

constexpr std::size_t kPeek = 4096;

// Returns the examined bytes again, and reports progress.
class WatchedSource final : public ByteSource {
 public:
  WatchedSource(std::unique_ptr<ByteSource> below, std::string first, const OpenOptions& options)
      : below_(std::move(below)), first_(std::move(first)), progress_(options.progress) {}
  Result<std::size_t> read(char* out, std::size_t size) override {
    if (at_ < first_.size()) {
      const std::size_t count = std::min(size, first_.size() - at_);
      std::memcpy(out, first_.data() + at_, count);
      at_ += count;
      return count;
    }
    if (progress_) progress_(below_->consumed(), below_->size());
    return below_->read(out, size);
  }
  bool truncated() const override { return below_->truncated(); }
  std::uint64_t consumed() const override { return below_->consumed(); }
  std::uint64_t size() const override { return below_->size(); }

 private:
  std::unique_ptr<ByteSource> below_;
  std::string first_;
  std::size_t at_ = 0;
  std::function<void(std::uint64_t, std::uint64_t)> progress_;
};

}  // namespace

Result<std::unique_ptr<EventSource>> make_event_source(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                                       FaultLog& faults, const OpenOptions& options) {
  std::string first(kPeek, '\0');
  JTRACE_ASSIGN_OR_RETURN(const std::size_t size, read_fully(*bytes, first.data(), first.size()));
  first.resize(size);
  const DocumentKind kind = document_kind(first);
  if (kind == DocumentKind::kJsonLines) {
    auto lines = std::make_unique<WatchedSource>(std::move(bytes), std::move(first), options);
    return make_jsonl_source(std::move(lines), name, faults, options.strict);
  }
  for (const FormatReader& format : options.more)
    if (format.recognises(first))
      return format.open(std::make_unique<WatchedSource>(std::move(bytes), std::move(first), options), name, faults);
  if (const std::string_view why = why_not_read(kind); !why.empty())
    return fail(malformed_at(name, {}, "is " + std::string(why)));
  auto source = std::make_unique<WatchedSource>(std::move(bytes), std::move(first), options);
  if (kind == DocumentKind::kSddf) return make_sddf_source(std::move(source), name, faults);
  return std::unique_ptr<EventSource>(std::make_unique<XmlSource>(
      std::move(source), name, faults,
      XmlSourceOptions{
          .strict = options.strict, .expat_only = options.expat_only, .repair_utf8 = options.repair_utf8}));
}

Result<std::unique_ptr<EventSource>> open_event_source(const std::string& path, FaultLog& faults,
                                                       const OpenOptions& options) {
  JTRACE_ASSIGN_OR_RETURN(auto bytes, open_byte_source(path));
  return make_event_source(std::move(bytes), path == "-" ? "standard input" : path, faults, options);
}

}  // namespace jtrace::trace::io
