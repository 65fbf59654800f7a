#include "session/options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/secrets.h"
#include "base/strings.h"
#include "tests/testlib/must.h"
#include "trace/record/control.h"
#include "trace/record/event_names.h"
#include "trace/record/event_words.h"
#include "trace/record/start_options.h"

namespace jtrace::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace trace::record;

Result<TraceOptions> from_string(std::string_view text) {
  OptionReader reader;
  JTRACE_RETURN_IF_ERROR(reader.give_string(text));
  return reader.finish();
}

std::string error_of(std::string_view text) {
  auto options = from_string(text);
  if (options) return "no error";
  EXPECT_EQ(exit_status(options.error()), ExitStatus::kUsage);
  return options.error().message();
}

TEST(Options, DefaultsAreThoseOfTheDesign) {
  const TraceOptions options;
  EXPECT_EQ(
      words_of_events(options.events),
      "threadStart,threadEnd,classUnload,gcStart,gcFinish,monWait,monWaited,monContendedEnter,monContendedEntered,"
      "runtimeInitDone,runtimeShutdown,processSuspend,processResume");
  EXPECT_EQ(options.ring_memory, 64u << 20);
  EXPECT_EQ(options.block_limit_ms, 100u);
  EXPECT_FALSE(options.block_when_full);
}

TEST(Options, TheAgentsStringHasTheWordsOfTheCommandLine) {
  auto options = test::must(from_string(
      "file=/tmp/a\\,b.xml,events=threads+objAlloc,duration=0.25,filter=java.util.* exclude+my.App run include,strict,"
      "when-full=block,names=classic,sample-interval=0,min-free=7%,max-size=1M,rotate=3"));
  EXPECT_EQ(options.output, "/tmp/a,b.xml");
  EXPECT_EQ(options.events, kThreadStartEvent | kThreadEndEvent | kObjAllocEvent);
  EXPECT_EQ(options.duration, 250'000'000u);
  ASSERT_EQ(options.filters.size(), 2u);
  EXPECT_EQ(options.filters[0], (FilterRule{"java.util.*", "*", false}));
  EXPECT_EQ(options.filters[1], (FilterRule{"my.App", "run", true}));
  EXPECT_TRUE(options.strict);
  EXPECT_TRUE(options.block_when_full);
  EXPECT_TRUE(options.classic_names);
  EXPECT_EQ(options.sample_interval, 0u);
  EXPECT_EQ(options.min_free_percent, 7u);
  EXPECT_EQ(options.rotate, 3u);
}

