// The Runs tab: kernels run on a GPU by the command-line program, the history of what they measured, and the chosen measurement
// beside what the schedule predicts.
#include <fmt/format.h>

#include <algorithm>

#include "app/command/arguments.h"
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/run_state.h"
#include "app/session/view_commands.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/gpu_task_line.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/runs/measured_model.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr ImGuiTableFlags kRunTable = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg |
                                      ImGuiTableFlags_PadOuterX | ImGuiTableFlags_ScrollY;

void draw_run_verb(const char* id, const char* label, bool primary, const Session& session, UiState& ui) {
  const Action& action = *find_action(id);
  const std::string reason = why_not(action, session);
  same_line_if_room(button_width(label));
  if (button(fmt::format("runs/{}", id).c_str(), label, primary ? ButtonKind::Primary : ButtonKind::Plain, reason, {0, px(26)}))
    perform(action, session, ui);
  if (ImGui::IsItemHovered() && reason.empty())
    tooltip(std::string(action.label) + (keys_of(action).empty() ? "" : "  " + keys_of(action)));
}

/// What stands in the field while it is typed.
struct HostField {
  char text[256] = "";
  std::string known;  ///< the setting that it shows
};

/// The machine that kernels are run on.
void draw_host(const Session& session, UiState& ui) {
  HostField& field = ui.of<HostField>();
  if (const std::string& host = session.settings().run_host; field.known != host) {
    field.known = host;
    fmt::format_to_n(field.text, sizeof field.text - 1, "{}", host).out[0] = 0;
  }
  same_line_if_room(px(190));
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "on");
  ImGui::SameLine();
  if (input_field("runs/host", "this machine", field.text, sizeof field.text, px(150))) ui.commands.push(run_on(field.known = field.text));
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    tooltip("a host that ssh reaches without a password: HOST, USER@HOST, or a name of your ssh configuration; empty: this machine");
}

void draw_run_bar(const Session& session, UiState& ui) {
  const RunState& runs = session.runs();
  const float height = px(26);
  if (runs.run().active()) {
    if (button("runs/cancel", runs.profiling() ? "Cancel profiling" : "Cancel the run", ButtonKind::Plain, {}, {0, height}))
      ui.commands.push(CancelRun{});
  } else {
    const std::string reason = session.runs().why_no_run();
    if (button("runs/run_kernel", "Run", ButtonKind::Primary, reason, {0, height})) ui.commands.push(RunKernel{false});
    if (ImGui::IsItemHovered() && reason.empty()) tooltip("verify and time the shown schedule's kernel  " + keys_of("run_kernel"));
    draw_run_verb("profile_kernel", "Profile", false, session, ui);
  }
  draw_host(session, ui);
  draw_run_verb("overlay_measured", session.view().measured ? "Hide measured" : "Show measured", false, session, ui);
  draw_run_verb("adopt_measured", "Adopt and solve", false, session, ui);
  draw_run_verb("open_measurement", "Open ...", false, session, ui);
  same_line_if_room(button_width("Copy as command"));
  // For another machine: with everything that can be measured, in a file to be opened here.
  std::string line = run_kernel_command(session, true);
  if (!line.empty()) line += " --out " + shell_word(base_name(session.content().kernel->name) + ".measurement.json");
  copy_command_button("runs/command", session, ui, line, {0, height});
}

void draw_run_state(const Session& session) {
  draw_gpu_task_line(session, session.runs().run(),
                     {"runs/state", "Not run",
                      ". A host that ssh reaches will do, and measurements of other machines can be opened or dropped on the window."});
}

auto run_field(std::string RunRow::*text) {
  return [text](const RunRow& row) { return row.*text; };
}

