#include "sampling/profile_output.h"

#include <utility>

#include "sampling/jfr_writer.h"
#include "trace/io/compress_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::sampling {
namespace {

class Counted final : public ProfileOutput {
 public:
  Counted(std::string_view format, ProfileCounts::Shape shape, TableLimits limits,
          std::unique_ptr<trace::ByteSink> bytes)
      : format_(format), limits_(limits), bytes_(std::move(bytes)), counts_(shape) {}

  Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t, std::uint64_t weight) override {
    for (const auto& report : snapshot.threads) counts_.add(report, weight);
    return {};
  }
  Result<> take(const TakenSample& sample, std::uint64_t, const std::string& process) override {
    counts_.add(sample.thread, sample.weight, sample.wait, process, sample.parties, sample.earlier);
    return {};
  }
  Result<> finish(const ProfileHead& head) override {
    JTRACE_RETURN_IF_ERROR(bytes_->write(format_ == "collapsed"    ? collapsed_text(counts_)
                                         : format_ == "speedscope" ? speedscope_json(counts_, head)
                                         : format_ == "pprof"      ? pprof_bytes(counts_, head)
                                         : format_ == "json"       ? profile_json(counts_, head)
                                         : format_ == "html"       ? profile_page(counts_, head)
                                         : format_ == "svg"        ? profile_svg(counts_, head)
                                                                   : profile_table(counts_, limits_)));
    return bytes_->finish();
  }

 private:
  const std::string format_;
  const TableLimits limits_;
  std::unique_ptr<trace::ByteSink> bytes_;
  ProfileCounts counts_;
};

class Recording final : public ProfileOutput {
 public:
  Recording(ProfileCounts::Shape shape, std::unique_ptr<trace::ByteSink> bytes)
      : several_(shape.processes), bytes_(std::move(bytes)) {}

  Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t weight) override {
    for (const auto& report : snapshot.threads) jfr_.add(report, time, weight, WaitKind::kNone, "");
    return {};
  }
  Result<> take(const TakenSample& sample, std::uint64_t time, const std::string& process) override {
    jfr_.add(sample.thread, time, sample.weight, sample.wait, several_ ? process : std::string());
    return {};
  }
  Result<> finish(const ProfileHead& head) override {
    JTRACE_RETURN_IF_ERROR(bytes_->write(jfr_.bytes(head)));
    return bytes_->finish();
  }

 private:
  const bool several_;
  std::unique_ptr<trace::ByteSink> bytes_;
  JfrWriter jfr_;
};

class Document final : public ProfileOutput {
 public:
  Document(coreinspect::Inspection& inspection, std::unique_ptr<trace::ByteSink> bytes,
           coreinspect::SnapshotIdentity identity)
      : bytes_(std::move(bytes)), xml_(*bytes_), writer_(inspection, xml_, std::move(identity), {}, true) {}

  Result<> begin() { return writer_.begin(); }
  Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t) override {
    JTRACE_RETURN_IF_ERROR(writer_.start_trace(time));
    JTRACE_RETURN_IF_ERROR(writer_.write_threads(snapshot, true, false));
    return writer_.end_trace(time);
  }
  Result<> take(const TakenSample& sample, std::uint64_t time, const std::string&) override {
    snapshot_.threads.assign(1, sample.thread);
    return take(snapshot_, time, sample.weight);
  }
  // The document ends when the profile did, which may be long after the last sample.
  Result<> finish(const ProfileHead& head) override {
    JTRACE_RETURN_IF_ERROR(writer_.end(head.start + head.elapsed));
    return xml_.finish();
  }

 private:
  std::unique_ptr<trace::ByteSink> bytes_;
  trace::XmlWriter xml_;
  coreinspect::SnapshotEvents writer_;
  coreinspect::ThreadSnapshot snapshot_;
};

struct Ending {
  std::string_view text, format;
};
constexpr Ending kEndings[] = {{".collapsed", "collapsed"},
                               {".speedscope.json", "speedscope"},
                               {".json", "json"},
                               {".pb.gz", "pprof"},
                               {".jfr", "jfr"},
                               {".html", "html"},
                               {".svg", "svg"},
                               {".xml", "xml"}};

}  // namespace

std::string_view profile_format_of(std::string_view file_name) {
  for (const Ending& ending : kEndings)
    if (file_name.ends_with(ending.text)) return ending.format;
  return "";
}

Result<std::unique_ptr<ProfileOutput>> make_profile_output(std::string_view format, ProfileCounts::Shape shape,
                                                           TableLimits limits, std::unique_ptr<trace::ByteSink> bytes) {
  if (format == "pprof") {
    JTRACE_ASSIGN_OR_RETURN(bytes, trace::io::compressing(std::move(bytes), trace::io::Compression::kGzip));
  }
  if (format == "jfr") return std::unique_ptr<ProfileOutput>(std::make_unique<Recording>(shape, std::move(bytes)));
  return std::unique_ptr<ProfileOutput>(std::make_unique<Counted>(format, shape, limits, std::move(bytes)));
}

Result<std::unique_ptr<ProfileOutput>> make_profile_trace(coreinspect::Inspection& inspection,
                                                          coreinspect::SnapshotIdentity identity,
                                                          std::unique_ptr<trace::ByteSink> bytes) {
  auto document = std::make_unique<Document>(inspection, std::move(bytes), std::move(identity));
  JTRACE_RETURN_IF_ERROR(document->begin());
  return std::unique_ptr<ProfileOutput>(std::move(document));
}

}  // namespace jtrace::sampling
