// The launch of a PTX: findings at the left, lanes over time and shared memory at the right, the text below them. What is picked on one
// side is shown on the others.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/launch_state.h"
#include "app/window/frame/launch_lanes.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/code_field.h"
#include "app/window/kit/widgets.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

struct LaunchPaneState {
  std::shared_ptr<const OpenedLaunches> of;
  std::size_t launch = 0;  ///< of those, the one that is shown

  LanesState lanes;
  CodeField field;
  std::optional<std::size_t> finding;
  std::vector<int> lines;  ///< of the text, that are lit: the first comes into view
};

void show_lines(LaunchPaneState& state, std::vector<int> lines) {
  std::erase(lines, 0);
  if (lines.empty()) return;
  state.field.show = static_cast<std::size_t>(lines.front() - 1);
  state.lines = std::move(lines);
}

Tone tone_of(ptx::Rank rank) { return rank == ptx::Rank::Wrong ? Tone::Bad : rank == ptx::Rank::Doubtful ? Tone::Warning : Tone::Neutral; }
const char* word_of(ptx::Rank rank) { return rank == ptx::Rank::Wrong ? "wrong" : rank == ptx::Rank::Doubtful ? "doubtful" : "note"; }

Tone verdict_tone(const ptx::CheckedLaunch& launch) {
  if (!launch.checked) return Tone::Bad;
  switch (launch.checked->verdict) {
    case ptx::CheckVerdict::InOrder: return Tone::Good;
    case ptx::CheckVerdict::NotInOrder: return Tone::Bad;
    case ptx::CheckVerdict::Stopped: return Tone::Warning;
  }
  return Tone::Neutral;
}

/// What a pill has room for: the reason stands below.
std::string short_verdict(const ptx::CheckedLaunch& launch) {
  const std::string whole = ptx::verdict_text(launch);
  const bool has_reason = !launch.checked || launch.checked->verdict == ptx::CheckVerdict::Stopped;
  return has_reason ? whole.substr(0, whole.find(':')) : whole;
}

void draw_header(const Session& session, const OpenedLaunch* answer, UiState& ui) {
  const LaunchState& launch = session.launch();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = px(30), width = ImGui::GetContentRegionAvail().x;
  float x = at.x + px(12);
  if (answer) {
    x += paint_pill(ImVec2(x, at.y + px(6)), px(18), fonts().small_bold, short_verdict(answer->as), verdict_tone(answer->as)) + px(10);
    std::string facts = answer->as.name;
    if (const std::optional<ptx::Checked>& checked = answer->as.checked)
      facts = fmt::format("{} · {} · {} warp instructions{}{}", checked->kernel, checked->target, grouped(checked->instructions),
                          checked->cycles > 0 ? fmt::format(" · {} cycles (predicted)", grouped(checked->cycles)) : "",
                          checked->runs > 1 ? fmt::format(" · {} runs", checked->runs) : "");

    paint_text(fonts().body, ImVec2(x, at.y + px(6)), theme().text, fitted_middle(fonts().body, facts, at.x + width - px(130) - x));
  } else {
    const std::string words = launch.active() ? "checking " + base_name(launch.path()) : base_name(launch.path()) + " could not be checked";
    paint_text(fonts().body, ImVec2(x, at.y + px(6)), theme().dim, fitted(fonts().body, words, at.x + width - px(130) - x));
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x + width - px(112), at.y + px(3)));
  if (launch.active()) {
    if (button("launch/cancel", "Cancel", ButtonKind::Plain, {}, {px(100), px(24)})) ui.commands.push(CancelLaunch{});
  } else if (button("launch/again", "Check again", ButtonKind::Plain, launch.why_not_again(), {px(100), px(24)})) {
    ui.commands.push(CheckLaunch{});
  }
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + height));
}

