// The CUDA tab: the shown schedule as a kernel, linked line by line with the chart; what the compiler says of it, and the check of its
// program on the CPU.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/kernel_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kRoomForOptions = 190;

/// A button of the bar: a step on the way to a kernel.
struct StepButton {
  const char *id, *label;
  KernelStep step;
  bool active = false, done = false;
  bool good = true;  ///< what was done came out as it should
};

/// The button of one step, or the one that cancels it; as wide as either, and as the mark of what is done. `next`: it is the one to press.
void draw_step(const Session& session, UiState& ui, const StepButton& one, bool next) {
  const float height = px(26);
  const std::string name = fmt::format("cuda/{}", one.id), cancel = fmt::format("Cancel {}", one.label);
  const float width = button_width(cancel);
  if (one.step != KernelStep::Text) same_line_if_room(width);
  if (one.active) {
    if (button((name + "/cancel").c_str(), cancel, ButtonKind::Plain, {}, {width, height})) ui.commands.push(CancelKernel{one.step});
    return;
  }
  const Action& action = *find_action(one.id);
  const std::string reason = why_not(action, session);
  const std::string label = (one.done && one.good && !fonts().built_in ? "\xe2\x9c\x93 " : "") + std::string(one.label);
  if (button(name.c_str(), label, next ? ButtonKind::Primary : ButtonKind::Plain, reason, {width, height})) perform(action, session, ui);
  if (ImGui::IsItemHovered() && reason.empty())
    tooltip(std::string(action.label) + (keys_of(action).empty() ? "" : "  " + keys_of(action)));
}

/// What compiling and verifying have shown of the kernel whose text is here; in a narrow tab the facts themselves are out of sight.
std::vector<std::string> outcomes(const Session& session, Color& color) {
  std::vector<std::string> words;
  const auto subject = KernelState::subject_of(session.content());
  const auto say = [&](std::string text, bool good) {
    words.push_back(std::move(text));
    if (!good) color = theme().bad;
  };
  const auto& built = session.kernel().built();
  if (built.active())
    words.push_back("compiling " + seconds_text(built.seconds()));
  else if (KernelState::is_current(built, subject)) {
    const KernelBuild& b = *built.answer();
    const std::size_t objections = b.faults.size() + b.findings.size();
    say(b.error           ? std::string("does not compile")
        : objections == 0 ? std::string("compiles clean")
                          : "compiled, " + count_of(static_cast<std::int64_t>(objections), "objection"),
        !b.error && objections == 0);
  }
  for (const auto* task : {&session.kernel().checked(), &session.kernel().verified()}) {
    if (task->active())
      words.push_back("verifying " + seconds_text(task->seconds()));
    else if (KernelState::is_current(*task, subject)) {
      const bool good = task->answer()->fault.empty() && task->answer()->failure.empty();
      say(std::string(good ? "verified" : "WRONG") + (task->answer()->data ? " with data" : ""), good);
    }
  }
  return words;
}

