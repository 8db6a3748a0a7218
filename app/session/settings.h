// What outlives the program: theme, scale, pane ratios, recent files. One JSON file in the XDG configuration folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

/// Limits to search_seconds: a day at most.
constexpr std::int64_t kLeastSearchSeconds = 1, kMostSearchSeconds = 86400;

enum class ThemeName { Dark, Light, HighContrast };

struct PaneSizes {
  // Shares of the window's width, and of the height between toolbar and status bar.
  double left = 0.16, right = 0.18, bottom = 0.45, editor = 0.34;
  bool left_folded = false, right_folded = false, bottom_folded = false;
  bool operator==(const PaneSizes&) const = default;
};

struct Settings {
  ThemeName theme = ThemeName::Dark;
  int scale_percent = 100;  ///< 50 .. 300, on top of the display's own scale
  PaneSizes panes;
  std::map<std::string, std::string> keys;  ///< of actions, by id, that differ from the built-in ones: "solve": "F6"
  bool wheel_scrolls = false;               ///< plain wheel scrolls the rows of the chart, Ctrl + wheel zooms
  std::int64_t search_seconds = 60;         ///< after which a search or a question ends with what it has
  std::string run_host;                     ///< where kernels are run, as ssh takes it; empty: on this machine
  std::vector<std::string> used;            ///< what was chosen in the palette, newest first, at most 12
  std::vector<std::string> recent;          ///< newest first, at most 12, 3 of them shipped; names or paths of kernels and projects
  bool operator==(const Settings&) const = default;
};

const char* to_string(ThemeName name);
std::optional<ThemeName> parse_theme(std::string_view name);

/// $XDG_CONFIG_HOME/heddle/settings.json, or ~/.config/heddle/settings.json.
std::string settings_path();
/// A missing file gives the defaults; a broken one gives the defaults of what cannot be read.
Settings load_settings(const std::string& path);
/// Atomic; keys that this version does not know stay in the file.
Result<Ok> save_settings(const std::string& path, const Settings& settings);
void remember_used(Settings& settings, const std::string& what);
void remember_recent(Settings& settings, const std::string& name);

}  // namespace heddle::app