/// A row with a pill and a sentence; its tooltip is the whole.
bool sentence_row(const char* name, bool selected, const char* word, Tone tone, const std::string& sentence) {
  const RowArea row = pick_row(name, selected, px(24));
  const float pill = paint_pill(ImVec2(row.min.x + px(6), row.min.y + px(4)), px(16), fonts().small_bold, word, tone);
  const float x = row.min.x + px(6) + pill + px(8);
  paint_text(fonts().small, ImVec2(x, row.min.y + px(5)), theme().text,
             fitted(fonts().small, drawable(sentence), std::max(row.max.x - x - px(6), px(30))));
  if (row.hovered) tooltip(drawable(sentence));
  return row.clicked;
}

void draw_chosen(const ptx::SaidFinding& finding, LaunchPaneState& state) {
  wrapped_text(fonts().small, theme().text, drawable(finding.sentence));
  const auto where = [](int line, const std::string& source) {
    return (line > 0 ? fmt::format("line {}", line) : std::string()) + (source.empty() ? "" : " (" + source + ")");
  };
  wrapped_text(fonts().small, theme().dim,
               drawable(fmt::format("{}{}{} · PTX ISA {} · {}{}", where(finding.line, finding.source), finding.role.empty() ? "" : " · ",
                                    finding.role, finding.section, finding.rule,
                                    finding.times > 1 ? fmt::format(" · {} times", finding.times) : "")));
  for (std::size_t i = 0; i < finding.related.size(); ++i) {
    const ptx::SaidFinding::Related& related = finding.related[i];
    const bool says_role = related.role.empty() || related.what.starts_with(related.role);
    const std::string text = fmt::format("{}{}{}", says_role ? "" : related.role + ": ", related.what,
                                         related.line > 0 ? " · " + where(related.line, related.source) : "");
    if (sentence_row(fmt::format("launch/related/{}", i).c_str(), false, fmt::format("{}", i + 1).c_str(), Tone::Neutral, text))
      show_lines(state, {related.line, finding.line});
  }
}

void draw_findings(const ptx::Checked& checked, LaunchPaneState& state) {
  section("FINDINGS", fmt::format("{}", checked.findings.size()));
  if (checked.findings.empty())
    wrapped_text(fonts().small, theme().dim,
                 "Nothing is wrong in this launch. What it did not execute is listed below: launch sizes decide what is seen.");
  for (std::size_t i = 0; i < checked.findings.size(); ++i) {
    const ptx::SaidFinding& finding = checked.findings[i];
    const bool chosen = state.finding == i;
    if (sentence_row(fmt::format("launch/finding/{}", i).c_str(), chosen, word_of(finding.rank), tone_of(finding.rank), finding.sentence)) {
      state.finding = chosen ? std::nullopt : std::optional(i);
      std::vector<int> lines{finding.line};
      for (const auto& related : finding.related) lines.push_back(related.line);
      show_lines(state, std::move(lines));
      if (checked.timeline) state.lanes.reveal(std::min<ptx::Time>(finding.cycle * 1000, checked.timeline->end));
    }
    if (state.finding == i) draw_chosen(finding, state);
  }
  if (!checked.stopped.empty()) {
    section("STOPPED");
    if (sentence_row("launch/stopped", false, "stopped", Tone::Warning, checked.stopped)) show_lines(state, {checked.stopped_line});
  }
  for (const std::string& note : checked.notes) wrapped_text(fonts().small, theme().dim, drawable(note));
  if (!checked.branches.empty()) section("BRANCHES ON DATA", fmt::format("{}", checked.branches.size()));
  for (std::size_t i = 0; i < checked.branches.size(); ++i) {
    const ptx::SaidBranch& branch = checked.branches[i];
    const std::string text =
        fmt::format("line {}: {} of {} taken{}{}", branch.line, branch.taken, branch.times,
                    branch.hangs_on.empty() ? "" : ", hangs on " + branch.hangs_on, branch.guards ? ", tried both ways" : "");
    if (sentence_row(fmt::format("launch/branch/{}", i).c_str(), false, "branch", Tone::Neutral, text)) show_lines(state, {branch.line});
  }
  if (!checked.not_seen.empty()) section("NOT SEEN IN THIS LAUNCH", fmt::format("{}", checked.not_seen.size()));
  for (std::size_t i = 0; i < checked.not_seen.size(); ++i) {
    const ptx::NotSeen& unseen = checked.not_seen[i];
    const std::string text = fmt::format("line {}{}", unseen.line, unseen.source.empty() ? "" : " (" + unseen.source + ")");
    if (sentence_row(fmt::format("launch/unseen/{}", i).c_str(), false, unseen.what.c_str(), Tone::Neutral, text))
      show_lines(state, {unseen.line});
  }
  if (!checked.shown || checked.shown->roles.empty()) return;
  section("ROLES AND RINGS");
  const float letter = paint::text_width(fonts().mono_small, "0");
  const int columns = static_cast<int>(std::max(20.0f, ImGui::GetContentRegionAvail().x / std::max(letter, 1.0f)));
  wrapped_text(fonts().mono_small, theme().dim, drawable(show_text(*checked.shown, columns)));
}

