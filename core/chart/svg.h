// The timeline as a stand-alone SVG: what the window shows, for papers, web pages and bug reports. Text is text, every bar has
// a tooltip (<title>) and the CSS class of its role; no scripts, no references to anything outside the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chart/gantt_model.h"

namespace heddle {

enum class SvgTheme { Light, Dark };

struct SvgOptions {
  SvgTheme theme = SvgTheme::Light;
  int width = 1200;                 ///< pixels, at least 320; the height follows from the rows
  std::optional<Cycle> begin, end;  ///< of the range that is shown; default: all of it
  bool lanes = true;                ///< resource lanes under the rows
  std::string title;                ///< written above the picture when not empty
  std::vector<std::string> lines;   ///< smaller, below the title: what is predicted of the whole kernel, for instance
};

/// The same model and options give the same bytes. An empty or reversed range shows everything.
std::string gantt_svg(const GanttModel& model, const SvgOptions& options = {});

/// A over B, on one axis: cycle 0 of both models lies at the same place, and where the options name no range, both fit. The
/// options' title stands over A.
std::string gantt_pair_svg(const GanttModel& a, const GanttModel& b, const SvgOptions& options, const std::string& title_b);

/// Two decimals, without zeros at the end.
std::string rounded(double value);

// Text inside XML and HTML.

/// Safe between tags and inside quoted attributes; control characters, which XML 1.0 does not have, become spaces.
std::string xml_text(std::string_view text);

}  // namespace heddle
