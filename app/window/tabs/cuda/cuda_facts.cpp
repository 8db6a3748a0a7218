// The column beside the text: where the selected op is in it, what the compiler said, what the check on the CPU found.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/kernel_state.h"
#include "app/session/solving.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/kernel_cuts.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"
#include "codegen/program/kernel_numbers.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

std::string bytes_text(std::int64_t bytes) { return fmt::format("{} bytes", grouped(bytes)); }

/// Lines of the selected op by part, each a button that leads there.
void draw_places(const Session& session, UiState& ui, const SourceModel& source) {
  const OpId op = session.selection().primary();
  section("LINES OF THE SELECTED OP", op.valid() ? keys_of("next_source") : std::string());
  if (!op.valid() || op.index() >= session.content().problem->ops.size()) {
    wrapped_text(fonts().small, theme().dim, "Select a bar or a line: bars and lines of one op light up together.");
    return;
  }
  const std::vector<std::size_t> blocks = blocks_of(source, op);
  wrapped_text(fonts().small, theme().text,
               fmt::format("{}: {}", session.content().problem->op(op).name, count_of(static_cast<std::int64_t>(blocks.size()), "step")));
  if (shared_memory_plan(*session.content().problem, op)) {
    if (link("cuda/layout", "Its layout")) ui.commands.push(show_tab(BottomTab::Layout));
    if (ImGui::IsItemHovered()) tooltip(access_words(*session.content().problem, op));
  }
  for (const SourcePart part : {SourcePart::Begin, SourcePart::Fill, SourcePart::Steady, SourcePart::Drain, SourcePart::End}) {
    std::optional<std::size_t> first;
    std::int64_t lines = 0;
    for (const std::size_t b : blocks) {
      const SourceBlock& block = source.blocks[b];
      if (block.part != part) continue;
      if (!first) first = block.first;
      lines += static_cast<std::int64_t>(block.last - block.first + 1);
    }
    if (!first) continue;
    const std::string name = fmt::format("cuda/part/{}", static_cast<int>(part));
    const std::string label = fmt::format("{}: {}", to_words(part), count_of(lines, "line"));
    if (link(name.c_str(), label)) ui.of<CudaTabState>().go_to = ui.of<CudaTabState>().marked = *first;
    if (ImGui::IsItemHovered()) tooltip(fmt::format("line {}", *first + 1));
  }
}

Color ink_of(codegen::BuildMessage::Level level) {
  switch (level) {
    case codegen::BuildMessage::Level::Error: return theme().bad;
    case codegen::BuildMessage::Level::Warning: return theme().warning;
    case codegen::BuildMessage::Level::Info: return theme().dim;
  }
  return theme().dim;
}

/// A row each; one that names a line leads there.
void draw_messages(UiState& ui, const KernelBuild& build, const KernelText* text) {
  const auto count = static_cast<std::int64_t>(build.messages.size());
  if (count == 0) return;
  section("COMPILER'S LOG", count_of(count, "message"));
  for (std::size_t i = 0; i < build.messages.size(); ++i) {
    const codegen::BuildMessage& m = build.messages[i];
    const char* word = m.level == codegen::BuildMessage::Level::Error     ? "error"
                       : m.level == codegen::BuildMessage::Level::Warning ? "warning"
                                                                          : "info";
    const bool leads = m.line > 0 && text && static_cast<std::size_t>(m.line) <= text->source.lines.size();
    const std::string where = m.line > 0 ? fmt::format("line {}  ", m.line) : "";
    const std::string line = where + (m.code.empty() ? "" : m.code + "  ") + m.text;
    const float width = ImGui::GetContentRegionAvail().x;
    const RowArea row = pick_row(fmt::format("cuda/message/{}", i).c_str(), false, px(20));
    ImGui::GetWindowDrawList()->AddRectFilled(row.min, {row.min.x + px(3), row.max.y}, ink_of(m.level));
    paint_text(fonts().small, {row.min.x + px(8), row.min.y + px(3)},
               m.level == codegen::BuildMessage::Level::Info ? theme().dim : theme().text, fitted(fonts().small, line, width - px(10)));
    if (row.hovered) tooltip(fmt::format("{}: {}{}", word, line, leads ? "\nClick: to the line." : ""));
    if (row.clicked && leads) ui.of<CudaTabState>().go_to = ui.of<CudaTabState>().marked = static_cast<std::size_t>(m.line) - 1;
  }
}