void begin_with(LaunchPaneState& state, const std::shared_ptr<const OpenedLaunches>& answer, std::size_t launch) {
  state = {};
  state.of = answer;
  state.launch = launch;
  state.field.read_only = true;
  if (answer && (*answer)[launch].text) state.field.next = *(*answer)[launch].text;
}

/// Where a folder has several launches: which one is to be shown instead.
std::optional<std::size_t> draw_choices(const OpenedLaunches& launches, std::size_t shown) {
  if (launches.size() < 2) return std::nullopt;
  std::optional<std::size_t> other;
  section("LAUNCHES", fmt::format("{}", launches.size()));
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const ptx::CheckedLaunch& launch = launches[i].as;
    if (sentence_row(fmt::format("launch/launch/{}", i).c_str(), i == shown, short_verdict(launch).c_str(), verdict_tone(launch),
                     launch.name))
      other = i;
  }
  return other;
}

}  // namespace

void draw_launch(const Session& session, UiState& ui) {
  auto& state = ui.of<LaunchPaneState>();
  const std::shared_ptr<const OpenedLaunches> answer = session.launch().answer();
  if (state.of != answer) begin_with(state, answer, 0);
  const OpenedLaunch* launch = answer ? &(*answer)[state.launch] : nullptr;
  draw_header(session, launch, ui);
  if (!launch) return;

  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float left = std::clamp(room.x * 0.34f, std::min(px(260), room.x * 0.5f), px(560));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(px(10), px(6)));
  ImGui::BeginChild("findings", ImVec2(left, room.y), false, ImGuiWindowFlags_AlwaysUseWindowPadding);
  if (const std::optional<std::size_t> other = draw_choices(*answer, state.launch)) {
    begin_with(state, answer, *other);
    launch = &(*answer)[state.launch];
  }
  if (launch->as.checked)
    draw_findings(*launch->as.checked, state);
  else
    wrapped_text(fonts().small, theme().bad, drawable(to_string(launch->as.error)));

  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::SameLine(0, 0);
  ImGui::BeginChild("right", ImVec2(room.x - left, room.y));
  const float text_height = std::floor(room.y * 0.38f);
  ImGui::BeginChild("lanes", ImVec2(0, room.y - text_height));
  if (launch->as.checked && launch->as.checked->timeline)
    if (const auto lines = draw_lanes(*launch->as.checked->timeline, state.lanes)) show_lines(state, *lines);

  ImGui::EndChild();
  CodeLook look;
  if (!state.lines.empty()) {
    const auto line = static_cast<std::size_t>(state.lines.front() - 1);
    look.lit = {line, line};
  }
  std::vector<CodeMark> marks;
  for (std::size_t i = 1; i < state.lines.size(); ++i) marks.push_back({static_cast<std::size_t>(state.lines[i] - 1), "the other place"});
  look.marks = marks;
  code_field("launch/text", state.field, look, text_height);
  ImGui::EndChild();
}

}  // namespace heddle::app
