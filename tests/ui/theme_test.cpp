// Colours that can be read: contrast of every role and of the text colours, in all themes.
#include "app/ui/theme.h"

#include <catch2/catch.hpp>

#include "app/session/settings.h"

using namespace heddle;
using namespace heddle::app;

TEST_CASE("labels on bars have a contrast of at least 4.5 in every role", "[ui]") {
  for (const UnitRole role : {UnitRole::Tensor, UnitRole::Copy, UnitRole::Special, UnitRole::Float, UnitRole::Alu,
                              UnitRole::Smem, UnitRole::Tmem, UnitRole::Sync, UnitRole::Other}) {
    INFO(to_string(role));
    CHECK(contrast(role_color(role).fill, role_color(role).text) >= 4.5);
  }
}

TEST_CASE("text can be read on every surface of every theme", "[ui]") {
  for (const ThemeName name : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast}) {
    INFO(to_string(name));
    const Theme& t = theme_named(name);
    for (const Color surface : {t.window, t.panel, t.card, t.input, t.chart, t.row, t.row_alternate}) {
      CHECK(contrast(t.text, surface) >= 7);
      for (const Color ink : {t.dim, t.faint, t.heading, t.accent, t.good, t.warning, t.bad})
        CHECK(contrast(ink, surface) >= 4.0);
    }
    for (const Color surface : {t.selected, t.hovered, t.raised}) CHECK(contrast(t.text, surface) >= 7);
    CHECK(contrast(t.accent_text, t.accent) >= 4.5);
    CHECK(contrast(t.good, t.good_fill) >= 4.5);
    CHECK(contrast(t.warning, t.warning_fill) >= 4.5);
    CHECK(contrast(t.bad, t.bad_fill) >= 4.5);
  }
}

TEST_CASE("contrast is the ratio of the web accessibility guidelines", "[ui]") {
  CHECK(contrast(0xff000000u, 0xffffffffu) == Approx(21));
  CHECK(contrast(0xff777777u, 0xff777777u) == Approx(1));
}
