// The session's side of "why?": asking for reasons, and trying one of the ways out beside the schedule it is to improve on.
#include <fmt/format.h>

#include "app/session/session.h"

namespace heddle::app {

void Session::ask_why() {
  const Inquiry& inquiry = this->inquiry(Topic::Explain);
  const auto* known = inquiry.as<Explanation>();
  const bool whole = known && !known->cancelled && !known->timed_out;
  if (answered(Topic::Explain) && (inquiry.active() || whole)) return;
  if (why_no_question(Topic::Explain).empty()) on(Ask{Topic::Explain, {}});
}

void Session::on(const AskWhy&) {
  view_.tab = BottomTab::Explain;
  // Two searches at once would only slow each other down.
  why_after_solve_ = live_.active();
  if (!why_after_solve_) ask_why();
}

void Session::on(const TryRelaxation& c) {
  if (!content_.problem) return;
  if (c.constraint && *c.constraint >= content_.constraints.size()) return;
  const EntryPtr before = content_.shown ? content_.schedules[*content_.shown] : nullptr;
  if (c.constraint) {
    Constraints next = content_.constraints;
    UserConstraint& constraint = next[*c.constraint];
    const std::string what = c.limit ? fmt::format("{}: {} instead of {}", constraint.name, *c.limit, constraint.high)
                                     : "without " + constraint.name;
    if (c.limit)
      constraint.high = *c.limit;
    else
      constraint.enabled = false;
    constrain(std::move(next), what, true);
  } else {
    Changes next = content_.changes;
    std::string what;
    for (const Change& change : c.changes) {
      put(next, change);
      what += (what.empty() ? "" : " and ") + describe(change);
    }
    if (what.empty() || !change_numbers(std::move(next), what)) return;
    if (why_no_solve().empty()) on(StartSolve{});
  }
  compare_next_ = before && live_.active();
}

void Session::on(const ToggleCritical&) {
  view_.critical = !view_.critical;
  changed();
}

void Session::on(const ToggleWhiskers&) {
  view_.whiskers = !view_.whiskers;
  // Longest paths cost next to nothing.
  AskOptions cheap;
  cheap.exact = false;
  if (view_.whiskers && !answered(Topic::Slack) && why_no_question(Topic::Slack).empty()) on(Ask{Topic::Slack, cheap});
  changed();
}

}  // namespace heddle::app