void draw_census(const codegen::Census& census) {
  section("INSTRUCTIONS", grouped(census.instructions));
  // "784 instructions, 8 wgmma (A in shared memory), 4 ...": one line per kind.
  std::string rest = codegen::census_text(census);
  std::size_t at = rest.find(", ");
  while (at != std::string::npos) {
    const std::size_t end = rest.find(", ", at + 2);
    const std::string entry = rest.substr(at + 2, end == std::string::npos ? end : end - at - 2);
    const std::size_t space = entry.find(' ');
    if (space != std::string::npos) fact_line(entry.substr(space + 1), entry.substr(0, space), theme().text);
    at = end;
  }
}

/// What ptxas made of each role's loop.
void draw_machine_code(const KernelBuild& build) {
  if (build.audit_lines.empty()) return;
  section("MACHINE CODE", "of the steady loops");
  std::string_view rest = build.audit_lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    wrapped_text(fonts().small, line.starts_with(' ') ? theme().dim : theme().text, std::string(line));
  }
}

void draw_build(const Session& session, UiState& ui, const KernelText* text) {
  const auto& task = session.kernel().built();
  section("BUILD");
  if (task.active()) {
    wrapped_text(fonts().small, theme().text,
                 fmt::format("{} · {}", task.doing().empty() ? "starting" : task.doing(), seconds_text(task.seconds())));
    return;
  }
  if (task.phase() == Task<KernelBuild>::Phase::Failed) wrapped_text(fonts().small, theme().bad, "failed: " + task.failure());
  if (!task.answer()) {
    const std::string reason = session.kernel().why_no_build();
    const Result<std::string>* compiler = session.kernel().compiler();
    wrapped_text(fonts().small, theme().dim,
                 !reason.empty() ? reason
                 : compiler      ? fmt::format("Not compiled yet. {} makes a cubin for {} of it; no GPU is needed.", **compiler,
                                          text && text->program ? text->program->arch : "the GPU")
                                 : "Not compiled yet.");
    if (compiler && !compiler->ok() && !compiler->error().faults.front().hint.empty())
      wrapped_text(fonts().small, theme().accent, compiler->error().faults.front().hint);
    return;
  }
  const KernelBuild& b = *task.answer();
  const bool current = KernelState::is_current(task, KernelState::subject_of(session.content()));
  if (!current) wrapped_text(fonts().small, theme().warning, "! of an earlier schedule: compile again");
  if (b.error) {
    wrapped_text(fonts().small, theme().bad, b.messages.empty() ? b.error->faults.front().message : "The text does not compile.");
    if (!b.error->faults.front().hint.empty()) wrapped_text(fonts().small, theme().accent, b.error->faults.front().hint);
    draw_messages(ui, b, current ? text : nullptr);
    return;
  }
  const codegen::PtxasReport& report = b.compiled.report;
  const Color ink = current ? theme().text : theme().dim;
  if (b.faults.empty() && b.findings.empty())
    wrapped_text(fonts().small, current ? theme().good : theme().dim, "Clean: the kernel is what the schedule says.");
  draw_refusals("cuda/fault", session, ui, b.faults, BuildKernel{true});
  draw_refusals("cuda/finding", session, ui, b.findings, BuildKernel{true});
  fact_line("compiler", b.compiled.compiler, ink);
  fact_line(b.compiled.from_cache ? "from the cache" : "compiled in", b.compiled.from_cache ? "yes" : seconds_text(b.compiled.seconds),
            ink);
  if (b.text && b.text->program)
    for (std::size_t role = 0; role < std::min(b.text->build.cuts.size(), b.text->program->roles.size()); ++role)
      if (const int cut = b.text->build.cuts[role]; cut != 0)
        fact_line("loop of " + printable(b.text->program->roles[role].name), fmt::format("cut {}", cut), ink);
  fact_line("registers at launch", fmt::format("{}", report.registers), ink);
  const std::int64_t spills = report.spill_stores + report.spill_loads;
  fact_line("spills", bytes_text(spills), spills > 0 ? theme().bad : ink);
  fact_line("stack", bytes_text(report.stack), report.stack > 0 ? theme().bad : ink);
  if (text && text->emission && current) fact_line("shared memory", bytes_text(text->emission->launch.smem_bytes), ink);
  fact_line("named barriers", fmt::format("{}", report.barriers), ink);
  fact_line("cubin", bytes_text(static_cast<std::int64_t>(b.compiled.cubin.size())), ink);
  draw_census(b.compiled.census);
  draw_machine_code(b);
  draw_messages(ui, b, current ? text : nullptr);
}

