// Chords as people write them.
#include "app/platform/chord.h"

#include <catch2/catch.hpp>

using namespace heddle::app;

TEST_CASE("every chord is printed as it is read", "[app]") {
  for (int key = 0; key < static_cast<int>(Key::Count); ++key)
    for (int modifiers = 0; modifiers < 8; ++modifiers) {
      const Chord chord{static_cast<Key>(key), (modifiers & 1) != 0, (modifiers & 2) != 0, (modifiers & 4) != 0};
      INFO(to_string(chord));
      REQUIRE(parse_chord(to_string(chord)) == chord);
    }
}

TEST_CASE("chords are read whatever the case and the order of modifiers", "[app]") {
  CHECK(parse_chord("ctrl+shift+p") == Chord{Key::P, true, true, false});
  CHECK(parse_chord("Shift+Ctrl+P") == Chord{Key::P, true, true, false});
  CHECK(parse_chord("f5") == Chord{Key::F5});
  CHECK(parse_chord("?") == Chord{Key::Slash, false, true});
  CHECK(parse_chord("Ctrl+=") == Chord{Key::Equal, true});
  CHECK(parse_chord("pagedown") == Chord{Key::PageDown});
}

TEST_CASE("what is no chord is refused", "[app]") {
  for (const char* text : {"", "+", "Ctrl+", "Ctrl", "Ctrl+Ctrl+A", "Hyper+A", "F0", "F13", "F", "AB", "Ctrl+\x01", "é"}) {
    INFO(text);
    if (std::string(text) == "F") continue;  // a letter
    CHECK_FALSE(parse_chord(text));
  }
}

TEST_CASE("several chords stand apart by spaces", "[app]") {
  CHECK(parse_chords("A Left").size() == 2);
  CHECK(parse_chords("  A  nonsense  a ").size() == 1);
  CHECK(parse_chords("").empty());
  CHECK(to_string(parse_chords("a left")) == "A  Left");
}
