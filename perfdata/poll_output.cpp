#include "perfdata/poll_output.h"

namespace jtrace::perfdata {
namespace {

std::string vm_text(const CounterSource& source) {
  std::string text;
  if (source.process()) text = "pid=" + std::to_string(source.process()->nspid());
  if (const auto begin = source.first().long_value("sun.rt.createVmBeginTime"))
    text += (text.empty() ? "createVmBeginTime=" : ",createVmBeginTime=") + std::to_string(*begin);
  return text;
}

class XmlPollOutput final : public PollOutput {
 public:
  XmlPollOutput(trace::ByteSink& bytes, const trace::XmlWriterOptions& xml, PollFormat format, WriteHead write_head)
      : bytes_(bytes), writer_(bytes, xml), format_(std::move(format)), write_head_(std::move(write_head)) {}

  Result<> begin(std::size_t jvm, const CounterSource& source) override {
    JTRACE_ASSIGN_OR_RETURN(std::string agent, write_head_(writer_, source));
    if (jvms_.size() <= jvm) jvms_.resize(jvm + 1);
    SeriesOptions options{.agent_id = agent,
                          .source = std::string(source_name(source.kind())) + ":" + source.name(),
                          .vm = vm_text(source),
                          .options = format_.options,
                          .full = format_.full,
                          .show_secrets = format_.show_secrets,
                          .filter = format_.filter};
    jvms_[jvm].samples = std::make_unique<SampleWriter>(writer_, std::move(options));
    jvms_[jvm].pauses = std::make_unique<PauseWriter>(writer_, std::move(agent));
    jvms_[jvm].live = format_.pauses && source.process() != nullptr;
    return {};
  }

  Result<> sample(std::size_t jvm, const Snapshot& snapshot) override {
    JTRACE_RETURN_IF_ERROR(jvms_[jvm].samples->write(snapshot));
    return jvms_[jvm].live ? begin_pauses(jvms_[jvm]) : Result<>();
  }

  Result<> pauses(std::size_t jvm, const GcTracker& tracker, const std::vector<GcPause>& pauses,
                  const Snapshot& snapshot, const TickClock& clock, const ClockAnchor& anchor) override {
    if (pauses.empty() && tracker.newly_missed() == 0) return {};
    JTRACE_RETURN_IF_ERROR(begin_pauses(jvms_[jvm]));
    return jvms_[jvm].pauses->write(pauses, tracker.newly_missed(), snapshot, clock, anchor);
  }

  Result<> ended(std::size_t jvm, bool gone) override {
    if (jvm >= jvms_.size() || !jvms_[jvm].samples) return {};  // its beginning could not be written
    Jvm& ended = jvms_[jvm];
    const std::uint64_t now = realtime_ns();
    if (is_cut_) {
      JTRACE_RETURN_IF_ERROR(begin_pauses(ended));
      JTRACE_RETURN_IF_ERROR(ended.pauses->cut(now));
    }
    if (gone && !ended.is_shut_down) {
      JTRACE_RETURN_IF_ERROR(begin_pauses(ended));
      JTRACE_RETURN_IF_ERROR(ended.pauses->runtime_shutdown(now));
      ended.is_shut_down = true;
    }
    if (ended.in_pauses) JTRACE_RETURN_IF_ERROR(ended.pauses->end(now));
    ended.in_pauses = false;
    return ended.samples->end(now);
  }

  void begin_closing(bool is_full) override {
    is_cut_ = is_full;
    bytes_.begin_closing();
  }
  Result<> flush() override { return bytes_.flush(); }
  Result<> finish() override { return writer_.finish(); }

 private:
  struct Jvm {
    std::unique_ptr<SampleWriter> samples;
    std::unique_ptr<PauseWriter> pauses;
    bool live = false;
    bool in_pauses = false;
    bool is_shut_down = false;  // its end has been written
  };

  static Result<> begin_pauses(Jvm& jvm) {
    if (jvm.in_pauses) return {};
    jvm.in_pauses = true;
    return jvm.pauses->begin(realtime_ns());
  }

  trace::ByteSink& bytes_;
  trace::XmlWriter writer_;
  PollFormat format_;
  WriteHead write_head_;
  std::vector<Jvm> jvms_;
  bool is_cut_ = false;  // there is no room for more
};

class RowPollOutput final : public PollOutput {
 public:
  RowPollOutput(trace::ByteSink& bytes, RowFormat rows, PollFormat format)
      : bytes_(bytes), rows_(rows), format_(std::move(format)) {}

  Result<> begin(std::size_t jvm, const CounterSource& source) override {
    if (series_.empty() && rows_ == RowFormat::kCsv) JTRACE_RETURN_IF_ERROR(bytes_.write(SampleRows::csv_head()));
    if (series_.size() <= jvm) series_.resize(jvm + 1);
    series_[jvm] = std::make_unique<SampleRows>(SampleRowsOptions{
        .pid = source.pid(), .full = format_.full, .show_secrets = format_.show_secrets, .filter = format_.filter});
    return {};
  }

  Result<> sample(std::size_t jvm, const Snapshot& snapshot) override {
    text_.clear();
    if (rows_ == RowFormat::kCsv) series_[jvm]->append_csv(text_, snapshot);
    else series_[jvm]->append_json(text_, snapshot);
    return text_.empty() ? Result<>() : bytes_.write(text_);
  }

  Result<> flush() override { return bytes_.flush(); }
  Result<> finish() override { return bytes_.finish(); }

 private:
  trace::ByteSink& bytes_;
  RowFormat rows_;
  PollFormat format_;
  std::vector<std::unique_ptr<SampleRows>> series_;
  std::string text_;
};

}  // namespace

std::unique_ptr<PollOutput> xml_poll_output(trace::ByteSink& bytes, const trace::XmlWriterOptions& xml,
                                            PollFormat format, WriteHead write_head) {
  return std::make_unique<XmlPollOutput>(bytes, xml, std::move(format), std::move(write_head));
}

std::unique_ptr<PollOutput> row_poll_output(trace::ByteSink& bytes, RowFormat rows, PollFormat format) {
  return std::make_unique<RowPollOutput>(bytes, rows, std::move(format));
}

}  // namespace jtrace::perfdata
