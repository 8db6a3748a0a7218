// Colours that can be read: every pair that the window draws, computed in all themes.
#include "app/window/kit/theme.h"

#include <catch2/catch.hpp>

#include "app/session/settings.h"
#include "app/window/kit/contrasts.h"

using namespace heddle;
using namespace heddle::app;

TEST_CASE("every ink stands out from every surface that it is drawn on, in every theme", "[ui]") {
  for (const ThemeName name : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast}) {
    const auto pairs = contrast_pairs(name);
    CHECK(pairs.size() > 150);
    for (const ContrastPair& pair : pairs) {
      INFO(to_string(name) << ": " << pair.ink << " on " << pair.surface);
      CHECK(pair.ratio >= pair.least);
    }
  }
}

TEST_CASE("body text and high contrast exceed the minimum", "[ui]") {
  for (const ThemeName name : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast})
    for (const ContrastPair& pair : contrast_pairs(name)) {
      INFO(to_string(name) << ": " << pair.ink << " on " << pair.surface);
      if (pair.ink == "text") CHECK(pair.ratio >= 7);
      if (name == ThemeName::HighContrast && (pair.ink == "dim" || pair.ink == "faint")) CHECK(pair.ratio >= 7);
    }
}

TEST_CASE("the table of contrasts names every ink once", "[ui]") {
  const std::string table = contrast_table();
  for (const char* ink : {"text ", "faint", "warning, in its pill", "label on a bar", "critical outline"}) {
    INFO(ink);
    CHECK(table.find(ink) != std::string::npos);
  }
}

TEST_CASE("contrast is the ratio of the web accessibility guidelines", "[ui]") {
  CHECK(contrast(0xff000000u, 0xffffffffu) == Approx(21));
  CHECK(contrast(0xff777777u, 0xff777777u) == Approx(1));
}