/// What the details say as well goes first where there is little room.
std::vector<Column<RunRow>> run_columns(float room) {
  using Row = RunRow;
  std::vector<Column<Row>> columns{Column<Row>{"date (UTC)", false, run_field(&Row::date)}.wide(2.2f),
                                   Column<Row>{"kernel", false, run_field(&Row::kernel)}.wide(1.8f)};
  if (room >= px(480)) columns.push_back(Column<Row>{"schedule", false, run_field(&Row::schedule)}.wide(1.3f));
  if (room >= px(760)) columns.push_back(Column<Row>{"device", false, run_field(&Row::device)}.wide(1.5f));
  columns.push_back(
      Column<Row>{"status", false, run_field(&Row::status)}.wide(1.2f).inked([](const Row& row) { return tone_ink(row.tone); }));
  columns.push_back(Column<Row>{"TFLOP/s", true, run_field(&Row::tflops)}.wide(1.0f));
  columns.push_back(
      Column<Row>{"ratio", true, run_field(&Row::ratio), {}, "speed as a fraction of the library's in the same process"}.wide(0.8f));
  columns.push_back(Column<Row>{"II", true, run_field(&Row::predicted)}.wide(0.8f));
  columns.push_back(Column<Row>{"measured", true, run_field(&Row::measured)}.wide(1.3f));
  if (room >= px(620)) columns.push_back(Column<Row>{"off by", true, run_field(&Row::residual)}.wide(1.0f));
  for (auto& column : columns)
    if (!column.number)
      column.draw = [text = column.text, ink = column.ink](const Row& row) {
        colored_text(ink ? ink(row) : theme().text, fitted_middle(fonts().small, text(row), ImGui::GetContentRegionAvail().x));
      };
  return columns;
}

/// The rows of the history, made anew when it has changed: a long one costs too much for every frame.
class HistoryRows {
 public:
  std::vector<RunRow>& of(const std::vector<RunPtr>& runs) {
    if (runs != runs_) {
      runs_ = runs;
      rows_.clear();
      for (const RunPtr& run : runs_) {
        rows_.push_back(run_row(run->measurement));
        rows_.back().index = rows_.size() - 1;
      }
    }
    return rows_;
  }

 private:
  std::vector<RunPtr> runs_;
  std::vector<RunRow> rows_;
};

void draw_history(const Session& session, UiState& ui, ImVec2 size) {
  const RunState& runs = session.runs();
  const std::vector<Column<RunRow>> columns = run_columns(size.x > 0 ? size.x : ImGui::GetContentRegionAvail().x);
  std::vector<RunRow>& rows = ui.of<HistoryRows>().of(runs.runs());
  const FontScope small(fonts().small);
  TableLook look;
  look.flags = kRunTable;
  look.size = size;
  draw_sorted_table("history", look, columns, rows, [&](const RunRow& row, std::size_t) {
    const std::size_t index = row.index;
    const bool chosen = runs.chosen() == index;
    if (table_row(fmt::format("runs/row/{}", index), chosen)) ui.commands.push(SelectRun{chosen ? std::nullopt : std::optional(index)});
    if (ImGui::IsItemHovered()) tooltip(runs.runs()[index]->path);
    ImGui::SameLine(0, 0);
    columns.front().draw(row);
  });
}

std::string signed_cycles(double value) { return fmt::format("{:+.0f}", value); }