/// The step that went wrong, as a link to its op; then the whole sentence.
void draw_fault(const Session& session, UiState& ui, const std::string& name, const KernelCheck& check, bool current) {
  if (check.op.valid() && current) {
    const std::string op = session.content().problem->op(check.op).name;
    if (link((name + "/op").c_str(), fmt::format("{}: {}{}", check.kind, printable(op), check.role.empty() ? "" : " in " + check.role))) {
      ui.of<CudaTabState>().steps = ui.of<CudaTabState>().facts = false;
      ui.of<CudaTabState>().followed.clear();  // its lines come into view also where it is selected already
      ui.commands.push(SelectOp{check.op});
    }
    if (ImGui::IsItemHovered()) tooltip("Click: selects the op in the chart and shows its lines.");
  }
  wrapped_text(fonts().small, current ? theme().bad : theme().dim, fmt::format("interleaving {}: {}", check.done - 1, check.fault));
}

struct CheckCard {
  std::string name;
  const char* title;
  const char* about;  ///< where there is no answer yet
  CheckRequest usual;
};

void draw_check(const Session& session, UiState& ui, const CheckCard& card, const Task<KernelCheck>& task) {
  const auto& [name, title, about, usual] = card;
  section(title);
  if (task.active()) {
    wrapped_text(fonts().small, theme().text,
                 fmt::format("{} · {}", task.doing().empty() ? "starting" : task.doing(), seconds_text(task.seconds())));
    return;
  }
  if (task.phase() == Task<KernelCheck>::Phase::Failed) wrapped_text(fonts().small, theme().bad, "failed: " + task.failure());
  if (!task.answer()) {
    wrapped_text(fonts().small, theme().dim, about);
    return;
  }
  const KernelCheck& c = *task.answer();
  const bool current = KernelState::is_current(task, KernelState::subject_of(session.content()));
  if (!current) wrapped_text(fonts().small, theme().warning, "! of an earlier schedule or otherwise written: verify again");
  if (!c.failure.empty())
    wrapped_text(fonts().small, theme().bad, c.failure);
  else if (!c.fault.empty())
    draw_fault(session, ui, name, c, current);
  else
    wrapped_text(
        fonts().small, current ? theme().good : theme().dim,
        c.data ? fmt::format(
                     "{} of {} over the {} of the grid at evaluation sizes, up to {} each: every element as heddle eval computes it ({})",
                     count_of(c.done, "interleaving"), count_of(static_cast<std::int64_t>(c.roles), "role"), count_of(c.tiles, "tile"),
                     count_of(c.trips, "trip"), seconds_text(c.seconds))
               : fmt::format("{} of {} over {}, {} each: no deadlock, no race ({})", count_of(c.done, "interleaving"),
                             count_of(static_cast<std::int64_t>(c.roles), "role"), count_of(c.tiles, "tile"), count_of(c.trips, "trip"),
                             seconds_text(c.seconds)));
  const std::string line = check_kernel_command(session, {c.wanted > 0 ? c.wanted : usual.interleavings, usual.data});
  if (line.empty()) return;
  if (link((name + "/command").c_str(), "copy as command")) ui.commands.push(copy_text(line));
  if (ImGui::IsItemHovered()) tooltip(line);
}

