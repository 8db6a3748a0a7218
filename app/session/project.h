// Between the session's content and project files, and what the session knows about the file of a document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/session/selection.h"
#include "core/library/project_json.h"

namespace heddle::app {

struct ViewState;

/// Where a document lies, and what of it is there.
struct ProjectPlace {
  std::string path;              ///< empty: it has no file yet
  std::optional<Content> saved;  ///< as it was last written or read
};

/// Pre: the content has a problem.
Project to_project(const Content& content, const Selection& selection, const ViewState& view);
/// The schedules of a project as rows of the list, checked again under its constraints.
std::vector<EntryPtr> to_entries(const Project& project, const Problem& problem);

/// Searches that take less long than this, in seconds, are simply done again.
constexpr double kSoon = 10;
/// There is something in it that opening kernel and machine again would not bring back.
bool has_work(const Content& content);
/// There is something in it that solving again would not bring back either.
bool has_own_work(const Content& content);
/// Something that a project keeps differs; what is shown, and how, does not count.
bool differs(const Content& a, const Content& b);

/// The words of projects for how A and B share the chart, and for what they are aligned at ("start", "most", "op QK0"; what
/// cannot be read is "start").
const char* to_string(ChartView view);
std::optional<ChartView> parse_chart_view(std::string_view word);
Alignment parse_alignment(std::string_view word, const Problem& problem);

/// The words that projects call the tabs by.
const char* to_string(BottomTab tab);
std::optional<BottomTab> parse_tab(std::string_view word);

}  // namespace heddle::app
