// The welcome screen: example cards, recent files, and the two ways to start.
#include <algorithm>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/focus.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

struct Card {
  const char *name, *title, *subtitle, *text, *kernel, *machine;
  UnitRole role;
};

constexpr Card kCards[] = {
    {"welcome/attention_hopper", "Attention forward", "Hopper · h100",
     "Two consumer warp groups in ping-pong: the GEMMs of one under the exponentials of the other.", "attention_forward_hopper", "h100",
     UnitRole::Tensor},
    {"welcome/attention_blackwell", "Attention forward", "Blackwell · b200",
     "Two Q tiles, accumulators in tensor memory, correction ops; the tensor core against the exponential unit.",
     "attention_forward_blackwell", "b200", UnitRole::Special},
    {"welcome/gemm", "GEMM", "Hopper · h100", "128 × 256 × 64 bf16 with a producer warp: how many stages of shared memory hide the loads?",
     "gemm_hopper", "h100", UnitRole::Copy},
    {"welcome/attention_backward", "Attention backward", "Hopper · h100",
     "Five GEMMs and the derivative of the softmax in one loop body, held together by registers and shared memory.",
     "attention_backward_hopper", "h100", UnitRole::Tensor},
    {"welcome/layernorm", "Layer norm", "h100", "No tensor core at all: loads, reductions and stores decide.", "layernorm", "h100",
     UnitRole::Smem},
    {"welcome/swiglu", "SwiGLU", "two GEMMs · h100", "Two accumulators share their input, and an activation joins them.",
     "swiglu_dual_gemm_hopper", "h100", UnitRole::Special},
    {"welcome/triton", "A Triton kernel", "attention forward · sm_90",
     "Triton's own schedule, the best one that Triton could build, and the best the machine could do.",
     "triton/attention_forward.sm90.ttgir", "h100", UnitRole::Tensor},
    {"welcome/toy", "Toy", "three ops", "S, P, O of the Twill paper's first figure: small enough to check by hand.", "toy_fig1", "toy",
     UnitRole::Float},
};

void draw_card(const Card& card, ImVec2 at, ImVec2 size, UiState& ui) {
  const Theme& t = theme();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(card.name);
  const bool clicked = ImGui::InvisibleButton("card", size);
  ImGui::PopID();
  if (probe::on()) probe::last_item(card.name);
  const bool hovered = ImGui::IsItemHovered(), pressed = focus::station().pressed || clicked;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end(at.x + size.x, at.y + size.y);
  list.AddRectFilled(at, end, hovered ? t.hovered : t.card, px(8));
  list.AddRect(at, end, hovered ? t.accent : t.border, px(8));
  list.AddRectFilled(ImVec2(at.x + px(16), at.y + px(18)), ImVec2(at.x + px(44), at.y + px(24)), role_color(card.role).fill, px(3));
  paint_text(fonts().title, ImVec2(at.x + px(16), at.y + px(34)), t.text, card.title);
  paint_text(fonts().small, ImVec2(at.x + px(16), at.y + px(62)), t.accent, card.subtitle);
  paint_wrapped(fonts().small, ImVec2(at.x + px(16), at.y + px(88)), t.dim, card.text, size.x - px(32));
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (!pressed) return;
  const std::string name = card.kernel;
  const Result<std::string> file = name.ends_with(".ttgir") ? library_file("kernels/" + name) : Result<std::string>(name);
  ui.commands.push(OpenPair{file ? *file : name, card.machine});
}

}  // namespace