/// The cut that makes the tile fit, as a button: the kernel is opened again, cut, with the parameters and numbers that it has now.
void draw_cut(const std::string& name, const Session& session, UiState& ui, const Subtile& cut) {
  const std::string label = fmt::format("Cut {} into {} parts and solve", printable(cut.param), cut.factor);
  const std::string reason = why_no_cut(session);
  if (button(name.c_str(), label, ButtonKind::Primary, reason, {0, px(26)})) open_cut(session, ui, cut);
  if (ImGui::IsItemHovered() && reason.empty()) tooltip("Ctrl+Z brings the kernel back as it was");
}

}  // namespace

void draw_refusals(const std::string& name, const Session& session, UiState& ui, const std::vector<codegen::Refusal>& refusals,
                   const Command& again) {
  const Constraints& known = session.content().constraints;
  for (std::size_t i = 0; i < refusals.size(); ++i) {
    const codegen::Refusal& r = refusals[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Indent(px(12));
    wrapped_text(fonts().mono_small, theme().bad, printable(r.rule));
    wrapped_text(fonts().body, theme().text, printable(r.sentence));
    if (r.cut) draw_cut(fmt::format("{}/{}/cut", name, i), session, ui, *r.cut);
    if (r.constraint) {
      const bool demanded = std::find(known.begin(), known.end(), *r.constraint) != known.end();
      const std::string reason = demanded ? "this is demanded already" : session.kernel().why_not_again();
      if (button(fmt::format("{}/{}", name, i).c_str(), "Solve with it again", ButtonKind::Primary, reason, {0, px(26)}))
        ui.commands.push(again);
      if (ImGui::IsItemHovered() && reason.empty())
        tooltip("demands what avoids it, and what the next schedule lacks, until there is a kernel; Ctrl+Z takes all of it back");
      same_line_if_room(px(120));
      ImGui::AlignTextToFramePadding();
      wrapped_text(fonts().small, theme().dim, printable(r.constraint->name));
    }
    ImGui::Unindent(px(12));
    const float end = ImGui::GetCursorScreenPos().y - px(2);
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y}, {at.x + px(4), std::max(end, at.y + px(8))}, theme().bad, px(2));
    ImGui::Dummy({0, px(4)});
  }
}

/// Numbers of the schedule beside those of the kernel, and why some differ.
void draw_numbers(const Session& session, const KernelText& text) {
  if (!session.content().entry() || !text.program || !text.emission) return;
  const Content& content = session.content();
  const auto numbers =
      codegen::kernel_numbers(*content.problem, content.entry()->schedule, *text.program, text.emission->launch.smem_bytes);
  section("SCHEDULED AND WRITTEN");
  for (const codegen::KernelNumber& number : numbers) {
    fact_line(number.name, number.differs() ? number.scheduled + (fonts().built_in ? " -> " : " → ") + number.written : number.scheduled,
              number.differs() ? theme().text : theme().dim);
    if (number.differs()) wrapped_text(fonts().small, theme().dim, number.because);
  }
}

void draw_kernel_facts(const Session& session, UiState& ui, const KernelText* text) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(3)});
  if (text && text->emission) draw_places(session, ui, text->source);
  draw_build(session, ui, text);
  if (text) draw_numbers(session, *text);
  draw_check(session, ui,
             {"cuda/check",
              "VERIFIED ON THE CPU",
              "Not yet. The interpreter runs the program with its roles, TMA and mmas in many hostile orders, and names the first deadlock "
              "or race.",
              {kUsualInterleavings, false}},
             session.kernel().checked());
  draw_check(session, ui,
             {"cuda/data",
              "VERIFIED WITH DATA",
              "Not yet. The same with real data at small sizes: in every order of events each element must be the one that the kernel's "
              "graph computes, bit for bit.",
              {kUsualDataInterleavings, true}},
             session.kernel().verified());
  ImGui::PopStyleVar();
}

}  // namespace heddle::app
