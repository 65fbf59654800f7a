#include "agent/methods/number_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace jtrace::agent {
namespace {

TEST(IdMap, IsAMapWhateverIsPutAndErased) {
  std::mt19937 random(7);
  IdMap map;
  std::map<std::uint64_t, std::uint32_t> model;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t key = random() % 200 + 1;
    const auto value = static_cast<std::uint32_t>(random() % 1000 + 1);
    if (random() % 2 == 0) {
      map.put(key, value);
      model[key] = value;
    } else {
      map.erase(key);
      model.erase(key);
    }
    const std::uint64_t asked = random() % 200 + 1;
    const auto known = model.find(asked);
    ASSERT_EQ(map.find(asked), known == model.end() ? 0u : known->second);
    ASSERT_EQ(map.size(), model.size());
  }
  std::map<std::uint64_t, std::uint32_t> all;
  map.for_each([&](std::uint64_t key, std::uint32_t value) { all[key] = value; });
  EXPECT_EQ(all, model);
}

std::vector<std::uint32_t> list(const NumberLists& lists, std::uint64_t key) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t node = lists.first(key); node != 0; node = lists.next(node)) all.push_back(lists.value(node));
  return all;
}

TEST(NumberLists, NodesGoFromAnywhereInAList) {
  using ::testing::ElementsAre;
  NumberLists lists;
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t value : {0u, 1u, 2u, 3u, 4u}) nodes.push_back(lists.add(7, value));
  const std::uint32_t other = lists.add(8, 9);
  EXPECT_THAT(list(lists, 7), ElementsAre(4, 3, 2, 1, 0));
  lists.remove(nodes[2]);
  lists.remove(nodes[4]);
  lists.remove(nodes[0]);
  EXPECT_THAT(list(lists, 7), ElementsAre(3, 1));
  EXPECT_THAT(list(lists, 8), ElementsAre(9));
  lists.remove(nodes[1]);
  lists.remove(nodes[3]);
  lists.remove(other);
  EXPECT_EQ(lists.first(7) + lists.first(8), 0u);
}

TEST(NumberLists, ANodeThatIsFreeIsUsedAgain) {
  NumberLists lists;
  const std::uint32_t first = lists.add(1, 5);
  lists.add(1, 6);
  lists.remove(first);
  EXPECT_EQ(lists.add(2, 7), first);
  EXPECT_THAT(list(lists, 2), ::testing::ElementsAre(7));
  EXPECT_THAT(list(lists, 1), ::testing::ElementsAre(6));
}

}  // namespace
}  // namespace jtrace::agent
