#include "app/session/showing.h"

#include <algorithm>
#include <tuple>

#include "app/session/open_document.h"
#include "app/session/project.h"
#include "app/session/questions.h"
#include "app/session/solving.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {

Showing::Showing(OpenDocument& document, Solving& solving, Questions& questions, const Projects& projects, std::string settings_file)
    : SessionPart(document), solving_(solving), questions_(questions), projects_(projects), file_(std::move(settings_file)) {
  if (!file_.empty()) settings_ = load_settings(file_);
  kept_ = saved_ = settings_;
}

void Showing::on(const SelectOp& c) {
  if (!content_.problem || !c.op.valid() || c.op.index() >= content_.problem->ops.size()) return;
  if (!c.extend)
    document_.selection.ops = {c.op};
  else if (std::erase(document_.selection.ops, c.op) == 0)
    document_.selection.ops.push_back(c.op);
  changed();
}

void Showing::on(const ClearSelection&) {
  if (document_.selection.empty()) return;
  document_.selection.ops.clear();
  changed();
}

void Showing::on(const SetMode& c) {
  if (view_.mode == c.mode) return;
  view_.mode = c.mode;
  view_.fit_all = true;
  changed();
}

int Showing::iterations() const {
  const ScheduleEntry* entry = content_.entry();
  const int enough = entry ? std::min(stage_count(entry->schedule), kMostIterations) + 2 : 0;
  return view_.iterations.value_or(std::clamp(enough, 3, kMostIterations));
}

void Showing::on(const SetIterations& c) {
  view_.iterations = std::clamp(c.count, 1, kMostIterations);
  view_.fit_all = true;
  changed();
}

void Showing::on(const ChangeView& c) {
  // Only these are what the window makes its models from.
  const auto drawn = [this] {
    return std::tuple(view_.chart_view, view_.critical, view_.barriers, view_.tensor, view_.queues, view_.highlight);
  };
  const auto before = drawn();
  c.change(view_, settings_.panes);
  if (drawn() != before) changed();
}

void Showing::on(const ChangeSettings& c) {
  c.change(settings_);
  if (c.keep) c.change(kept_);
}

void Showing::on(const CopyLine&) {
  if (document_.last_line.empty()) return;
  view_.clipboard = document_.last_line;
  say(LogLevel::Info, "copied: " + document_.last_line);
}

void Showing::on(const DismissError&) { document_.error.reset(); }

void Showing::on(const Quit& c) { (c.even_unsaved || !projects_.worth_asking() ? view_.quit : view_.ask_leave) = true; }

void Showing::save_settings_now() {
  kept_.panes = settings_.panes;
  kept_.recent = settings_.recent;
  if (file_.empty() || kept_ == saved_) return;
  saved_ = kept_;
  const auto saved = save_settings(file_, kept_);
  if (!saved) say(LogLevel::Warning, "settings were not saved: " + to_string(saved.error()));
}

void Showing::ask_why() {
  const QuestionState& asked = questions_.question(Topic::Explain);
  const auto* known = asked.as<Explanation>();
  const bool whole = known && !known->cancelled && !known->timed_out;
  if (questions_.answered(Topic::Explain) && (asked.active() || whole)) return;
  if (questions_.why_no_question(Topic::Explain).empty()) questions_.on(Ask{Topic::Explain, {}});
}

void Showing::on(const AskWhy&) {
  view_.tab = BottomTab::Explain;
  // Two searches at once would only slow each other down.
  const bool running = solving_.live().active();
  solving_.ask_why_after(running);
  if (!running) ask_why();
}

void Showing::on(const ToggleWhiskers&) {
  view_.whiskers = !view_.whiskers;
  // Longest paths cost next to nothing.
  AskOptions cheap;
  cheap.slack.exact = false;
  if (view_.whiskers && !questions_.answered(Topic::Slack) && questions_.why_no_question(Topic::Slack).empty())
    questions_.on(Ask{Topic::Slack, cheap});
  changed();
}

}  // namespace heddle::app
