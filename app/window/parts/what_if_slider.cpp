#include "app/window/parts/what_if_slider.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ui_state.h"
#include "app/window/parts/what_if_state.h"
#include "core/analysis/slack.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

using Fate = WhatIfTrial::Fate;

Color fate_ink(Fate fate) {
  switch (fate) {
    case Fate::Valid:
    case Fate::Refitted:
    case Fate::Retimed: return theme().good;
    case Fate::Longer: return theme().warning;
    case Fate::Broken:
    case Fate::Impossible: return theme().bad;
    case Fate::Nothing: return theme().dim;
  }
  return theme().dim;
}

void let_go(WhatIfState& state) {
  state.dragged.reset();
  state.trial.reset();
  state.gantt.reset();
  state.drawn.reset();
}

/// Judges the value and makes the chart of it.
void try_now(const Session& session, WhatIfState& state, std::int64_t value) {
  const Content& content = session.content();
  state.value = value;
  state.trial = try_value(content, *state.dragged, value);
  state.gantt.reset();
  const ScheduleEntry* entry = content.entry();
  if (!entry || !state.trial->problem) return;
  const Schedule& drawn = state.trial->schedule ? *state.trial->schedule : entry->schedule;
  if (!fits(*state.trial->problem, drawn)) return;
  state.drawn = drawn;
  const Verdict verdict = check(*state.trial->problem, drawn, content.constraints);
  GanttOptions options;
  options.mode = session.view().mode;
  options.iterations = session.iterations();
  options.verdict = &verdict;
  const EndOps ends = end_ops(content.spec(), *state.trial->problem, drawn);
  options.ends = &ends;
  state.gantt = build_gantt(*state.trial->problem, drawn, options);
}

struct Track {
  float x0, x1, y;
  std::int64_t low, high;
  float x(std::int64_t value) const {
    const double share =
        static_cast<double>(std::clamp(value, low, high) - low) / static_cast<double>(std::max<std::int64_t>(high - low, 1));
    return x0 + static_cast<float>(share) * (x1 - x0);
  }
};

/// Where the mouse has dragged it, pulled to the base value and to the last valid one.
std::int64_t dragged_value(const WhatIfState& state, const WhatIfReach& reach, const WhatIfNumber& number, const Track& track,
                           float mouse) {
  const double per_pixel = static_cast<double>(number.high - number.low) / static_cast<double>(std::max(track.x1 - track.x0, 1.0f));
  const auto moved = static_cast<std::int64_t>(std::llround(static_cast<double>(mouse - state.pressed_x) * per_pixel));
  std::int64_t value = std::clamp(state.began_at + moved, number.low, number.high);
  const auto reachable = static_cast<std::int64_t>(per_pixel * static_cast<double>(px(4)));
  const auto pull = [&](std::int64_t to) {
    if (std::abs(value - to) <= reachable) value = to;
  };
  if (ImGui::GetIO().KeyAlt) return value;
  if (reach.valid_to() && *reach.valid_to() <= number.high) pull(*reach.valid_to());
  pull(number.base);
  return value;
}

void paint_track(const Track& track, const WhatIfNumber& number, const WhatIfReach& reach, std::int64_t value, bool hot) {
  const Theme& t = theme();
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float half = px(2.5f);
  const auto stretch = [&](float from, float to, Color color) {
    if (to > from) draw.AddRectFilled(ImVec2(from, track.y - half), ImVec2(to, track.y + half), color, half);
  };
  stretch(track.x0, track.x1, t.raised);
  // As far as the schedule goes with other starts, and over it as far as it goes as it is.
  if (reach.retimed_to()) stretch(track.x0, track.x(*reach.retimed_to()), with_alpha(t.accent, 0.45f));
  if (reach.valid_to()) stretch(track.x0, track.x(*reach.valid_to()), t.accent);
  const float base = track.x(number.base);
  draw.AddRectFilled(ImVec2(base - px(0.75f), track.y - px(7)), ImVec2(base + px(0.75f), track.y + px(7)), t.dim);
  const float knob = track.x(value);
  draw.AddCircleFilled(ImVec2(knob, track.y), px(hot ? 7.5f : 6.5f), t.panel);
  draw.AddCircleFilled(ImVec2(knob, track.y), px(hot ? 6.5f : 5.5f), value == number.base ? t.accent : t.warning);
}

}  // namespace

void refresh_what_if(const Session& session, UiState& ui) {
  WhatIfState& state = ui.of<WhatIfState>();
  const Content& content = session.content();
  const OpId op = session.selection().primary();
  const EntryPtr entry = content.shown ? content.schedules[*content.shown] : nullptr;
  if (state.op != op || state.problem != content.problem || state.entry != entry) {
    if (state.dragged && (state.op != op || state.problem != content.problem)) let_go(state);
    state.op = op;
    state.problem = content.problem;
    state.entry = entry;
    state.numbers = numbers_of_op(content, op);
    state.reaches.clear();
    for (const WhatIfNumber& number : state.numbers) state.reaches.emplace_back(content, number);
  }
  // A part of a frame goes into finding out more; with most kernels all is known after the first.
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(1500);
  for (WhatIfReach& reach : state.reaches)
    while (!reach.done() && std::chrono::steady_clock::now() < until) reach.step();
  state.busy = std::any_of(state.reaches.begin(), state.reaches.end(), [](const WhatIfReach& r) { return !r.done(); });
}