/// How the text stands.
void draw_state(const Session& session, const KernelText* text, bool current) {
  const auto& task = session.kernel().text();
  const ScheduleEntry& entry = *session.content().entry();
  std::string line;
  Color color = theme().dim;
  if (const auto& again = session.kernel().again(); again.active()) {
    line = fmt::format("{} · {}", again.doing().empty() ? "solving again" : again.doing(), seconds_text(again.seconds()));
  } else if (task.active()) {
    line = fmt::format("writing the kernel of {} · {}", entry.name, seconds_text(task.seconds()));
  } else if (task.phase() == Task<KernelText>::Phase::Failed) {
    line = "failed: " + task.failure();
    color = theme().bad;
  } else if (text && !current) {
    line = fmt::format("! text of {}, not of what is shown{}", text->of.schedule_name,
                       entry.running ? ": it is written when the solver is done" : "");
    color = theme().warning;
  } else if (text && text->emission) {
    const codegen::LaunchPlan& launch = text->emission->launch;
    for (const std::string& word : outcomes(session, color)) line += word + " · ";
    line += fmt::format("{} · {} · {} · {} · {} bytes of shared memory", entry.name,
                        count_of(static_cast<std::int64_t>(text->source.lines.size()), "line"),
                        count_of(static_cast<std::int64_t>(text->program->roles.size()), "role"), count_of(launch.threads, "thread"),
                        grouped(launch.smem_bytes));
  } else if (text) {
    line = fmt::format("{} cannot be written as a kernel", entry.name);
    color = theme().bad;
  } else {
    line = entry.running ? "the kernel is written when the solver is done" : "not written";
  }
  const std::string shown = fitted(fonts().small, line, std::max(ImGui::GetContentRegionAvail().x, px(40)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(fonts().small, at, color, shown);
  ImGui::Dummy({text_size(fonts().small, shown).x, px(18)});
  if (probe::on()) probe::last_item("cuda/state");
  if (ImGui::IsItemHovered() && shown != line) tooltip(line);
}

void draw_find(UiState& ui, const SourceModel& source) {
  CudaTabState& s = ui.of<CudaTabState>();
  const FontScope small(fonts().small);
  same_line_if_room(px(190));
  if (input_field("cuda/find", "find", s.find, sizeof s.find, px(120))) {
    s.matches = find_lines(source, s.find);
    s.match = 0;
    s.marked.reset();
    if (!s.matches.empty()) s.go_to = s.marked = s.matches.front();
  }
  if ((ImGui::IsItemActive() || ImGui::IsItemDeactivated()) && key_pressed(Key::Enter) && !s.matches.empty()) {
    ImGui::SetKeyboardFocusHere(-1);  // Enter leaves the field: go on from where we were
    s.match = (s.match + (ImGui::GetIO().KeyShift ? s.matches.size() - 1 : 1)) % s.matches.size();
    s.go_to = s.marked = s.matches[s.match];
  }
  if (s.find[0] == '\0') return;
  ImGui::SameLine(0, px(6));
  colored_text(theme().dim, s.matches.empty() ? std::string("none") : fmt::format("{} of {}", s.match + 1, s.matches.size()));
}

/// What the tab shows of a kernel: its CUDA or its steps; null: neither is there.
const SourceModel* shown_text(const UiState& ui, const KernelText* text) {
  if (!text) return nullptr;
  if (ui.of<CudaTabState>().steps) return text->program ? &text->steps : nullptr;
  return text->emission ? &text->source : nullptr;
}

/// What there is little of.
struct LittleRoom {
  bool narrow, low;
};

void draw_bar(const Session& session, UiState& ui, const KernelText* text, bool current, LittleRoom room) {
  const bool narrow = room.narrow, low = room.low;
  const KernelState& kernel = session.kernel();
  const auto subject = KernelState::subject_of(session.content());
  const float height = px(26);
  const auto verified = [&](const auto& task) {
    return KernelState::is_current(task, subject) && task.answer()->fault.empty() && task.answer()->failure.empty();
  };
  const bool built = KernelState::is_current(kernel.built(), subject), clean = built && !kernel.built().answer()->error;
  const StepButton steps[] = {
      {"generate", "Generate", KernelStep::Text, kernel.text().active() || kernel.waits(KernelStep::Text), current, text && text->emission},
      {"verify", "Verify", KernelStep::Check, kernel.checked().active() || kernel.waits(KernelStep::Check),
       KernelState::is_current(kernel.checked(), subject), verified(kernel.checked())},
      {"verify_data", "Verify with data", KernelStep::Data, kernel.verified().active() || kernel.waits(KernelStep::Data),
       KernelState::is_current(kernel.verified(), subject), verified(kernel.verified())},
      {"compile", "Compile", KernelStep::Build, kernel.built().active() || kernel.waits(KernelStep::Build), built, clean}};
  bool before = true;  // all the steps before are done
  for (const StepButton& one : steps) {
    draw_step(session, ui, one, before && !one.done && !one.active);
    before &= one.done;
  }
  const SourceModel* source = shown_text(ui, text);
  if (narrow && source) {
    for (const bool facts : {false, true}) {
      same_line_if_room(button_width("Source"));
      if (choice(facts ? "cuda/facts" : "cuda/source", facts ? "Build" : "Source", ui.of<CudaTabState>().facts == facts))
        ui.of<CudaTabState>().facts = facts;
    }
  }
  // Where there is no room for a second line of buttons the text has it; the menu has what they do.
  if (low) return;
  if (source) draw_find(ui, *source);
  same_line_if_room(button_width("Copy"));
  if (button("cuda/copy", "Copy", ButtonKind::Plain, source ? "" : "there is no text", {0, height}))
    ui.commands.push(copy_text(source->text));
  if (ImGui::IsItemHovered() && source) tooltip("the whole text");
  same_line_if_room(button_width("Save ..."));
  const Action& save = *find_action("save_kernel");
  if (button("cuda/save", "Save ...", ButtonKind::Plain, why_not(save, session), {0, height})) perform(save, session, ui);
  same_line_if_room(button_width("Copy as command"));
  const std::vector<std::string> page = ui.of<CudaTabState>().steps ? std::vector<std::string>{"--program"} : std::vector<std::string>();
  copy_command_button("cuda/command", session, ui, command_line(session, "emit", page), {0, height});
}

void draw_no_kernel(const Session& session, UiState& ui) {
  ImGui::Dummy({0, px(4)});
  wrapped_text(fonts().body, theme().text,
               "CUDA C++ made from the shown schedule, every line linked with its op in the chart, and what the compiler says of it.");
  wrapped_text(fonts().body, theme().dim, KernelState::why_no_kernel(session.content()) + ".");
  ImGui::Dummy({0, px(4)});
  const Action& solve = *find_action("solve");
  if (session.content().problem && button("cuda/solve", "Solve", ButtonKind::Primary, why_not(solve, session))) perform(solve, session, ui);
}

}  // namespace

void draw_cuda_tab(const Session& session, const Models& models, UiState& ui) {
  CudaTabState& s = ui.of<CudaTabState>();
  if (!KernelState::why_no_kernel(session.content()).empty()) {
    s = {};
    return draw_no_kernel(session, ui);
  }
  const auto& task = session.kernel().text();
  const std::shared_ptr<const KernelText> text = task.answer();
  const bool current = KernelState::is_current(task, KernelState::subject_of(session.content()));
  const SourceModel* source = shown_text(ui, text.get());
  if (s.seen != text || s.seen_steps != s.steps) {
    if (s.seen != text) s.hovered = s.tinted = {};
    s.seen = text;
    s.seen_steps = s.steps;
    s.followed.clear();
    if (!s.go_to) s.marked.reset();
    s.matches = source ? find_lines(*source, s.find) : std::vector<std::size_t>();
    s.match = 0;
  }
  const float whole = ImGui::GetContentRegionAvail().x, high = ImGui::GetContentRegionAvail().y;
  const bool narrow = whole < px(620);
  const bool low = source && current && high < px(120);
  draw_bar(session, ui, text.get(), current, {narrow, low});
  // In little room the text comes first; the menu has the options too.
  if (high >= px(kRoomForOptions)) draw_kernel_options(session, ui);
  if (!low) draw_state(session, text.get(), current);
  const float side = std::clamp(whole * 0.34f, px(230), px(380));
  if (!source || !(narrow && s.facts)) {
    ImGui::BeginChild("kernel", {narrow ? 0 : whole - side - px(12), 0});
    if (source)
      draw_source(session, models, ui, *source, !current);
    else if (text && current)
      draw_refusals("cuda/refusal", session, ui, text->refusals, WriteKernel{true});
    ImGui::EndChild();
    if (!narrow) ImGui::SameLine(0, px(12));
  }
  if (narrow && !(source && s.facts)) return;
  ImGui::BeginChild("facts", {0, 0});
  draw_kernel_facts(session, ui, current ? text.get() : nullptr);
  ImGui::EndChild();
}

}  // namespace heddle::app