void draw_residuals(const Session& session, UiState& ui, const KernelProfile& profile) {
  std::vector<ResidualRow> rows = residual_rows(*session.content().problem, profile);
  section("OPS, MEASURED AGAINST PREDICTED", "cycles");
  if (!profile.trusted)
    wrapped_text(fonts().small, theme().warning,
                 fmt::format("! the recording build is {} slower than the plain one: these are its times", percent_text(profile.cost())));
  using Row = ResidualRow;
  const auto off = [](const Row& row) { return row.off() ? theme().warning : theme().text; };
  const std::vector<Column<Row>> columns{
      Column<Row>{"op", false, [](const Row& row) { return row.name; }}.wide(1.8f),
      Column<Row>{"start", true, [](const Row& row) { return fmt::format("{:.0f}", row.start); }}.wide(1.0f),
      Column<Row>{"off by", true, [](const Row& row) { return signed_cycles(row.start_residual()); }}.wide(1.0f).inked(off),
      Column<Row>{
          "takes", true,
          [](const Row& row) { return row.observed_end ? fmt::format("{:.0f}", row.duration) : fmt::format("({:.0f})", row.duration); }}
          .wide(1.0f),
      Column<Row>{"longer by", true, [](const Row& row) { return row.observed_end ? signed_cycles(row.duration_residual()) : "-"; }}
          .wide(1.0f)
          .inked(off)};
  TableLook look;
  look.flags = kRunTable & ~ImGuiTableFlags_ScrollY;
  look.every_row = true;
  draw_sorted_table("residuals", look, columns, rows, [&](const Row& row, std::size_t i) {
    if (table_row(fmt::format("runs/op/{}", i), row.op.valid() && session.selection().contains(row.op)) && row.op.valid())
      ui.commands.push(SelectOp{row.op, ImGui::GetIO().KeyCtrl});
    if (ImGui::IsItemHovered())
      tooltip(
          fmt::format("{} in {}: starts at {:.0f}, predicted {:.0f}; takes {:.0f}, predicted {:.0f}; {} samples, 10th to 90th percentile "
                      "{:.0f} cycles apart{}",
                      row.name, row.group, row.start, row.predicted_start, row.duration, row.predicted_duration, row.samples, row.spread,
                      row.observed_end ? "" : "; its group never waits for its end, so the time is that of issuing it"));
    ImGui::SameLine(0, 0);
    colored_text(theme().text, fitted_middle(fonts().body, row.name, ImGui::GetContentRegionAvail().x));
  });
}

void draw_checks(const Verification& v) {
  const std::string runs =
      v.repeats == 0 ? "" : fmt::format("{} {}", count_of(v.repeats, "run"), v.repeats_equal ? "bitwise equal" : "differ");
  section("RESULTS", runs);
  for (const OutputCheck& check : v.checks) {
    const std::string line = fmt::format(
        "{} {} with {}: {}{}", check.passed ? "✓" : "✗", printable(check.tensor), printable(check.input), printable(check.criterion),
        check.passed
            ? ""
            : fmt::format("; {} of {} elements wrong, worst at {}", grouped(check.wrong), grouped(check.elements), printable(check.at)));
    wrapped_text(fonts().small, check.passed ? theme().good : theme().bad,
                 fonts().built_in ? (check.passed ? "ok: " : "wrong: ") + line.substr(4) : line);
  }
  if (!v.reference.empty()) wrapped_text(fonts().small, theme().dim, "compared with " + printable(v.reference));
}

void draw_timing(const Timing& t) {
  section("SPEED", "cold: median of blocks");
  const auto line = [](const std::string& name, double us, double tflops) {
    if (us > 0)
      fact_line(name, tflops > 0 ? fmt::format("{:.1f} us · {:.0f} TFLOP/s", us, tflops) : fmt::format("{:.1f} us", us), theme().text);
  };
  const auto lines = [&](const TimedKernel& k) {
    line(printable(k.name), k.median_us, k.tflops);
    line("  sustained", k.sustained_us, k.sustained_tflops);
  };
  lines(t.kernel);
  if (!t.left_out.empty()) wrapped_text(fonts().small, theme().dim, "its time leaves out: " + printable(t.left_out));
  for (const TimedLibrary& library : t.libraries) {
    lines(library.times);
    if (const auto ratio = t.ratio(library.times)) fact_line("of its speed", fmt::format("{:.3f}", *ratio), theme().text);
    if (const auto ratio = t.sustained_ratio(library.times)) fact_line("  sustained", fmt::format("{:.3f}", *ratio), theme().text);
    if (!library.absent.empty()) wrapped_text(fonts().small, theme().dim, printable(library.absent));
  }
  if (!t.no_library.empty()) wrapped_text(fonts().small, theme().dim, printable(t.no_library));
  if (t.cycles_per_iteration > 0) fact_line("cycles per iteration", fmt::format("{:.1f}", t.cycles_per_iteration), theme().text);
}

