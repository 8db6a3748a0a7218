// The row of options in the CUDA tab: what `heddle emit` can be told beyond the schedule.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "app/session/kernel_state.h"
#include "app/session/proposal_commands.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/cuda/cuda_state.h"
#include "app/window/tabs/cuda/cuda_views.h"
#include "core/base/scanner.h"

namespace heddle::app {
namespace {

void option_label(std::string_view label, float room) {
  same_line_if_room(text_size(fonts().body, label).x + room + px(20));
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, label);
}

/// One of several values.
struct OptionValue {
  const char *name, *label;
  bool on;
  const char* action;  ///< names the entry of the menu with the same effect, which says why it cannot be had
  const char* about;
};
void option_value(const OptionValue& value, const Session& session, UiState& ui) {
  const auto& [name, label, on, action, about] = value;
  ImGui::SameLine(0, px(4));
  const Action& what = *find_action(action);
  const std::string reason = on ? std::string() : why_not(what, session);
  if (choice(name, label, on, reason) && !on) perform(what, session, ui);
  if (ImGui::IsItemHovered() && reason.empty()) tooltip(about);
}

void draw_trips(const Session& session, UiState& ui) {
  CudaTabState& s = ui.of<CudaTabState>();
  const KernelOptions& options = session.content().kernel_options;
  const std::string in_force = options.trips ? fmt::format("{}", *options.trips) : std::string();
  const KernelText* text = session.kernel().text_of_problem();
  const std::string hint =
      text && text->program && !text->of.options.trips ? fmt::format("{}", text->program->trips) : std::string("kernel's");
  option_label("trips", px(64));
  ImGui::SameLine(0, px(4));
  input_field("cuda/trips", hint.c_str(), s.trips, sizeof s.trips, px(64));
  const bool writing = ImGui::IsItemActive(), done = ImGui::IsItemDeactivatedAfterEdit();
  if (ImGui::IsItemHovered() && !writing)
    tooltip("trips of the loop; empty: as the kernel says. For the pipeline's ends: fewer trips than it has stages, for example");
  if (done) {
    KernelOptions next = options;
    if (const auto trips = read_number<std::int64_t>(s.trips); trips && *trips >= 1)
      next.trips = *trips;
    else if (s.trips[0] == '\0')
      next.trips.reset();
    if (next != options) return ui.commands.push(SetKernelOptions{next});  // the field is that of the next frame
  }
  if (!writing) {
    const std::size_t length = std::min(in_force.size(), sizeof s.trips - 1);
    std::memcpy(s.trips, in_force.data(), length);
    s.trips[length] = '\0';
  }
}

}  // namespace

void draw_kernel_options(const Session& session, UiState& ui) {
  const KernelOptions& options = session.content().kernel_options;
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "cluster");
  const bool pairs = options.build.cluster == 2, turns = options.build.turns;
  option_value({"cuda/cluster/1", "1", !pairs, "cluster", "every block loads for itself"}, session, ui);
  option_value({"cuda/cluster/2", "2", pairs, "cluster", "pairs of blocks load what both need once, by multicast"}, session, ui);
  option_label("turns", button_width("on") + button_width("off"));
  option_value({"cuda/turns/on", "on", turns, "turns", "named barriers keep wgmmas of different warp groups in the schedule's order"},
               session, ui);
  option_value({"cuda/turns/off", "off", !turns, "turns", "warp groups issue wgmmas in any order: no named barriers"}, session, ui);
  option_label("rings", button_width("deep") + button_width("least"));
  const bool deep = options.build.deep_rings;
  option_value({"cuda/rings/deep", "deep", deep, "rings", "rings of loads take what shared memory is left; the checker judges them too"},
               session, ui);
  option_value({"cuda/rings/least", "least", !deep, "rings", "rings as the schedule has them"}, session, ui);
  option_label("records", button_width("none") + button_width("loop") + button_width("ops"));
  option_value({"cuda/records/none", "none", options.records == codegen::Recording::None, "records_none", "the plain kernel"}, session, ui);
  option_value({"cuda/records/loop", "loop", options.records == codegen::Recording::Loop, "records_loop",
                "as heddle run times it: clock readings around the steady loop"},
               session, ui);
  option_value({"cuda/records/ops", "ops", options.records == codegen::Recording::Ops, "records_ops",
                "as heddle profile records it: clock readings around every op in a window of the loop"},
               session, ui);
  draw_trips(session, ui);
  option_label("text", button_width("CUDA") + button_width("steps"));
  for (const bool steps : {false, true}) {
    ImGui::SameLine(0, px(4));
    if (choice(steps ? "cuda/text/steps" : "cuda/text/cuda", steps ? "steps" : "CUDA", ui.of<CudaTabState>().steps == steps))
      ui.of<CudaTabState>().steps = steps;
    if (ImGui::IsItemHovered())
      tooltip(steps ? "every role's waits, issues and arrivals as pseudocode (heddle emit --program)" : "CUDA C++");
  }
}

}  // namespace heddle::app