void draw_welcome(const Session& session, UiState& ui) {
  const ImVec2 size = ImGui::GetWindowSize();
  ImGui::BeginChild("scroll", ImVec2(0, 0));
  // As many columns as are wide enough to read; what does not fit below scrolls.
  const float gap = px(16), room = size.x - px(48);
  const int fitting = static_cast<int>((room + gap) / (px(200) + gap));
  const int columns = fitting >= 4 ? 4 : std::clamp(fitting, 1, 2);
  const auto count = static_cast<float>(columns);
  const float width = std::clamp((room - (count - 1) * gap) / count, px(40), px(columns == 4 ? 250 : 340));
  const float height = px(170);
  const float block = count * width + (count - 1) * gap;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = at.x + (size.x - block) / 2;
  float y = at.y + std::max(px(16), std::min(size.y * 0.1f, size.y - px(640)));
  paint_text(fonts().title, ImVec2(left, y), theme().text, "Heddle");
  y += px(30);
  paint_text(fonts().body, ImVec2(left, y), theme().dim,
             fitted(fonts().body, "The best software pipeline and warp specialization of a GPU kernel: proved, drawn, explained.", block));
  y += px(44);
  paint_text(fonts().small_bold, ImVec2(left, y), theme().heading, "START WITH AN EXAMPLE");
  y += px(24);
  for (std::size_t i = 0; i < std::size(kCards); ++i)
    draw_card(kCards[i],
              ImVec2(left + static_cast<float>(i % static_cast<std::size_t>(columns)) * (width + gap),
                     y + static_cast<float>(i / static_cast<std::size_t>(columns)) * (height + gap)),
              ImVec2(width, height), ui);
  const std::size_t rows = (std::size(kCards) + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  y += static_cast<float>(rows) * (height + gap) + px(8);
  ImGui::SetCursorScreenPos(ImVec2(left, y));
  if (button("welcome/new", "New kernel ...", ButtonKind::Primary, {}, {0, px(34)})) begin_new_kernel(ui);
  ImGui::SameLine(0, px(10));
  if (button("welcome/open", "Open a kernel file ...", ButtonKind::Plain, {}, {0, px(34)})) ui.commands.push(show_open_dialog());
  const float open_right = ImGui::GetItemRectMax().x;
  paint_text(
      fonts().small, ImVec2(open_right + px(16), y + px(9)), theme().faint,
      fitted(fonts().small,
             "or drop a Triton text (.ttgir), kernels, machines, schedules, projects, or a compiler's dump on this window · F1: keys",
             left + block - open_right - px(16)));
  y += px(62);
  const std::vector<std::string>& recent = session.settings().recent;
  if (!recent.empty()) paint_text(fonts().small_bold, ImVec2(left, y), theme().heading, "RECENT");
  y += px(22);
  for (std::size_t i = 0; i < recent.size() && i < 6; ++i, y += px(24)) {
    ImGui::SetCursorScreenPos(ImVec2(left, y));
    if (link(("welcome/recent/" + std::to_string(i)).c_str(), fitted_middle(fonts().body, recent[i], block)))
      ui.commands.push(OpenFile{recent[i], true});
  }
  y += px(10);
  paint_text(fonts().small_bold, ImVec2(left, y), theme().heading, "WHAT IS THIS?");
  constexpr const char* kWhat[] = {
      "A kernel is a loop of copies, matrix products and elementwise steps. Heddle finds when each of them starts and which "
      "warps run it, so that one iteration begins every II cycles, with the smallest II there is.",
      "The answer is proved, not guessed: why II cannot be smaller is a sentence, and every schedule on screen has passed a "
      "checker that shares no code with the solver.",
      "Drag a bar and the schedule is solved again around it. Ctrl+P finds everything; F1 lists all keys and gestures."};
  y += px(22);
  for (const char* sentence : kWhat) {
    ImGui::SetCursorScreenPos(ImVec2(left, y));
    const FontScope scope(fonts().small);
    const float wrap = std::min(block, px(860));
    const float high = ImGui::CalcTextSize(sentence, nullptr, false, wrap).y;
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + wrap);
    colored_text(theme().dim, sentence);
    ImGui::PopTextWrapPos();
    y += high + px(6);
  }
  ImGui::SetCursorScreenPos(ImVec2(left, y));
  ImGui::Dummy(ImVec2(1, px(16)));
  ImGui::EndChild();
}

}  // namespace heddle::app
