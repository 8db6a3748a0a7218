#include "app/window/kit/contrasts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "app/session/settings.h"

namespace heddle::app {
namespace {

struct Named {
  const char* name;
  Color Theme::*color;
};

constexpr double kText = 4.5, kShape = 3;

// Panels, cards, rows of lists in their states, fields, buttons, and the chart.
constexpr Named kSurfaces[] = {{"window", &Theme::window},   {"panel", &Theme::panel},
                               {"card", &Theme::card},       {"raised", &Theme::raised},
                               {"input", &Theme::input},     {"selected", &Theme::selected},
                               {"hovered", &Theme::hovered}, {"chart", &Theme::chart},
                               {"row", &Theme::row},         {"alternate row", &Theme::row_alternate},
                               {"tooltip", &Theme::tooltip}};
constexpr Named kInks[] = {{"text", &Theme::text},     {"dim", &Theme::dim},   {"faint", &Theme::faint},     {"heading", &Theme::heading},
                           {"accent", &Theme::accent}, {"good", &Theme::good}, {"warning", &Theme::warning}, {"bad", &Theme::bad}};
constexpr Named kChart[] = {{"chart", &Theme::chart}, {"row", &Theme::row}, {"alternate row", &Theme::row_alternate}};
constexpr Named kLines[] = {{"II line", &Theme::ii_line},
                            {"hair-line", &Theme::hairline},
                            {"critical outline", &Theme::outline},
                            {"arrow", &Theme::arrow},
                            {"carried arrow", &Theme::carried_arrow}};
constexpr UnitRole kRoles[] = {UnitRole::Tensor, UnitRole::Copy, UnitRole::Special, UnitRole::Float, UnitRole::Alu,
                               UnitRole::Smem,   UnitRole::Tmem, UnitRole::Sync,    UnitRole::Other};

}  // namespace

std::vector<ContrastPair> contrast_pairs(ThemeName name) {
  const Theme& t = theme_named(name);
  std::vector<ContrastPair> pairs;
  const auto add = [&](std::string ink, std::string surface, Color a, Color b, double least) {
    pairs.push_back({std::move(ink), std::move(surface), contrast(a, b), least});
  };
  for (const Named& ink : kInks)
    for (const Named& surface : kSurfaces) add(ink.name, surface.name, t.*ink.color, t.*surface.color, kText);
  add("text on the accent", "accent", t.accent_text, t.accent, kText);
  add("good, in its pill", "good fill", t.good, t.good_fill, kText);
  add("warning, in its pill", "warning fill", t.warning, t.warning_fill, kText);
  add("bad, in its pill", "bad fill", t.bad, t.bad_fill, kText);
  for (const Named& line : kLines)
    for (const Named& surface : kChart) add(line.name, surface.name, t.*line.color, t.*surface.color, kShape);
  for (const Named& surface : {kSurfaces[1], kSurfaces[2], kSurfaces[4]})
    add("edge of a field", surface.name, t.edge, t.*surface.color, kShape);
  for (const UnitRole role : kRoles) {
    const std::string unit = to_string(role);
    add("label on a bar", unit, role_color(role).text, role_color(role).fill, kText);
    for (const Named& surface : kChart) {
      add("unit's name", unit + " on " + surface.name, role_ink(role, name), t.*surface.color, kText);
      add("bar or its edge", unit + " on " + surface.name, role_edge(role, name), t.*surface.color, kShape);
    }
    add("unit's name", unit + " on panel", role_ink(role, name), t.panel, kText);
    add("unit's name", unit + " on tooltip", role_ink(role, name), t.tooltip, kText);
  }
  return pairs;
}

std::string contrast_table() {
  constexpr ThemeName kThemes[] = {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast};
  struct Line {
    double least = 0;
    double smallest[3] = {99, 99, 99};
    std::string where[3];
  };
  std::vector<std::string> order;
  std::map<std::string, Line> lines;
  for (std::size_t i = 0; i < std::size(kThemes); ++i)
    for (const ContrastPair& pair : contrast_pairs(kThemes[i])) {
      if (!lines.count(pair.ink)) order.push_back(pair.ink);
      Line& line = lines[pair.ink];
      line.least = pair.least;
      if (pair.ratio < line.smallest[i]) line.smallest[i] = pair.ratio, line.where[i] = pair.surface;
    }
  std::string out = fmt::format("{:<22} {:>5}   {:<28} {:<28} {:<28}\n", "smallest contrast of", "needs", "dark", "light", "high contrast");
  for (const std::string& ink : order) {
    const Line& line = lines[ink];
    out += fmt::format("{:<22} {:>5.1f}  ", ink, line.least);
    for (std::size_t i = 0; i < std::size(kThemes); ++i)
      out += fmt::format(" {:<28}", fmt::format("{:5.2f} {}", line.smallest[i], line.where[i]));
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace heddle::app
