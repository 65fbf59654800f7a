#include "fleet/nats/collector.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/clock.h"
#include "base/strings.h"
#include "fleet/subject.h"

namespace jtrace::fleet {
namespace {

constexpr int kFetch = 64;                            // messages
constexpr std::int64_t kFetchBytes = 4 << 20;         // of one request: bounds the memory
constexpr std::int64_t kFetchWait = 500'000'000;      // ns, of a round over all partitions
constexpr std::int64_t kLeastFetchWait = 30'000'000;  // ns, of one
// ns. What a killed collector had taken and not acknowledged comes again after this time; what takes longer to write
// comes twice, and is known.
constexpr std::int64_t kAckWait = 10'000'000'000;
constexpr std::int64_t kMaxAckPending = 4096;          // more than all held batches of a few streams
constexpr std::int64_t kDuplicates = 120'000'000'000;  // ns
constexpr int kCreateWait = 10'000;                    // ms

// A server that is away for a moment, or starts: try again.
bool is_passing(natsStatus status) {
  return status == NATS_TIMEOUT || status == NATS_NO_RESPONDERS || status == NATS_CONNECTION_DISCONNECTED ||
         status == NATS_NO_SERVER;
}
constexpr int kTries = 10;      // while it is so
constexpr int kTryPause = 300;  // ms
constexpr int kTryWait = 1000;  // ms, of one request

struct FreeSubscription {
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
};
using Subscription = std::unique_ptr<natsSubscription, FreeSubscription>;

class Consumers {
 public:
  Consumers(Broker& broker, Collection& collection, const CollectOptions& options)
      : broker_(broker), collection_(collection), options_(options) {}

  Result<> open() {
    if (options_.partitions.empty()) return open_one(options_.name, std::string(kSubjects));
    for (const std::uint32_t partition : options_.partitions)
      JTRACE_RETURN_IF_ERROR(
          open_one(options_.name + "-p" + std::to_string(partition), subjects_of_partition(partition)));
    return {};
  }

  Result<> run() {
    const std::uint64_t begun = monotonic_ns();
    std::uint64_t last = begun;
    for (;;) {
      bool any = false;
      for (Subscription& subscription : subscriptions_) {
        JTRACE_ASSIGN_OR_RETURN(const bool got, fetch(subscription.get()));
        any |= got;
      }
      const std::uint64_t now = monotonic_ns();
      JTRACE_RETURN_IF_ERROR(collection_.tick(now));
      JTRACE_RETURN_IF_ERROR(checkpoint());
      JTRACE_RETURN_IF_ERROR(broker_.state());
      if (any || collection_.held() != 0) last = now;
      if (options_.should_stop()) return {};
      if (options_.duration != 0 && now - begun >= options_.duration) return {};
      if (options_.until_idle != 0 && now - last >= options_.until_idle && broker_.is_connected()) return {};
    }
  }

 private:
  std::string description() const { return "jtrace collect " + collection_.id(); }

  Result<> check_owner(const jsConsumerInfo& info, const std::string& name) const {
    const std::string owner = info.Config->Description == nullptr ? "" : info.Config->Description;
    if (owner == description() || options_.take_over) return {};
    return fail(ErrorCategory::kRefused,
                "the consumer " + name + " of stream " + options_.stream + " collects into another folder",
                "--name NEW collects everything that the stream has; --take-over continues after what that one has");
  }

  Result<> open_one(const std::string& name, const std::string& filter) {
    natsStatus status = NATS_OK;
    Result<> opened = try_open(name, filter, status);
    for (int i = 1; i < kTries && !opened && is_passing(status) && broker_.state(); ++i) {
      nats_Sleep(kTryPause);
      opened = try_open(name, filter, status);
    }
    return opened;
  }

  Result<> try_open(const std::string& name, const std::string& filter, natsStatus& status) {
    jsErrCode code{};
    jsOptions wait;
    jsOptions_Init(&wait);
    wait.Wait = kTryWait;
    jsConsumerInfo* info = nullptr;
    status = js_GetConsumerInfo(&info, broker_.jetstream(), options_.stream.c_str(), name.c_str(), &wait, &code);
    const std::unique_ptr<jsConsumerInfo, void (*)(jsConsumerInfo*)> old(info, jsConsumerInfo_Destroy);
    if (status == NATS_OK) JTRACE_RETURN_IF_ERROR(check_owner(*info, name));
    if (status == NATS_NOT_FOUND || (status == NATS_OK && options_.take_over)) {
      const std::string about = description();
      jsConsumerConfig config;
      jsConsumerConfig_Init(&config);
      config.Durable = name.c_str();
      config.Description = about.c_str();
      config.DeliverPolicy = js_DeliverAll;
      config.AckPolicy = js_AckExplicit;
      config.AckWait = kAckWait;
      config.MaxAckPending = kMaxAckPending;
      config.FilterSubject = filter.c_str();
      status = js_AddConsumer(nullptr, broker_.jetstream(), options_.stream.c_str(), &config, nullptr, &code);
    }
    natsSubscription* made = nullptr;
    if (status == NATS_OK) {
      jsSubOptions bind;
      jsSubOptions_Init(&bind);
      bind.Stream = options_.stream.c_str();
      bind.Consumer = name.c_str();
      status = js_PullSubscribe(&made, broker_.jetstream(), filter.c_str(), name.c_str(), nullptr, &bind, &code);
    }
    if (status != NATS_OK) return fail(refusal(status, code));
    subscriptions_.emplace_back(made);
    return {};
  }

