// Projects: opened as a step of undo, saved, kept safe from crashes, and what of the open document no file has; with what lies between
// the session's content and the files.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/autosave.h"
#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/session/edits.h"
#include "app/session/selection.h"
#include "core/library/project_json.h"

namespace heddle::app {

class Texts;

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

class Projects : Opener {
 public:
  Projects(Edits& edits, Texts& texts) : Opener(edits), texts_(texts) {}

  void on(const OpenProject& c);
  void on(const SaveProject& c);
  void on(const RestoreWork& c);
  void on(const DiscardWork& c);
  /// It becomes what is open, as it was saved in `path`; empty: in no file.
  void take_project(const Project& project, const std::string& path, const std::string& what);
  /// Nothing of what is open is lost: it has just been read, or another window has it too.
  void call_saved();
  /// `folder`: where work is kept safe from crashes; empty: it is not.
  void look_for_lost_work(const std::string& folder);
  /// Call often.
  void keep_safe();
  /// Clean exit.
  void leave() {
    if (autosave_) autosave_->discard();
  }

  /// The document's file; nothing when it has none.
  const std::string& project_file() const;
  /// The same, where that file holds just this content, with these schedules as A and B; else empty.
  const std::string& project_as_shown() const;
  /// There is work that no project file has.
  bool unsaved() const;
  /// Leaving would lose work of the user's own, or a search that took long; not what solving again would soon find.
  bool worth_asking() const;
  /// "The search for ... is not proved after 61 s: II 4432, no II below 4352"; empty: there is none that took long, or a file has it.
  std::string unfinished_search() const;
  /// Empty when the document can be saved, else why not.
  std::string why_no_save() const;
  /// Work of windows that are gone.
  const std::vector<Recovery>& recoveries() const { return recoveries_; }

 private:
  /// How the project shows its schedules. Pre: there is a problem.
  void take_view(const Project& project);

  Texts& texts_;
  std::map<std::uint64_t, ProjectPlace> places_;  ///< of documents, by Content::document
  std::uint64_t kept_document_ = 0;               ///< the one that `autosave_` holds
  std::unique_ptr<Autosave> autosave_;
  std::vector<Recovery> recoveries_;
};

}  // namespace heddle::app