// In the unit of the row: start_options.def.
std::string value_of(StartForm form, std::uint64_t value) {
  if (form != StartForm::kTime) return std::to_string(value);
  const std::string nanoseconds = std::to_string(1'000'000'000 + value % 1'000'000'000).substr(1);
  return std::to_string(value / 1'000'000'000) + "." + nanoseconds;
}

void expect_bounds(std::string_view key, StartForm form, std::uint64_t least, std::uint64_t most) {
  const auto error = [&](std::uint64_t value) {
    return error_of("events=methods," + std::string(key) + "=" + value_of(form, value));
  };
  EXPECT_THAT(error(least), testing::Not(HasSubstr("is not"))) << key;
  if (least != 0) {
    EXPECT_THAT(error(least - 1), HasSubstr("is not"));
  }
  if (most == UINT64_MAX) return;
  EXPECT_THAT(error(most), testing::Not(HasSubstr("is not"))) << key;
  EXPECT_THAT(error(most + 1), HasSubstr("is not"));
}

TEST(Options, EachNumberOfStartHasTheBoundsOfItsRow) {
#define START_VALUE(type, Name, member, form, normal, least, most, key, help) \
  expect_bounds(key, StartForm::k##form, least, most);
#include "trace/record/start_options.def"
}

TEST(Options, APlusInAFileNameIsKept) {
  EXPECT_EQ(from_string("file=a+b.xml")->output, "a+b.xml");
  EXPECT_EQ(from_string("file=a\\\\b")->output, "a\\b");
}

TEST(Options, ListsOfTheCommandLineHaveCommas) {
  OptionReader reader;
  ASSERT_TRUE(reader.give("events", "gc,monWait"));
  ASSERT_TRUE(reader.give("file", "a,b+c.xml"));
  auto options = reader.finish();
  EXPECT_EQ(options->events, kGcEvent | kMonWaitEvent);
  EXPECT_EQ(options->output, "a,b+c.xml");
}

TEST(Options, WrongOnesSayWhatIsWrong) {
  EXPECT_EQ(error_of("port=1"), "unknown option 'port'; `jtrace attach --help` lists them");
  EXPECT_EQ(error_of("file=/tmp/\xc3.xml"), "option output: its value is not UTF-8: byte 0xc3 at offset 5");
  EXPECT_EQ(error_of("f\xffle=x"), "an option's name is not UTF-8: byte 0xff at offset 1");
  EXPECT_EQ(error_of("durration=5"), "unknown option 'durration'; did you mean 'duration'?");
  const std::string joined = "; values of events are joined by '+' here: events=A+B";
  EXPECT_EQ(error_of("events=threads,gc"), "unknown option 'gc'" + joined);
  EXPECT_EQ(error_of("events=threads,strcit"), "unknown option 'strcit'; did you mean 'strict'?");
  EXPECT_EQ(error_of("events=threads,strict,gc"), "unknown option 'gc'; `jtrace attach --help` lists them");
  EXPECT_THAT(error_of("filter=java.util.*,my.App run"), HasSubstr("values of filter are joined by '+' here"));
  EXPECT_EQ(error_of("duration=5,duration=6"), "option duration is given twice; give it once");
  EXPECT_EQ(error_of("duration"), "option duration has no value; it takes TIME");
  EXPECT_EQ(error_of("file="), "option output has no value; it takes FILE");
  EXPECT_THAT(error_of("duration=soon"), HasSubstr("'soon'"));
  EXPECT_THAT(error_of("duration=-1"), HasSubstr("'-1'"));
  EXPECT_THAT(error_of("ring-memory=1K"), HasSubstr("'1K' is not a size from 1M to 4G"));
  EXPECT_THAT(error_of("sample-interval=2G"), HasSubstr("'2G' is not a size from 0 to just below 2G"));
  EXPECT_THAT(error_of("names=nice"), HasSubstr("'exact' or 'classic'"));
  EXPECT_THAT(error_of("strict=maybe"), HasSubstr("'maybe'"));
  EXPECT_THAT(error_of("rotate=2"), HasSubstr("max-size"));
  EXPECT_THAT(error_of("fragments,doctype"), HasSubstr("DOCTYPE"));
  EXPECT_THAT(error_of("strict,,strict"), HasSubstr("between two commas"));
  EXPECT_THAT(error_of("block-limit=99999"), HasSubstr("10s"));
  EXPECT_THAT(error_of("slower-than=0"), HasSubstr("above 0"));
  EXPECT_THAT(error_of("min-contention=2m"), HasSubstr("from 0 to 1m"));
  EXPECT_EQ(from_string("min-contention=50us")->min_contention, 50'000u);
  EXPECT_EQ(from_string("min-contention=0")->min_contention, 0u);
  EXPECT_THAT(error_of("slower-than=20ms"), HasSubstr("--events methods"));
  EXPECT_THAT(error_of("events=methods,slower-than=2ms"), HasSubstr("--time precise"));
  EXPECT_TRUE(from_string("events=methods,slower-than=2ms,time=precise"));
  EXPECT_THAT(error_of("events=methods,longest-from=5ms"), HasSubstr("needs slower-than"));
  EXPECT_THAT(error_of("events=methods,slower-than=1,longest-from=2ms"), HasSubstr("--time precise"));
  EXPECT_THAT(error_of("events=methods,slower-than=20ms,longest-from=20ms"), HasSubstr("anyway"));
  EXPECT_TRUE(from_string("events=methods,slower-than=1,longest-from=3ms"));
  EXPECT_TRUE(from_string("events=methods,slower-than=1,longest-from=100us,time=precise"));
  EXPECT_THAT(error_of("arguments"), HasSubstr("--events methods"));
  EXPECT_TRUE(from_string("events=methods,arguments,return-values,slower-than=1"));
  const auto exact = from_string("events=objects+allocations");
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->events, kAllocationEvent | kObjFreeEvent);  // exact instead of sampled
  EXPECT_EQ(exact->stack_depth, 1u);
  EXPECT_EQ(words_of_events(exact->events), "objFree,allocations");
  EXPECT_EQ(from_string("events=allocations,stack-depth=7")->stack_depth, 7u);
  EXPECT_THAT(error_of("objects"), HasSubstr("--events methods"));
  EXPECT_THAT(error_of("cpu-time"), HasSubstr("--events methods"));
  EXPECT_TRUE(from_string("events=lines,cpu-time")->cpu_time);
  EXPECT_TRUE(from_string("events=methods,cpu-time,objects,arguments,time=precise"));
  EXPECT_TRUE(from_string("events=methods,objects,slower-than=1"));
  EXPECT_TRUE((from_string("events=methods,objects")->events & trace::record::kObjFreeEvent) != 0);
}

TEST(Options, CallsAsTheirCallersSeeThem) {
  for (const char* name : {"calls", "methodCall", "methodReturn"})
    EXPECT_EQ(from_string("events=" + std::string(name))->events, trace::record::kCallEvent + 0u) << name;
  EXPECT_TRUE(from_string("events=calls,cpu-time")->cpu_time);
  EXPECT_THAT(error_of("events=methods+calls,slower-than=1"), HasSubstr("leave out calls"));
  EXPECT_THAT(error_of("events=calls,arguments"), HasSubstr("need methods"));
}

TEST(Options, ThatChangeNothingAreNamed) {
  const auto unused = [](const std::string& text) { return from_string(text)->unused; };
  EXPECT_THAT(
      unused("events=gc,filter=a.*"),
      ElementsAre(
          "option filter has no effect: it is for --events objects, methods, calls, counts, lines, exceptions or "
          "allocations"));
  EXPECT_THAT(unused("monitor-owner,events=gc"), ElementsAre(HasSubstr("option monitor-owner has no effect")));
  EXPECT_THAT(unused("monitor-owner,events=parks"), ElementsAre(HasSubstr("it is for --events monitors")));
  EXPECT_THAT(unused("events=allocations,sample-interval=0"), ElementsAre(HasSubstr("option sample-interval has no")));
  EXPECT_THAT(unused("events=methods,stack-depth=3"), ElementsAre(HasSubstr("option stack-depth has no effect")));
  EXPECT_THAT(unused("events=gc,min-contention=0"), ElementsAre(HasSubstr("option min-contention has no effect")));
  EXPECT_THAT(unused("block-limit=7"), ElementsAre(HasSubstr("option block-limit has no effect")));
  for (const char* used :
       {"", "events=counts,filter=a.*", "events=exceptions,filter=a.*", "events=objects,filter=a.*", "monitor-owner",
        "events=monitors,monitor-owner", "events=objects,sample-interval=0,stack-depth=3",
        "events=allocations,stack-depth=3,filter=a.*", "when-full=block,block-limit=7"})
    EXPECT_THAT(unused(used), ElementsAre()) << used;
}

TEST(Options, AFilterAloneIsForCalls) {
  const auto filtered = from_string("filter=a.*");
  EXPECT_EQ(filtered->events, trace::record::default_events() | trace::record::kMethodEvent);
  EXPECT_THAT(filtered->unused, ElementsAre());
  EXPECT_TRUE(from_string("filter=a.*,slower-than=20ms")) << "as with --events methods";
  EXPECT_EQ(from_string("filter=a.*,events=counts")->events, trace::record::kMethodCountEvent + 0u);
  EXPECT_EQ(from_string("")->events, trace::record::default_events());
}

TEST(Options, EventsThatAreWrong) {
  EXPECT_EQ(error_of("events=gcstart"), "unknown event 'gcstart'; did you mean 'gcStart'?");
  EXPECT_THAT(error_of("events=threads+methodreturn"), HasSubstr("'methodReturn'"));
  EXPECT_THAT(error_of("events=threads++gc"), HasSubstr("events"));
}

TEST(Options, EveryEffectiveOptionIsEchoedSecretsOfOthersAreMasked) {
  const auto echoed = effective_options(*from_string("duration=1.5,filter=a* exclude"));
  const auto value = [&](std::string_view key) {
    for (const EchoedOption& option : echoed)
      if (option.key == key) return option.value;
    return std::string("missing");
  };
  EXPECT_EQ(value("duration"), "1.5");
  EXPECT_EQ(value("when-full"), "drop");
  EXPECT_EQ(value("min-contention"), "0.001");
  EXPECT_EQ(value("fragments"), "false");
  EXPECT_EQ(value("min-free"), "5%");
  EXPECT_EQ(value("filter"), "missing");  // filter elements have them
  EXPECT_EQ(mask_secrets_of_words({"java", "-Dapi.token=abc", "Main", "--password", "hunter2", "x"}),
            "java -Dapi.token=*** Main --password *** x");
  EXPECT_EQ(masked_option_string("file=x,secret=abc"), "file=x,secret=***");
}

TEST(FilterRules, PatternsAreJavasAndSlashesAreTaken) {
  EXPECT_EQ(*parse_filter_rule("  java/util/*   exclude "), (FilterRule{"java.util.*", "*", false}));
  EXPECT_EQ(*parse_filter_rule("*Test run* INCLUDE"), (FilterRule{"*Test", "run*", true}));
  EXPECT_EQ(generic_word("*Test"), "prefix");
  EXPECT_EQ(generic_word("java.*"), "suffix");
  EXPECT_EQ(generic_word("java.lang.String"), "none");
}

TEST(FilterRules, WrongOnesSayWhatIsWrong) {
  for (const auto& [rule, words] : std::vector<std::pair<std::string, std::string>>{
           {"java.*.List include", "neither at the start nor at the end"},
           {"*a* include", "more than one"},
           {"java.util.* inclade", "did you mean 'include'?"},
           {"a.b m maybe", "'maybe' is neither include nor exclude"},
           {"a.b inclde", "'inclde' is neither include nor exclude; did you mean 'include'?"},
           {" include", "the pattern is empty"},
           {"a\xff include", "not UTF-8: byte 0xff at offset 1"},
           {"a b c include", "three words"},
           {"", "empty"}}) {
    auto made = parse_filter_rule(rule);
    ASSERT_FALSE(made) << rule;
    EXPECT_EQ(made.error().category, ErrorCategory::kUsage);
    EXPECT_THAT(made.error().message(), HasSubstr(words));
  }
}

TEST(FilterRules, WithoutAModeItIsAnInclude) {
  EXPECT_EQ(*parse_filter_rule("com.example.*"), (FilterRule{"com.example.*", "*", true}));
  EXPECT_EQ(*parse_filter_rule("java.lang.System gc"), (FilterRule{"java.lang.System", "gc", true}));
  EXPECT_EQ(*parse_filter_rule("shop.* execute"), (FilterRule{"shop.*", "execute", true}));
}

TEST(FilterRules, ThoseThatOnlyIncludeExcludeTheRest) {
  const auto rules_of = [](const std::string& text) {
    return test::must(from_string("events=methods," + text)).filters;
  };
  const FilterRule rest{"*", "*", false};
  EXPECT_EQ(rules_of("filter=my.*+other.App run include"),
            (std::vector<FilterRule>{{"my.*", "*", true}, {"other.App", "run", true}, rest}));
  EXPECT_EQ(rules_of("filter=my.* exclude"), (std::vector<FilterRule>{{"my.*", "*", false}}));
  EXPECT_EQ(rules_of("filter=my.Own include+my.* exclude").size(), 2u);
  EXPECT_EQ(rules_of("filter=* include").size(), 1u);
  EXPECT_TRUE(rules_of("strict").empty());
}

TEST(FilterRules, FitInOneFrame) {
  const FilterRule rule{std::string(100, 'a'), "*", true};
  EXPECT_TRUE(check_size(std::vector<FilterRule>(9'000, rule)));
  const auto refused = check_size(std::vector<FilterRule>(10'000, rule));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("10000 filters take"));
}

TEST(FilterRules, GoToTheAgentInInternalForm) {
  const std::string bytes = encode_filter_rules({{"java.util.*", "run", false}});
  EXPECT_EQ(bytes, std::string("\1\0\0\0\0\x0b\0\0\0java/util/*\3\0\0\0run", 27));
}

}  // namespace
}  // namespace jtrace::session
