// The dialog with the time limit of searches and questions.
#include <fmt/format.h>

#include <cstdlib>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"

namespace heddle::app {
namespace {

struct LimitState {
  bool wanted = false, just_opened = false;
  char seconds[16] = "";
};

struct Usual {
  const char *name, *label;
  std::int64_t seconds;
};
constexpr Usual kUsual[] = {{"limit/10", "10 s", 10}, {"limit/60", "1 min", 60}, {"limit/600", "10 min", 600}, {"limit/3600", "1 h", 3600}};

}  // namespace

void begin_limit(UiState& ui) { ui.of<LimitState>().wanted = true; }

void draw_limit_dialog(const Session& session, UiState& ui) {
  LimitState& state = ui.of<LimitState>();
  if (std::exchange(state.wanted, false)) {
    std::snprintf(state.seconds, sizeof state.seconds, "%lld", static_cast<long long>(session.settings().search_seconds));
    state.just_opened = true;
    ImGui::OpenPopup("limit");
  }
  if (!begin_modal("limit", ImVec2(px(460), 0))) return;
  dialog_title("Time limit");
  wrapped_text(
      fonts().body, theme().text,
      "Searches and questions end after this many seconds, with what they have. A search for a schedule can then go on from there.");
  ImGui::Dummy(ImVec2(0, px(4)));
  if (std::exchange(state.just_opened, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(px(110));
  const bool entered = ImGui::InputText("##seconds", state.seconds, sizeof state.seconds,
                                        ImGuiInputTextFlags_CharsDecimal | ImGuiInputTextFlags_EnterReturnsTrue);
  if (probe::on()) probe::last_item("limit/seconds");
  for (const Usual& usual : kUsual) {
    ImGui::SameLine(0, px(6));
    if (button(usual.name, usual.label, ButtonKind::Flat))
      std::snprintf(state.seconds, sizeof state.seconds, "%lld", static_cast<long long>(usual.seconds));
  }
  const std::int64_t seconds = std::atoll(state.seconds);
  const bool good = seconds >= kLeastSearchSeconds && seconds <= kMostSearchSeconds;
  const std::string why_not = good ? std::string() : fmt::format("from {} to {} seconds", kLeastSearchSeconds, kMostSearchSeconds);
  ImGui::Dummy(ImVec2(0, px(6)));
  if ((button("limit/set", "Set", ButtonKind::Primary, why_not, {px(100), px(32)}) || entered) && good) {
    ui.commands.push(limit_searches(seconds));
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (button("limit/cancel", "Cancel", ButtonKind::Plain, {}, {px(100), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

}  // namespace heddle::app
