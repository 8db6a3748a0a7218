#include "app/platform/headless_platform.h"

#include <imgui.h>

#include <utility>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"

namespace heddle::app {

HeadlessPlatform::HeadlessPlatform(int width, int height, bool built_in_font)
    : width_(width), height_(height), built_in_font_(built_in_font) {
  IMGUI_CHECKVERSION();
  context_ = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  setup_headless_io();
  forget_clipboard();
  load_fonts(1, built_in_font_);
}

HeadlessPlatform::~HeadlessPlatform() { ImGui::DestroyContext(context_); }

void HeadlessPlatform::set_scale(float scale) {
  load_fonts(scale, built_in_font_);
  upload_fonts();
}

void HeadlessPlatform::upload_fonts() { adopt_font_texture(); }

Next HeadlessPlatform::begin_frame(Pace) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = ImVec2(static_cast<float>(width_), static_cast<float>(height_));
  io.DeltaTime = frame_seconds_;
  new_render_frame();
  ImGui::NewFrame();
  return Next::Draw;
}

void HeadlessPlatform::end_frame() {
  ImGui::Render();
  render();
}

std::vector<std::string> HeadlessPlatform::take_dropped_files() { return std::exchange(dropped_, {}); }

}  // namespace heddle::app
