// The sweep tab: a tuner's history or a batch's results, live while they grow.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/sweep_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/tune/sweep_state.h"
#include "app/window/tabs/tune/sweep_views.h"
#include "codegen/program/target.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostDrawn = 1500;  ///< points in a picture: more are one another's shadow
constexpr float kSweepSide = 0.46f;

/// Brings what is worked out up to date with the table and the choice.
void refresh(const Session& session, SweepTabState& s) {
  const SweepState& sweep = session.sweep();
  const SweepTable& table = sweep.table();
  const std::string file = sweep.file() ? sweep.file()->path : std::string();
  if (file != s.seen_file) {
    SweepTabState fresh;
    fresh.picture = s.picture;
    fresh.tune = s.tune;
    std::copy(std::begin(s.budget), std::end(s.budget), std::begin(fresh.budget));
    s = std::move(fresh);
    s.seen_file = file;
  }
  s.choice.filter = s.filter;
  const bool other_table = s.seen != table.revision;
  if (!other_table && s.seen_choice == s.choice) return;
  if (other_table) {
    s.scale = value_scale(table);
    s.columns = sweep_columns(table, false);
    s.convergence_curve = convergence_of(table);
    s.headline = sweep_headline(table);
    std::erase_if(s.choice.brushes, [&](const SweepBrush& b) { return b.axis > table.axes.size(); });
    if (s.across >= table.axes.size()) s.across = 0;
    for (auto* index : {&s.chosen, &s.hovered, &s.go_to})
      if (*index && **index >= table.points.size()) index->reset();
  }
  s.order = select_points(table, s.choice);
  s.drawn = thinned(table, s.order, kMostDrawn);
  s.seen = table.revision;
  s.seen_choice = s.choice;
}

void draw_tune_buttons(const Session& session, UiState& ui) {
  SweepTabState& s = ui.of<SweepTabState>();
  const float height = px(26);
  const SweepState& sweep = session.sweep();
  if (sweep.running()) {
    if (button("sweep/cancel", "Cancel", ButtonKind::Plain, {}, {0, height})) ui.commands.push(CancelTune{});
  } else {
    const std::string reason = session.sweep().why_no_tune();
    if (button("sweep/tune", "Tune", sweep.file() ? ButtonKind::Plain : ButtonKind::Primary, reason, {0, height}))
      ui.commands.push(StartTune{s.tune, false});
    if (ImGui::IsItemHovered() && reason.empty())
      tooltip("searches the kernel's tile sizes and options, each solved exactly, into a history of its own  " + keys_of("tune"));
    if (sweep.file() && sweep.table().kind == SweepKind::Tuning) {
      const std::string no_more = session.sweep().why_no_more();
      same_line_if_room(button_width("Continue"));
      if (button("sweep/more", "Continue", ButtonKind::Plain, no_more, {0, height})) ui.commands.push(StartTune{s.tune, true});
      if (ImGui::IsItemHovered() && no_more.empty()) tooltip("goes on with this history");
    }
  }
  same_line_if_room(px(150));
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "evaluations");
  ImGui::SameLine(0, px(4));
  if (input_field("sweep/budget", "50", s.budget, sizeof s.budget, px(56)))
    if (const long budget = std::strtol(s.budget, nullptr, 10); budget >= 1 && budget <= 1'000'000) s.tune.budget = budget;
  for (const char* method : {"baco", "random", "bandit", "exhaustive"}) {
    same_line_if_room(button_width(method));
    if (choice((std::string("sweep/method/") + method).c_str(), method, s.tune.method == method)) s.tune.method = method;
  }
  constexpr const char* kWritten = "only what can be written";
  same_line_if_room(button_width(kWritten));
  const Machine* machine = session.content().machine.get();
  const auto refusal = machine ? codegen::refuse_machine(*machine) : std::nullopt;
  if (choice("sweep/written", kWritten, s.tune.written && !refusal, refusal ? refusal->sentence : "")) s.tune.written = !s.tune.written;
  if (!refusal && ImGui::IsItemHovered()) tooltip("leaves out configurations whose kernel cannot be written as CUDA");
  same_line_if_room(button_width("Open ..."));
  const Action& open = *find_action("open_sweep");
  if (button("sweep/open", "Open ...", ButtonKind::Plain, {}, {0, height})) perform(open, session, ui);
  if (sweep.file()) {
    same_line_if_room(button_width("Close"));
    if (button("sweep/close", "Close", ButtonKind::Plain, {}, {0, height})) ui.commands.push(CloseSweep{});
  }
}