void draw_what_if_slider(const Session& session, UiState& ui, std::size_t index, const std::string& prefix) {
  WhatIfState& state = ui.of<WhatIfState>();
  const WhatIfNumber& number = state.numbers[index];
  const WhatIfReach& reach = state.reaches[index];
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = px(24);
  const float label = std::min(px(96), width * 0.34f), value_room = text_size(fonts().mono_small, "000 000").x + px(4);
  const Track track{at.x + label + px(6), at.x + width - value_room - px(10), at.y + height / 2, number.low, number.high};
  const float text = at.y + (height - text_size(fonts().small, "X").y) / 2;
  paint_text(fonts().small, ImVec2(at.x, text), theme().dim, fitted(fonts().small, number.label, label));
  ImGui::SetCursorScreenPos(ImVec2(track.x0 - px(7), at.y));
  ImGui::PushID(static_cast<int>(index));
  ImGui::PushID(prefix.c_str());
  ImGui::InvisibleButton("slider", ImVec2(std::max(track.x1 - track.x0 + px(14), 1.0f), height));
  ImGui::PopID();
  ImGui::PopID();
  if (probe::on()) probe::last_item(fmt::format("{}/slider/{}", prefix, number.label));
  const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  const float mouse = ImGui::GetIO().MousePos.x;
  const bool reset = hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  if (ImGui::IsItemActivated()) {
    state.pressed_x = mouse;
    state.began_at = number.now;
    state.given_up = reset;
  }
  if (reset && number.now != number.base) ui.commands.push(change_to(session.content(), number, number.base, state.solve_on_release));
  const bool mine = state.dragged && *state.dragged == number;
  if (active && !state.given_up) {
    if (!mine && std::abs(mouse - state.pressed_x) > px(2)) state.dragged = number;
    if (state.dragged && *state.dragged == number) {
      const std::int64_t value = dragged_value(state, reach, number, track, mouse);
      if (!state.trial || state.value != value) try_now(session, state, value);
      if (key_pressed(Key::Escape)) {
        let_go(state);
        state.given_up = true;
      }
    }
  }
  if (!active && mine && ImGui::IsItemDeactivated()) {
    if (state.value != number.now) ui.commands.push(change_to(session.content(), number, state.value, state.solve_on_release));
    let_go(state);
  }
  const bool dragging = state.dragged && *state.dragged == number && state.trial;
  const std::int64_t value = dragging ? state.value : number.now;
  paint_track(track, number, reach, value, active || hovered);
  paint_text_right(fonts().mono_small, at.x + width, text, value == number.base ? theme().text : theme().warning, grouped(value));
  if (hovered && !active) {
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    tooltip(fmt::format("{} of {}: {} now, {} without your change. Drag from {} to {}; Escape gives up, a double click resets.",
                        number.label, number.number.op, grouped(number.now), grouped(number.base), grouped(number.low),
                        grouped(number.high)));
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, height));
}

void draw_what_if_words(const Session& session, UiState& ui, std::size_t index) {
  const WhatIfState& state = ui.of<WhatIfState>();
  const WhatIfNumber& number = state.numbers[index];
  if (state.dragged && *state.dragged == number && state.trial) {
    const WhatIfTrial& trial = *state.trial;
    wrapped_text(fonts().small, fate_ink(trial.fate), fmt::format("at {}: {}", grouped(trial.value), trial.sentence));
    if (!trial.objection.empty()) wrapped_text(fonts().small, theme().dim, "as it is now: " + trial.objection);
    if (!trial.period.empty()) wrapped_text(fonts().small, theme().dim, trial.period + "; solving again finds the least");
    return;
  }
  const WhatIfReach& reach = state.reaches[index];
  if (const std::string sentence = reach.sentence(); !sentence.empty())
    wrapped_text(fonts().small, theme().dim, sentence);
  else if (!reach.done())
    wrapped_text(fonts().small, theme().faint, "finding out up to which value this schedule stays valid");
  const ScheduleEntry* entry = session.content().entry();
  if (entry && !entry->verdict.valid() && index == 0)
    wrapped_text(fonts().small, theme().warning, "the shown schedule breaks a rule already; solve again");
}

void draw_what_if_section(const Session& session, UiState& ui) {
  refresh_what_if(session, ui);
  WhatIfState& state = ui.of<WhatIfState>();
  if (state.numbers.empty()) return;
  section("WHAT IF", "drag");
  for (std::size_t i = 0; i < state.numbers.size(); ++i) {
    draw_what_if_slider(session, ui, i, "inspector");
    const bool dragged = state.dragged && *state.dragged == state.numbers[i];
    if (dragged || i == 0) draw_what_if_words(session, ui, i);
  }
  const QuestionState& asked = session.question(Topic::Latency);
  const auto* answer = asked.as<LatencyRange>();
  if (answer && session.answered(Topic::Latency) && asked.options.latency.op == state.op) {
    if (const std::string sentence = latency_sentence(*answer); !sentence.empty()) wrapped_text(fonts().small, theme().text, sentence);
  } else if (session.why_no_question(Topic::Latency).empty() && !asked.active()) {
    if (link("inspector/ask_latency", "II by latency")) {
      Ask ask{Topic::Latency, {}};
      ask.options.latency.op = state.op;
      ask.options.latency.from = state.numbers[0].low;
      ask.options.latency.to = state.numbers[0].high;
      ui.commands.push(ask);
      ui.commands.push(show_tab(BottomTab::WhatIf));
    }
  }
  if (!session.content().changes.empty()) {
    if (link("inspector/changes", fmt::format("{} of numbers", count_of(session.content().changes.size(), "change"))))
      ui.commands.push(show_tab(BottomTab::WhatIf));
  }
}

std::string what_if_banner(const UiState& ui) {
  const WhatIfState& state = ui.of<WhatIfState>();
  if (!state.dragged || !state.trial) return {};
  return fmt::format("WHAT IF {} = {}: {}", number_name(state.dragged->number), grouped(state.value), state.trial->sentence);
}

}  // namespace heddle::app
