#include "app/session/settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/session/files.h"
#include "core/base/environment.h"
#include "core/formats/settings_file.h"

namespace heddle::app {
namespace {

constexpr std::array<std::pair<ThemeName, const char*>, 3> kThemes{
    {{ThemeName::Dark, "dark"}, {ThemeName::Light, "light"}, {ThemeName::HighContrast, "high_contrast"}}};
constexpr std::size_t kRecent = 12, kRecentShipped = 3;

struct Ratio {
  const char* key;
  double PaneSizes::*member;
};
constexpr std::array<Ratio, 4> kRatios{{{"layout_left", &PaneSizes::left},
                                        {"layout_right", &PaneSizes::right},
                                        {"layout_bottom", &PaneSizes::bottom},
                                        {"layout_editor", &PaneSizes::editor}}};

struct Fold {
  const char* key;
  bool PaneSizes::*member;
};
constexpr std::array<Fold, 3> kFolds{
    {{"fold_left", &PaneSizes::left_folded}, {"fold_right", &PaneSizes::right_folded}, {"fold_bottom", &PaneSizes::bottom_folded}}};

void put_first(std::vector<std::string>& list, const std::string& what) {
  std::erase(list, what);
  list.insert(list.begin(), what);
  if (list.size() > kRecent) list.resize(kRecent);
}

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

std::string settings_path() { return user_path(UserFolder::Config, "settings.json"); }

Settings load_settings(const std::string& path) {
  const auto file = heddle::SettingsFile::load(path);
  Settings settings;
  settings.theme = parse_theme(file.text("theme")).value_or(settings.theme);
  settings.scale_percent = static_cast<int>(std::clamp<std::int64_t>(file.integer("scale_percent", 100), 50, 300));
  for (const Ratio& ratio : kRatios) {
    const double share = file.number(ratio.key, settings.panes.*ratio.member);
    if (share >= 0.02 && share <= 0.9) settings.panes.*ratio.member = share;
  }
  for (const Fold& fold : kFolds) settings.panes.*fold.member = file.flag(fold.key, false);
  for (auto& [action, keys] : file.table("keys")) settings.keys.emplace(action, keys);
  settings.wheel_scrolls = file.flag("wheel_scrolls_rows", false);
  settings.search_seconds = std::clamp(file.integer("search_seconds", settings.search_seconds), kLeastSearchSeconds, kMostSearchSeconds);
  settings.run_host = file.text("run_host");
  settings.used = file.list("palette_recent");
  if (settings.used.size() > kRecent) settings.used.resize(kRecent);
  settings.recent = file.list("recent");
  if (settings.recent.size() > kRecent) settings.recent.resize(kRecent);
  return settings;
}

Result<Ok> save_settings(const std::string& path, const Settings& settings) {
  auto file = heddle::SettingsFile::load(path);
  file.set("theme", to_string(settings.theme));
  file.set("scale_percent", settings.scale_percent);
  for (const Ratio& ratio : kRatios) file.set(ratio.key, settings.panes.*ratio.member);
  for (const Fold& fold : kFolds) file.set(fold.key, settings.panes.*fold.member);
  file.set("keys", std::vector<std::pair<std::string, std::string>>(settings.keys.begin(), settings.keys.end()));
  file.set("wheel_scrolls_rows", settings.wheel_scrolls);
  file.set("search_seconds", settings.search_seconds);
  file.set("run_host", settings.run_host);
  file.set("palette_recent", settings.used);
  file.set("recent", settings.recent);
  return file.save(path);
}

void remember_used(Settings& settings, const std::string& what) { put_first(settings.used, what); }

void remember_recent(Settings& settings, const std::string& name) {
  put_first(settings.recent, name);
  // Looking through what is shipped does not push out one's own files.
  std::size_t shipped = 0;
  std::erase_if(settings.recent, [&](const std::string& one) { return is_shipped_kernel(one) && ++shipped > kRecentShipped; });
}

}  // namespace heddle::app