void draw_copies(const Session& session, UiState& ui) {
  const float height = px(26);
  const SweepTable& table = session.sweep().table();
  if (session.sweep().file()) {
    same_line_if_room(button_width("Copy"));
    if (button("sweep/copy", "Copy", ButtonKind::Plain, table.points.empty() ? "there is nothing yet" : "", {0, height}))
      ui.commands.push(copy_text(sweep_as_text(table, ui.of<SweepTabState>().order)));
    if (ImGui::IsItemHovered()) tooltip("the table, tab-separated");
  }
  same_line_if_room(button_width("Copy as command"));
  const bool made = session.sweep().file() && !table.head.command.empty();
  copy_command_button("sweep/command", session, ui,
                      made ? printable(table.head.command) : tune_command(session, ui.of<SweepTabState>().tune), {0, height});
}

/// How the sweep stands, and what is wrong with its file.
void draw_sweep_state(const Session& session, UiState& ui) {
  const SweepState& sweep = session.sweep();
  const SweepTabState& s = ui.of<SweepTabState>();
  const FontScope small(fonts().small);
  const auto line = [](Color color, const std::string& text, const char* name) {
    const std::string shown = fitted(fonts().small, text, std::max(ImGui::GetContentRegionAvail().x, px(40)));
    colored_text(color, shown);
    if (probe::on()) probe::last_item(name);
    if (ImGui::IsItemHovered() && shown != text) tooltip(text);
  };
  if (sweep.running())
    line(theme().text,
         fmt::format("tuning · {} · {}", sweep.run().doing().empty() ? "starting" : drawable(sweep.run().doing()),
                     seconds_text(sweep.run().seconds())),
         "sweep/run");
  if (!sweep.running() && sweep.run().phase() == Task<SweepRunEnd>::Phase::Done && !sweep.run().answer()->failure.empty())
    line(theme().bad, "! " + drawable(sweep.run().answer()->failure), "sweep/failed");
  if (!sweep.file()) return;
  std::string text = sweep.missing() && sweep.bytes() == 0 ? "waiting for " + sweep.file()->path : s.headline;
  const SweepTable& table = sweep.table();
  if (table.end)
    text +=
        " · ended: " + printable(table.end->reason) + (table.end->proved ? ", the file says proved: nothing in the space is better" : "");
  if (s.order.size() != table.points.size()) text += fmt::format(" · {} shown", grouped(static_cast<std::int64_t>(s.order.size())));
  if (sweep.missing() && sweep.bytes() > 0) text += " · the file is gone";
  line(theme().dim, drawable(text), "sweep/state");
  if (sweep.faults().empty()) return;
  const Fault& first = sweep.faults().front();
  line(theme().bad,
       fmt::format("! {}{}", drawable(printable(to_string(first))),
                   sweep.faults().size() > 1 ? fmt::format(" · and {} more", sweep.faults().size() - 1) : std::string()),
       "sweep/fault");
}

