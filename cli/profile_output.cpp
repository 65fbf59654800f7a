#include "cli/profile_output.h"

#include <utility>

#include "sampling/jfr_writer.h"
#include "trace/io/compress_sink.h"
#include "trace/xml_writer.h"

namespace jtrace::cli {
namespace {

constexpr std::size_t kTableRows = 20;

class Counted final : public ProfileOutput {
 public:
  Counted(const ProfilePlan& plan, std::unique_ptr<trace::ByteSink> bytes)
      : format_(plan.format), bytes_(std::move(bytes)), counts_(plan.shape) {}

  Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t, std::uint64_t weight) override {
    for (const auto& report : snapshot.threads) counts_.add(report, weight);
    return {};
  }
  Result<> take(const sampling::TakenSample& sample, std::uint64_t, const std::string& process) override {
    counts_.add(sample.thread, sample.weight, sample.wait, process);
    return {};
  }
  Result<> finish(const sampling::ProfileHead& head) override {
    JTRACE_RETURN_IF_ERROR(bytes_->write(format_ == "collapsed"    ? sampling::collapsed_text(counts_)
                                         : format_ == "speedscope" ? sampling::speedscope_json(counts_, head)
                                         : format_ == "pprof"      ? sampling::pprof_bytes(counts_, head)
                                         : format_ == "html"       ? sampling::profile_page(counts_, head)
                                         : format_ == "svg"        ? sampling::profile_svg(counts_, head)
                                                                   : sampling::profile_table(counts_, kTableRows)));
    return bytes_->finish();
  }

 private:
  const std::string format_;
  std::unique_ptr<trace::ByteSink> bytes_;
  sampling::ProfileCounts counts_;
};

class Recording final : public ProfileOutput {
 public:
  Recording(const ProfilePlan& plan, std::unique_ptr<trace::ByteSink> bytes)
      : several_(plan.shape.processes), bytes_(std::move(bytes)) {}

  Result<> take(const coreinspect::ThreadSnapshot& snapshot, std::uint64_t time, std::uint64_t weight) override {
    for (const auto& report : snapshot.threads) jfr_.add(report, time, weight, sampling::WaitKind::kNone, "");
    return {};
  }
  Result<> take(const sampling::TakenSample& sample, std::uint64_t time, const std::string& process) override {
    jfr_.add(sample.thread, time, sample.weight, sample.wait, several_ ? process : std::string());
    return {};
  }
  Result<> finish(const sampling::ProfileHead& head) override {
    JTRACE_RETURN_IF_ERROR(bytes_->write(jfr_.bytes(head)));
    return bytes_->finish();
  }

 private:
  const bool several_;
  std::unique_ptr<trace::ByteSink> bytes_;
  sampling::JfrWriter jfr_;
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
  Result<> take(const sampling::TakenSample& sample, std::uint64_t time, const std::string&) override {
    snapshot_.threads.assign(1, sample.thread);
    return take(snapshot_, time, sample.weight);
  }
  Result<> finish(const sampling::ProfileHead&) override {
    JTRACE_RETURN_IF_ERROR(writer_.end());
    return xml_.finish();
  }

 private:
  std::unique_ptr<trace::ByteSink> bytes_;
  trace::XmlWriter xml_;
  coreinspect::SnapshotEvents writer_;
  coreinspect::ThreadSnapshot snapshot_;
};

}  // namespace

Result<std::string> profile_format(const std::string& format, const std::string& output) {
  if (!format.empty()) return format;
  if (output.empty()) return std::string("text");
  if (output == "-" || output.ends_with(".collapsed")) return std::string("collapsed");
  if (output.ends_with(".speedscope.json")) return std::string("speedscope");
  if (output.ends_with(".pb.gz")) return std::string("pprof");
  if (output.ends_with(".jfr")) return std::string("jfr");
  if (output.ends_with(".html")) return std::string("html");
  if (output.ends_with(".svg")) return std::string("svg");
  if (output.ends_with(".xml")) return std::string("xml");
  return fail(ErrorCategory::kUsage, "the name " + output + " does not say what to write",
              "a name in .collapsed, .speedscope.json, .pb.gz, .jfr, .html, .svg or .xml, or --format");
}

Result<std::unique_ptr<ProfileOutput>> open_profile_output(coreinspect::Inspection& inspection,
                                                           const ProfilePlan& plan) {
  JTRACE_ASSIGN_OR_RETURN(auto bytes, open_whole_output(plan.output.empty() ? "-" : plan.output));
  if (plan.format == "pprof") {
    JTRACE_ASSIGN_OR_RETURN(bytes, trace::io::compressing(std::move(bytes), trace::io::Compression::kGzip));
  }
  if (plan.format == "jfr") return std::unique_ptr<ProfileOutput>(std::make_unique<Recording>(plan, std::move(bytes)));
  if (plan.format != "xml") return std::unique_ptr<ProfileOutput>(std::make_unique<Counted>(plan, std::move(bytes)));
  auto identity = identity_of(inspection, false);
  identity.agent_parameters = plan.how;
  auto document = std::make_unique<Document>(inspection, std::move(bytes), std::move(identity));
  JTRACE_RETURN_IF_ERROR(document->begin());
  return std::unique_ptr<ProfileOutput>(std::move(document));
}

}  // namespace jtrace::cli
