#include "perfdata/push_outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jtrace::perfdata {
namespace {

using ::testing::HasSubstr;
using Kind = PushOutcome::Kind;

constexpr std::uint64_t kNow = 1'795'807'800'000'000'000;  // Fri, 27 Nov 2026 19:30:00 GMT

PushOutcome answered(int status, std::string body = "", std::string retry_after = "") {
  return outcome_of(HttpReply{status, std::move(retry_after), std::move(body)}, kNow);
}

TEST(PushOutcome, IsTakenWithWhatTheServerDidNotKeep) {
  EXPECT_EQ(answered(200, "{}").reason, "");
  EXPECT_EQ(answered(202, "thanks").kind, Kind::kTaken);
  const PushOutcome partial =
      answered(200, R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too\nold"}})");
  EXPECT_EQ(partial.kind, Kind::kTaken);
  EXPECT_EQ(partial.rejected, 3);
  EXPECT_EQ(partial.reason, "the server did not keep 3 points: too?old");
  EXPECT_EQ(answered(200, R"({"partialSuccess":{"rejectedDataPoints":1}})").rejected, 1);
  EXPECT_EQ(answered(200, R"({"partialSuccess":{"errorMessage":"soon gone"}})").reason, "the server says: soon gone");
  for (const char* odd : {R"({"partialSuccess":7})", R"([])", R"({"partialSuccess":{"rejectedDataPoints":"-4"}})",
                          R"({"partialSuccess":{"rejectedDataPoints":1e300}})"})
    EXPECT_EQ(answered(200, odd).rejected, 0) << odd;
}

TEST(PushOutcome, IsTriedAgainWhereTheProtocolSaysSo) {
  for (const int status : {429, 502, 503, 504}) EXPECT_EQ(answered(status).kind, Kind::kTryAgain) << status;
  for (const int status : {301, 400, 401, 404, 408, 413, 500, 501})
    EXPECT_EQ(answered(status).kind, Kind::kLost) << status;
  EXPECT_EQ(answered(503, "", "7").after, std::chrono::seconds(7));
  EXPECT_EQ(answered(503, "", "86400").after, std::chrono::seconds(86400));
  EXPECT_GE(answered(503, "", "99999999999999999999").after, std::chrono::hours(24 * 365));
  EXPECT_EQ(answered(503, "", "Fri, 27 Nov 2026 19:31:00 GMT").after, std::chrono::seconds(60));
  EXPECT_EQ(answered(503, "", "Thu, 26 Nov 2026 19:31:00 GMT").after, std::chrono::seconds(0));
  for (const char* odd : {"", "soon", "-5", "1.5", "Fri, 27 Nov 2026 19:31:00 CET"})
    EXPECT_EQ(answered(503, "", odd).after, std::nullopt) << odd;
  EXPECT_EQ(answered(403).category, ErrorCategory::kPermission);
  EXPECT_EQ(answered(400, R"({"code":3,"message":"no such field"})").reason, "the server answers 400: no such field");
  EXPECT_THAT(answered(404, "<html>").reason, HasSubstr("404: <html>; the path is /v1/metrics"));
}

TEST(PushOutcome, OfALostConnectionIsAnotherTryAndOfAForeignProtocolNot) {
  EXPECT_EQ(outcome_of(fail(ErrorCategory::kRefused, "gone"), kNow).kind, Kind::kTryAgain);
  EXPECT_EQ(outcome_of(fail(ErrorCategory::kTimeout, "slow"), kNow).kind, Kind::kTryAgain);
  EXPECT_EQ(outcome_of(fail(ErrorCategory::kMalformed, "SSH"), kNow).kind, Kind::kLost);
}

TEST(PushOutcome, WaitsDoubleUpToHalfAMinute) {
  EXPECT_EQ(wait_before_try(1, 1).count(), 1000);
  EXPECT_EQ(wait_before_try(1, 0).count(), 500);
  EXPECT_EQ(wait_before_try(3, 1).count(), 4000);
  EXPECT_EQ(wait_before_try(1000, 1).count(), 30'000);
}

}  // namespace
}  // namespace jtrace::perfdata