void draw_choices_of_picture(const Session& session, UiState& ui, bool narrow) {
  SweepTabState& s = ui.of<SweepTabState>();
  const FontScope body(fonts().body);
  constexpr std::pair<SweepPicture, const char*> kPictures[] = {{SweepPicture::Table, "Table"},
                                                                {SweepPicture::Parallel, "Axes"},
                                                                {SweepPicture::Scatter, "Scatter"},
                                                                {SweepPicture::Convergence, "Convergence"}};
  bool first = true;
  if (!narrow && s.picture == SweepPicture::Table) s.picture = SweepPicture::Parallel;
  for (const auto& [picture, label] : kPictures) {
    if (picture == SweepPicture::Table && !narrow) continue;
    if (!std::exchange(first, false)) ImGui::SameLine(0, px(4));
    if (choice((std::string("sweep/picture/") + label).c_str(), label, s.picture == picture)) s.picture = picture;
  }
  const SweepTable& table = session.sweep().table();
  if (s.picture == SweepPicture::Scatter && !table.axes.empty()) {
    ImGui::SameLine(0, px(10));
    const float room = ImGui::GetContentRegionAvail().x;
    if (button("sweep/across", fitted(fonts().body, "over " + table.axes[s.across].name, room - px(20)), ButtonKind::Flat, {}, {0, px(26)}))
      s.across = (s.across + 1) % table.axes.size();
    if (ImGui::IsItemHovered()) tooltip("Click: over the next parameter.");
  }
  if (!s.choice.brushes.empty()) {
    ImGui::SameLine(0, px(10));
    if (button("sweep/unbrush", "Clear ranges", ButtonKind::Flat, {}, {0, px(26)})) s.choice.brushes.clear();
  }
}

void draw_nothing_swept() {
  ImGui::Dummy({0, px(4)});
  wrapped_text(fonts().body, theme().text,
               "Many configurations beside each other: which tile sizes, stages and options are best, how far the best is from a proved "
               "bound, and every point as a schedule.");
  wrapped_text(fonts().small, theme().dim,
               "Tune searches the kernel that is open. A history (heddle tune --history), results or the journal of heddle batch can be "
               "opened or dropped here, also while another "
               "process or a cluster is writing them.");
}

}  // namespace

Color sweep_ink(const SweepPoint& point) {
  switch (point.standing) {
    case SweepStanding::Proved: return theme().good;
    case SweepStanding::Found: return theme().accent;
    case SweepStanding::Open: return theme().warning;
    case SweepStanding::Failed: return theme().bad;
  }
  return theme().text;
}

void pick_point(const Session&, UiState& ui, std::uint32_t index, bool as_baseline) {
  ui.of<SweepTabState>().chosen = index;
  ui.commands.push(OpenPoint{index, as_baseline});
}

void draw_sweep_tab(const Session& session, const Models&, UiState& ui) {
  SweepTabState& s = ui.of<SweepTabState>();
  refresh(session, s);
  draw_tune_buttons(session, ui);
  draw_copies(session, ui);
  draw_sweep_state(session, ui);
  if (!session.sweep().file()) return draw_nothing_swept();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool narrow = room.x < px(760);
  input_field("sweep/filter", "filter: status=proved TILE_N=256 stages>=2", s.filter, sizeof s.filter,
              narrow ? px(150) : std::min(room.x * (1 - kSweepSide) - px(20), px(340)));
  if (ImGui::IsItemHovered()) tooltip("words that must occur, and comparisons of columns: status=proved TILE_N=256 stages>=2 ratio<1.1");
  if (narrow) {
    ImGui::SameLine(0, px(8));
    draw_choices_of_picture(session, ui, true);
  } else {
    ImGui::SameLine(room.x * (1 - kSweepSide) + px(12));
    draw_choices_of_picture(session, ui, false);
  }
  const float high = std::max(ImGui::GetContentRegionAvail().y, px(50));
  const float wide = narrow ? room.x : room.x * kSweepSide - px(12);
  if (!narrow || s.picture == SweepPicture::Table) draw_sweep_table(session, ui, {narrow ? room.x : room.x * (1 - kSweepSide), high});
  if (!narrow) ImGui::SameLine(0, px(12));
  switch (s.picture) {
    case SweepPicture::Table: break;
    case SweepPicture::Parallel: draw_sweep_parallel(session, ui, {wide, high}); break;
    case SweepPicture::Scatter: draw_sweep_scatter(session, ui, {wide, high}); break;
    case SweepPicture::Convergence: draw_sweep_convergence(session, ui, {wide, high}); break;
  }
}

}  // namespace heddle::app
