#include "fleet/nats/sender.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/strings.h"
#include "fleet/batch.h"
#include "fleet/nats/publish_reply.h"
#include "fleet/subject.h"

namespace jtrace::fleet {
namespace {

constexpr std::uint64_t kAnswerWait = 5 * kNanosPerSecond;
constexpr std::uint64_t kLeastBackOff = kNanosPerSecond / 2, kMostBackOff = 30 * kNanosPerSecond;
constexpr std::uint64_t kSayAgain = 60 * kNanosPerSecond;
constexpr int kIdle = 20;  // ms

struct FreeMessage {
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
};
using Message = std::unique_ptr<natsMsg, FreeMessage>;

}  // namespace

Sender::Sender(Broker& broker, SpoolReader& spool, SendOptions options)
    : broker_(broker), spool_(spool), options_(std::move(options)) {}

Sender::~Sender() { natsSubscription_Destroy(replies_); }

Result<> Sender::subscribe() {
  natsInbox* inbox = nullptr;
  natsStatus status = natsInbox_Create(&inbox);
  if (status == NATS_OK) {
    inbox_ = inbox;
    natsInbox_Destroy(inbox);
    status = natsConnection_SubscribeSync(&replies_, broker_.connection(), (inbox_ + ".*").c_str());
  }
  if (status == NATS_OK) return {};
  return fail(ErrorCategory::kRefused, "cannot wait for acknowledgements: " + nats_words(status));
}

Result<> Sender::run() {
  JTRACE_RETURN_IF_ERROR(subscribe());
  progress_ = monotonic_ns();
  Result<> result;
  for (;;) {
    const bool ended = options_.has_input_ended();  // before poll(): what it says then is all
    const std::uint64_t now = monotonic_ns();
    if (result = spool_.poll(); !result) break;
    if (result = step(now); !result) break;
    if (options_.should_stop() || (ended && spool_.is_empty() && in_flight_.empty())) break;
    if (!ended || spool_.is_empty()) continue;
    if (monotonic_ns() - progress_ < options_.give_up) continue;  // `now` may be older than the last answer
    result =
        fail(ErrorCategory::kTimeout, "no acknowledgement for " + std::to_string(options_.give_up / kNanosPerSecond) +
                                          " s" + (problem_.empty() ? "" : ": " + problem_));
    break;
  }
  summary_.left = spool_.waiting();
  const Result<> saved = spool_.save(monotonic_ns());
  return result ? saved : result;
}

Result<> Sender::step(std::uint64_t now) {
  JTRACE_RETURN_IF_ERROR(broker_.state());
  if (const unsigned reconnects = broker_.reconnects(); reconnects != reconnects_) {
    reconnects_ = reconnects;
    in_flight_.clear();
    spool_.resend_all();
  }
  if (!broker_.is_connected()) on_problem("the server at " + broker_.url() + " is away", now);
  else if (now >= wait_until_) JTRACE_RETURN_IF_ERROR(fill_window(now));
  if (take_reply(kIdle))
    while (take_reply(0)) {
    }
  repeat_unanswered(now);
  if (now - saved_ < kNanosPerSecond) return {};
  saved_ = now;
  return spool_.save(now);
}

Result<> Sender::fill_window(std::uint64_t now) {
  while (in_flight_.size() < kWindow) {
    const auto batch = spool_.next();
    if (!batch) return {};
    JTRACE_ASSIGN_OR_RETURN(const bool went, publish(*batch, now));
    if (!went) return {};
  }
  return {};
}

// False: not now.
Result<bool> Sender::publish(std::uint64_t batch, std::uint64_t now) {
  JTRACE_ASSIGN_OR_RETURN(const std::string bytes, spool_.read(batch));
  JTRACE_ASSIGN_OR_RETURN(const BatchHeader header, decode_batch_header(bytes));
  natsMsg* made = nullptr;
  const std::string subject = subject_of(header), reply = inbox_ + "." + std::to_string(batch);
  natsStatus status =
      natsMsg_Create(&made, subject.c_str(), reply.c_str(), bytes.data(), static_cast<int>(bytes.size()));
  const Message message(made);
  if (status == NATS_OK) status = natsMsgHeader_Set(made, "Nats-Msg-Id", message_id_of(header).c_str());
  if (status == NATS_OK) status = natsConnection_PublishMsg(broker_.connection(), made);
  if (status == NATS_OK) {
    in_flight_[batch] = {now};
    ++summary_.sent;
    return true;
  }
  if (status == NATS_MAX_PAYLOAD)
    return fail(ErrorCategory::kRefused,
                "the server takes messages of " + std::to_string(natsConnection_GetMaxPayload(broker_.connection())) +
                    " bytes, and batch " + std::to_string(batch) + " has " + std::to_string(bytes.size()),
                "max_payload of its configuration: 1 MB, which is its default, is enough");
  spool_.resend();
  in_flight_.clear();
  on_problem("cannot publish: " + nats_words(status), now);
  return false;
}

// True: there was one.
bool Sender::take_reply(int timeout_ms) {
  natsMsg* taken = nullptr;
  const natsStatus status = natsSubscription_NextMsg(&taken, replies_, timeout_ms);
  if (status == NATS_NO_RESPONDERS) {  // to whichever message: the library keeps it
    spool_.resend();
    in_flight_.clear();
    on_problem("no stream takes " + std::string(kSubjects) + ": jtrace collect --create makes one", monotonic_ns());
    return true;
  }
  if (status != NATS_OK) return false;
  const Message message(taken);
  const std::string_view subject = natsMsg_GetSubject(taken);
  const auto batch = parse_decimal<std::uint64_t>(subject.substr(subject.rfind('.') + 1));
  if (!batch) return true;
  const std::uint64_t now = monotonic_ns();
  const PublishReply reply =
      read_publish_reply({natsMsg_GetData(taken), static_cast<std::size_t>(natsMsg_GetDataLength(taken))});
  const bool waited = in_flight_.erase(*batch) != 0;
  if (!reply.is_stored) {
    if (waited) spool_.resend();
    on_problem(reply.problem, now);
    return true;
  }
  if (reply.is_duplicate) ++summary_.known;
  else ++summary_.stored;
  spool_.acknowledge(*batch, now);
  progress_ = now;
  back_off_ = 0;
  problem_.clear();
  return true;
}

void Sender::repeat_unanswered(std::uint64_t now) {
  const auto is_late = [&](const auto& each) { return now > each.second.since + kAnswerWait; };
  if (std::none_of(in_flight_.begin(), in_flight_.end(), is_late)) return;
  summary_.repeats += in_flight_.size();
  in_flight_.clear();
  spool_.resend();
}

void Sender::on_problem(const std::string& problem, std::uint64_t now) {
  problem_ = problem;
  if (now >= wait_until_) {
    back_off_ = std::clamp(2 * back_off_, kLeastBackOff, kMostBackOff);
    wait_until_ = now + back_off_;
  }
  std::uint64_t& said = said_[problem];
  if (said != 0 && now < said + kSayAgain) return;
  said = now;
  options_.say(problem + "; it is tried again");
}

}  // namespace jtrace::fleet
