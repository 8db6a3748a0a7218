// Settings in terms of the flat, forgiving settings file.
#include "app/session/settings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/io/settings_file.h"

namespace heddle::app {
namespace {

constexpr std::array<std::pair<ThemeName, const char*>, 3> kThemes{
    {{ThemeName::Dark, "dark"}, {ThemeName::Light, "light"}, {ThemeName::HighContrast, "high_contrast"}}};
constexpr std::size_t kRecent = 12;

struct Ratio {
  const char* key;
  double Layout::*member;
};
constexpr std::array<Ratio, 3> kRatios{
    {{"layout_left", &Layout::left}, {"layout_right", &Layout::right}, {"layout_bottom", &Layout::bottom}}};

}  // namespace

const char* to_string(ThemeName name) {
  for (const auto& [theme, text] : kThemes)
    if (theme == name) return text;
  return "dark";
}

std::optional<ThemeName> parse_theme(std::string_view name) {
  for (const auto& [theme, text] : kThemes)
    if (name == text) return theme;
  return std::nullopt;
}

std::string settings_path() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder && *folder)
    return std::string(folder) + "/heddle/settings.json";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.config/heddle/settings.json";
  return {};
}

Settings load_settings(const std::string& path) {
  const auto file = heddle::Settings::load(path);
  Settings settings;
  settings.theme = parse_theme(file.text("theme")).value_or(settings.theme);
  settings.scale_percent = static_cast<int>(std::clamp<std::int64_t>(file.integer("scale_percent", 100), 50, 300));
  for (const Ratio& ratio : kRatios) {
    const double share = file.number(ratio.key, settings.layout.*ratio.member);
    if (share >= 0.02 && share <= 0.9) settings.layout.*ratio.member = share;
  }
  settings.recent = file.list("recent");
  if (settings.recent.size() > kRecent) settings.recent.resize(kRecent);
  return settings;
}

Result<Ok> save_settings(const std::string& path, const Settings& settings) {
  auto file = heddle::Settings::load(path);
  file.set("theme", to_string(settings.theme));
  file.set("scale_percent", settings.scale_percent);
  for (const Ratio& ratio : kRatios) file.set(ratio.key, settings.layout.*ratio.member);
  file.set("recent", settings.recent);
  return file.save(path);
}

void remember_recent(Settings& settings, const std::string& name) {
  std::erase(settings.recent, name);
  settings.recent.insert(settings.recent.begin(), name);
  if (settings.recent.size() > kRecent) settings.recent.resize(kRecent);
}

}  // namespace heddle::app
