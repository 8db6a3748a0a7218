// The session's side of "why?": asking for reasons, and trying one of the ways out beside the schedule it is to improve on.
#include <fmt/format.h>

#include "app/session/session_core.h"
#include "core/answers/layout_choice.h"

namespace heddle::app {

void SessionCore::ask_why() {
  const QuestionState& asked = session_.question(Topic::Explain);
  const auto* known = asked.as<Explanation>();
  const bool whole = known && !known->cancelled && !known->timed_out;
  if (session_.answered(Topic::Explain) && (asked.active() || whole)) return;
  if (session_.why_no_question(Topic::Explain).empty()) on(Ask{Topic::Explain, {}});
}

void SessionCore::on(const AskWhy&) {
  view_.tab = BottomTab::Explain;
  // Two searches at once would only slow each other down.
  work_.why_after_solve = work_.live.active();
  if (!work_.why_after_solve) ask_why();
}

void SessionCore::on(const TryRelaxation& c) {
  if (!document_.content.problem) return;
  if (c.constraint && *c.constraint >= document_.content.constraints.size()) return;
  if (!c.choices.empty()) {
    const std::string what = choices_in_words(c.choices);
    if (choose_layouts(c.choices, what)) solve_proposal(what);
  } else if (c.constraint) {
    Constraints next = document_.content.constraints;
    UserConstraint& constraint = next[*c.constraint];
    const std::string what =
        c.limit ? fmt::format("{}: {} instead of {}", constraint.name, *c.limit, constraint.high) : "without " + constraint.name;
    if (c.limit)
      constraint.high = *c.limit;
    else
      constraint.enabled = false;
    constrain(std::move(next), what, true);
  } else {
    Changes next = document_.content.changes;
    std::string what;
    for (const Change& change : c.changes) {
      put(next, change);
      what += (what.empty() ? "" : " and ") + describe(change);
    }
    if (!what.empty() && change_numbers(std::move(next), what)) solve_proposal(what);
  }
}

void SessionCore::on(const ToggleWhiskers&) {
  view_.whiskers = !view_.whiskers;
  // Longest paths cost next to nothing.
  AskOptions cheap;
  cheap.slack.exact = false;
  if (view_.whiskers && !session_.answered(Topic::Slack) && session_.why_no_question(Topic::Slack).empty()) on(Ask{Topic::Slack, cheap});
  changed();
}

}  // namespace heddle::app