void draw_chosen(const Session& session, UiState& ui) {
  const RunState& runs = session.runs();
  const Measurement* m = runs.measurement();
  if (!m) {
    wrapped_text(
        fonts().small, theme().dim,
        "Choose a run: was its result right, how fast was it, and where was every op measured against where the schedule predicts it.");
    return;
  }
  const RunRow row = run_row(*m);
  const RunFit fit = run_fit(session.content(), *m);
  wrapped_text(fonts().bold, tone_ink(row.tone),
               row.status + (row.measured.empty() ? "" : fmt::format(" · II {} measured, {} predicted", row.measured, row.predicted)));
  if (!m->sentence.empty()) wrapped_text(fonts().small, theme().text, printable(m->sentence));
  wrapped_text(fonts().small, fit.same_schedule ? theme().dim : theme().warning, (fit.same_schedule ? "" : "! ") + fit.sentence);
  if (m->profile && fit.same_kernel) draw_residuals(session, ui, *m->profile);
  if (m->verification) draw_checks(*m->verification);
  if (m->timing) draw_timing(*m->timing);
  if (m->device) {
    section("DEVICE");
    fact_line("device", printable(m->device->name), theme().text);
    if (!m->host.empty()) fact_line("host", printable(m->host), theme().text);
    if (!m->device->driver.empty()) fact_line("driver", printable(m->device->driver), theme().text);
    if (m->device->clock_mhz > 0)
      fact_line("SM clock",
                m->device->max_clock_mhz > 0 ? fmt::format("{:.0f} of {:.0f} MHz", m->device->clock_mhz, m->device->max_clock_mhz)
                                             : fmt::format("{:.0f} MHz", m->device->clock_mhz),
                theme().text);
  }
  if (m->build) {
    section("BUILD");
    fact_line("compiler", printable(m->build->compiler), theme().text);
    fact_line("registers at launch", fmt::format("{}", m->build->registers), theme().text);
    fact_line("spills", fmt::format("{} bytes", grouped(m->build->spill_bytes)), m->build->spill_bytes > 0 ? theme().bad : theme().text);
    fact_line("launch", fmt::format("{} blocks of {} threads", m->build->blocks, m->build->threads), theme().text);
  }
  section("FILE");
  wrapped_text(fonts().small, theme().dim, runs.runs()[*runs.chosen()]->path);
  if (!m->command.empty()) wrapped_text(fonts().mono_small, theme().dim, printable(m->command));
}

}  // namespace

void draw_runs_tab(const Session& session, const Models&, UiState& ui) {
  draw_run_bar(session, ui);
  draw_run_state(session);
  const RunState& runs = session.runs();
  if (runs.runs().empty()) {
    ImGui::Dummy({0, px(4)});
    wrapped_text(fonts().body, theme().text,
                 "Runs on a GPU: checked against a reference, timed beside the library, and every op's measured place over the one that "
                 "the schedule gives it, so that the "
                 "worst misprediction shows. Run verifies and times; Profile records every op as well.");
    wrapped_text(
        fonts().small, theme().dim,
        "Without a GPU: name a host that has one and that ssh reaches; or copy the command, run it there, and open the measurement "
        "here (File, Open, or drop it on the window).");
    return;
  }
  const float whole = ImGui::GetContentRegionAvail().x, high = ImGui::GetContentRegionAvail().y;
  const bool narrow = whole < px(720);
  const float side = std::clamp(whole * 0.36f, px(280), px(440));
  ImGui::Dummy({0, px(2)});
  draw_history(session, ui, narrow ? ImVec2(0, std::max(high * 0.4f, px(60))) : ImVec2(whole - side - px(12), 0));
  if (!narrow) ImGui::SameLine(0, px(12));
  ImGui::BeginChild("chosen", {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(3)});
  draw_chosen(session, ui);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace heddle::app