  Error refusal(natsStatus status, jsErrCode code) const {
    if (status == NATS_NOT_FOUND || code == JSStreamNotFoundErr)
      return {.category = ErrorCategory::kNotFound,
              .text = "the server at " + broker_.url() + " has no stream " + options_.stream,
              .help = "jtrace collect --create makes it"};
    if (const Result<> state = broker_.state(); !state) return state.error();
    if (status == NATS_TIMEOUT || status == NATS_NO_RESPONDERS)
      return {.category = ErrorCategory::kRefused,
              .text = "the server at " + broker_.url() + " has no JetStream, or this user may not use it",
              .help = "nats-server -js, or jetstream {} in its configuration"};
    return {.category = ErrorCategory::kRefused,
            .text = "cannot read stream " + options_.stream + ": " + nats_words(status)};
  }

  // True: something came.
  Result<bool> fetch(natsSubscription* subscription) {
    jsFetchRequest request;
    jsFetchRequest_Init(&request);
    request.Batch = alone_ ? 1 : kFetch;
    request.MaxBytes = alone_ ? 0 : kFetchBytes;
    request.Expires = std::max(kLeastFetchWait, kFetchWait / static_cast<std::int64_t>(subscriptions_.size()));
    natsMsgList list{};
    const natsStatus status = natsSubscription_FetchRequest(&list, subscription, &request);
    // A message larger than the request: one at a time, whatever its size.
    alone_ = status != NATS_OK && status != NATS_TIMEOUT && broker_.is_connected();
    if (alone_) {
      JTRACE_RETURN_IF_ERROR(complain(status));
      nats_Sleep(100);
    }
    if (!broker_.is_connected()) {
      say_once("the server at " + broker_.url() + " is away; it is tried again");
      nats_Sleep(100);
    } else {
      said_.clear();
    }
    Result<> taken;
    for (int i = 0; i < list.Count && taken; ++i) {
      natsMsg* message = list.Msgs[i];
      taken = collection_.take(natsMsg_GetReply(message), natsMsg_GetSubject(message),
                               {natsMsg_GetData(message), static_cast<std::size_t>(natsMsg_GetDataLength(message))},
                               monotonic_ns());
    }
    const bool any = list.Count > 0;
    natsMsgList_Destroy(&list);
    if (!taken) return fail(std::move(taken).error());
    return any;
  }

  Result<> complain(natsStatus status) {
    if (status != NATS_NOT_FOUND && ++failures_ < 100) return {};
    return fail(ErrorCategory::kRefused, "the consumer does not deliver any more: " + nats_words(status),
                "was it, or the stream, deleted?");
  }

  Result<> checkpoint() {
    JTRACE_ASSIGN_OR_RETURN(const std::vector<std::string> replies, collection_.commit());
    for (const std::string& line : collection_.take_notes()) options_.say(line);
    for (const std::string& reply : replies)
      if (!reply.empty()) natsConnection_PublishString(broker_.connection(), reply.c_str(), "+ACK");
    if (!replies.empty()) {
      natsConnection_FlushTimeout(broker_.connection(), 1000);  // what is lost comes again, and is known
      failures_ = 0;
    }
    return {};
  }

  void say_once(const std::string& text) {
    if (said_ == text) return;
    said_ = text;
    options_.say(text);
  }

  Broker& broker_;
  Collection& collection_;
  const CollectOptions& options_;
  std::vector<Subscription> subscriptions_;
  bool alone_ = false;
  int failures_ = 0;
  std::string said_;
};

}  // namespace

Result<bool> create_stream(Broker& broker, const StreamOptions& wanted) {
  jsErrCode code{};
  jsStreamInfo* info = nullptr;
  jsOptions brief;
  jsOptions_Init(&brief);
  brief.Wait = kTryWait;
  natsStatus status = NATS_TIMEOUT;
  for (int i = 0; i < kTries && is_passing(status) && broker.state(); ++i) {
    if (i != 0) nats_Sleep(kTryPause);
    status = js_GetStreamInfo(&info, broker.jetstream(), wanted.stream.c_str(), &brief, &code);
  }
  jsStreamInfo_Destroy(info);
  if (status == NATS_OK) return false;
  const char* subjects[] = {kSubjects.data()};
  jsStreamConfig config;
  jsStreamConfig_Init(&config);
  config.Name = wanted.stream.c_str();
  config.Description = "traces of jtrace";
  config.Subjects = subjects;
  config.SubjectsLen = 1;
  config.Retention = js_LimitsPolicy;
  config.Storage = js_FileStorage;
  config.Discard = js_DiscardNew;
  config.MaxBytes = wanted.max_bytes == 0 ? -1 : static_cast<std::int64_t>(wanted.max_bytes);
  config.MaxAge = static_cast<std::int64_t>(wanted.max_age);
  config.Replicas = wanted.replicas;
  // The window in which repeats are dropped; no server takes one longer than max-age.
  config.Duplicates = config.MaxAge == 0 ? kDuplicates : std::min(kDuplicates, config.MaxAge);
  jsOptions wait;
  jsOptions_Init(&wait);
  wait.Wait = kCreateWait;
  if (status == NATS_NOT_FOUND) status = js_AddStream(nullptr, broker.jetstream(), &config, &wait, &code);
  if (status == NATS_OK) return true;
  if (const Result<> state = broker.state(); !state) return fail(state.error());
  return fail(ErrorCategory::kRefused, "cannot make the stream " + wanted.stream + ": " + nats_words(status),
              "does the server have JetStream (nats-server -js), and may this user make streams?");
}

Result<> collect(Broker& broker, Collection& collection, const CollectOptions& options) {
  Consumers consumers(broker, collection, options);
  JTRACE_RETURN_IF_ERROR(consumers.open());
  return consumers.run();
}

}  // namespace jtrace::fleet
