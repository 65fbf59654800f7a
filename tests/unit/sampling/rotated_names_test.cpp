// Files with their time in the name, and which of them are too old.
#include "sampling/rotated_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "tests/testlib/scratch_dir.h"

namespace jtrace::sampling {
namespace {

constexpr std::uint64_t kTime = 1'700'000'000 * kNanosPerSecond;

TEST(RotatedNames, HaveTheTimeBeforeTheEnding) {
  EXPECT_EQ(rotated_name("d/app.html", ".html", kTime), "d/app.20231114-221320.html");
  EXPECT_EQ(rotated_name("app.speedscope.json", ".speedscope.json", kTime), "app.20231114-221320.speedscope.json");
}

TEST(RotatedNames, AreTooOldBeforeATimeAndOthersAreNobodys) {
  const test::ScratchDir folder;
  for (const char* name :
       {"app.20231114-221319.html", "app.20231114-221320.html", "app.20231114-221319.pb.gz",
        "application.20231114-221319.html", "app.html", "app.20231114x221319.html", "app.2023111a-221319.html"})
    std::ofstream(folder.file(name)) << "x";
  EXPECT_EQ(rotated_before(folder.file("app.html"), ".html", kTime),
            std::vector<std::string>{folder.file("app.20231114-221319.html")});
  EXPECT_TRUE(rotated_before(folder.file("none/app.html"), ".html", kTime).empty());
}

}  // namespace
}  // namespace jtrace::sampling
