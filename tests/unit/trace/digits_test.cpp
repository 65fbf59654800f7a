#include "trace/digits.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace jtrace::trace {
namespace {

std::string number(std::uint64_t value) {
  char room[kMaxDigits];
  return std::string(room, put_number(room, value));
}

std::string time_of(TimeFormatter& formatter, std::uint64_t ns) {
  char room[kMaxDigits];
  return std::string(room, formatter.put(room, ns));
}

std::string expected_time(std::uint64_t ns) {
  char text[64];
  std::snprintf(text, sizeof text, "%llu.%09llu", static_cast<unsigned long long>(ns / 1'000'000'000),
                static_cast<unsigned long long>(ns % 1'000'000'000));
  return text;
}

TEST(Digits, NumbersAroundEveryPowerOfTen) {
  std::uint64_t power = 1;
  for (int digits = 1; digits <= 20; ++digits, power *= 10)
    for (std::uint64_t value : {power - 1, power, power + 1, power * 9, power + power / 2})
      EXPECT_EQ(number(value), std::to_string(value));
  EXPECT_EQ(number(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(Digits, AllSmallAndManyLargeNumbers) {
  for (std::uint64_t value = 0; value < 200'000; ++value) ASSERT_EQ(number(value), std::to_string(value));
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    ASSERT_EQ(number(value), std::to_string(value));
  }
}

TEST(Digits, WordListFromTwoToTheThirtyTwo) {
  const auto words = [](std::uint64_t value) {
    char room[kMaxDigits];
    return std::string(room, put_word_list(room, value));
  };
  EXPECT_EQ(words(1), "1");
  EXPECT_EQ(words(4'294'967'295), "4294967295");
  EXPECT_EQ(words(4'294'967'296), "0,1");
  EXPECT_EQ(words(std::numeric_limits<std::uint64_t>::max()), "4294967295,4294967295");
}

TEST(Digits, CountsOnAndFromAnywhere) {
  CountFormatter formatter;
  const auto count = [&formatter](std::uint64_t value) {
    char room[kMaxDigits];
    return std::string(room, formatter.put_list(room, value));
  };
  for (std::uint64_t start : {0u, 1u, 95u, 99'990u, 7u, 4'294'967'285u})
    for (std::uint64_t value = start; value < start + 30; ++value)
      ASSERT_EQ(count(value), value <= 0xffffffff
                                  ? std::to_string(value)
                                  : std::to_string(value & 0xffffffff) + "," + std::to_string(value >> 32));
}

TEST(Digits, TheSameTimeAgain) {
  TimeFormatter formatter;
  for (std::uint64_t ns : {0u, 0u, 5u, 5u, 1'000'000'000u, 1'000'000'000u, 5u, 5u})
    EXPECT_EQ(time_of(formatter, ns), expected_time(ns));
}

TEST(Digits, TimesForwardAndBackwardOverSeconds) {
  TimeFormatter formatter;
  const std::vector<std::uint64_t> times = {0,
                                            1,
                                            999'999'999,
                                            1'000'000'000,
                                            1'763'650'001'200'012'345,
                                            1'763'650'001'999'999'999,
                                            1'763'650'002'000'000'000,
                                            1'763'650'001'000'000'000,
                                            9'999'999'999'999'999'999u,
                                            18'446'744'073'709'551'614u,
                                            5};
  for (std::uint64_t ns : times) EXPECT_EQ(time_of(formatter, ns), expected_time(ns));
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t ns = 1'763'650'001'000'000'000 + random() % 3'000'000'000;
    ASSERT_EQ(time_of(formatter, ns), expected_time(ns));
  }
}

}  // namespace
}  // namespace jtrace::trace
