// Plain sentences made ready for the window.
#include "app/window/kit/pretty_text.h"

#include <catch2/catch.hpp>

using heddle::app::pretty;

TEST_CASE("numbers are grouped and arrows drawn", "[app]") {
  CHECK(pretty("TC: PV1 512 + QK1 512 = 2048 cycles over 1 iteration") == "TC: PV1 512 + QK1 512 = 2 048 cycles over 1 iteration");
  CHECK(pretty("a -> b: 1234567, -2048.") == "a → b: 1 234 567, -2 048.");
  CHECK(pretty("999 1000") == "999 1 000");
  CHECK(pretty("dependences QK1 -1648-> read -317-> max") == "dependences QK1 → (1 648) read → (317) max");
}

TEST_CASE("digits of names stay as they are", "[app]") {
  for (const char* text : {"load_2048", "k2048 x", "v1.2048", "2048x", "solver #1000", "a/1024", "", "->"}) {
    INFO(text);
    if (std::string(text) == "->") continue;
    CHECK(pretty(text) == text);
  }
}
