// Finding by a few letters.
#include "app/window/kit/fuzzy.h"

#include <catch2/catch.hpp>

using namespace heddle::app;

TEST_CASE("letters match in order, whatever the case", "[app]") {
  CHECK(fuzzy_match("Why not II", "wni"));
  CHECK(fuzzy_match("Why not II", "WHY II"));
  CHECK_FALSE(fuzzy_match("Why not II", "iiw"));
  CHECK_FALSE(fuzzy_match("QK", "QK0"));
  CHECK_FALSE(fuzzy_match("", "a"));
  REQUIRE(fuzzy_match("anything", ""));
  CHECK(fuzzy_match("anything", "")->letters.empty());
  CHECK(fuzzy_match("anything", "   ")->score == 0);
}

TEST_CASE("the letters that are shown are those of the best match", "[app]") {
  CHECK(fuzzy_match("consumer QK0", "qk")->letters == std::vector<std::size_t>{9, 10});
  CHECK(fuzzy_match("Why not II", "wni")->letters == std::vector<std::size_t>{0, 4, 8});
  // A run beats a gap, but not the beginning of the text.
  CHECK(fuzzy_match("xaab", "ab")->letters == std::vector<std::size_t>{2, 3});
  CHECK(fuzzy_match("aab", "ab")->letters == std::vector<std::size_t>{0, 2});
  // The letters matched spell the pattern, and ascend.
  for (const char* pattern : {"ehp", "tch", "x", "the", "hsh"}) {
    const std::string text = "The exact half of the hatch";
    const auto match = fuzzy_match(text, pattern);
    if (!match) continue;
    for (std::size_t i = 0; i < match->letters.size(); ++i) {
      CHECK(std::tolower(text[match->letters[i]]) == pattern[i]);
      if (i > 0) CHECK(match->letters[i] > match->letters[i - 1]);
    }
  }
}

TEST_CASE("beginnings of words and unbroken runs come first", "[app]") {
  CHECK(fuzzy_match("Solve", "so")->score > fuzzy_match("resort", "so")->score);
  CHECK(fuzzy_match("zoom in", "zi")->score > fuzzy_match("azimuth", "zi")->score - 8);
  CHECK(fuzzy_match("exp0", "exp0")->score > fuzzy_match("experiment 0", "exp0")->score);
}

TEST_CASE("a ranked list puts what was used before other equals", "[app]") {
  const std::vector<Choice> choices{{"op/a", "op", "alpha", ""}, {"op/b", "op", "beta", ""}, {"op/c", "op", "gamma", "TC"}};
  const auto plain = rank(choices, "", {});
  REQUIRE(plain.size() == 3);
  CHECK(plain[0].index == 0);
  const auto used = rank(choices, "", {"op/c", "op/b"});
  CHECK(used[0].index == 2);
  CHECK(used[1].index == 1);
  CHECK(used[2].index == 0);
  CHECK(rank(choices, "tc", {}).front().index == 2);
  CHECK(rank(choices, "tc", {}).front().letters.empty());
  CHECK(rank(choices, "zzz", {}).empty());
}

TEST_CASE("any bytes can be searched", "[app]") {
  std::string wild;
  for (int i = 1; i < 256; ++i) wild += static_cast<char>(i);
  CHECK(fuzzy_match(wild, "a"));
  CHECK_FALSE(fuzzy_match("a", wild));
  CHECK(fuzzy_match(std::string(10000, 'a'), "aaa"));
}
