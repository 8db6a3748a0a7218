#include "app/platform/fonts.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace heddle::app {
namespace {

Fonts fonts_;

// Latin-1, Latin Extended-A, Greek, general punctuation (– — … · ′), super- and subscripts, arrows, operators (− ≤ ≥ ≠
// ×), box drawing, geometric shapes (▲ ▼ ●), check marks.
constexpr ImWchar kRanges[] = {0x0020, 0x017F, 0x0370, 0x03FF, 0x2000, 0x206F, 0x2070, 0x209F, 0x2190, 0x21FF,
                               0x2200, 0x22FF, 0x2500, 0x257F, 0x25A0, 0x25FF, 0x2713, 0x2717, 0};

std::string find_font(const char* file) {
  for (const char* folder : {"/usr/share/fonts/truetype/dejavu/", "/usr/share/fonts/dejavu/", "/usr/share/fonts/TTF/",
                             "/usr/share/fonts/dejavu-sans-fonts/", "/usr/local/share/fonts/"}) {
    std::error_code ignored;
    const std::string path = std::string(folder) + file;
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

ImFont* add(const char* file, float size) {
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  const std::string path = find_font(file);
  return path.empty() ? nullptr : atlas.AddFontFromFileTTF(path.c_str(), size, nullptr, kRanges);
}

}  // namespace

void load_fonts(float scale, bool built_in) {
  if (const char* wanted = std::getenv("HEDDLE_BUILT_IN_FONT"); wanted && *wanted) built_in = true;
  ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
  atlas.Clear();
  fonts_ = {};
  fonts_.scale = scale;
  const auto size = [scale](float pixels) { return std::round(pixels * scale); };
  if (!built_in) {
    fonts_.body = add("DejaVuSans.ttf", size(15));
    fonts_.bold = add("DejaVuSans-Bold.ttf", size(15));
    fonts_.mono = add("DejaVuSansMono.ttf", size(14));
    fonts_.mono_bold = add("DejaVuSansMono-Bold.ttf", size(15));
    fonts_.small = add("DejaVuSans.ttf", size(13));
    fonts_.small_bold = add("DejaVuSans-Bold.ttf", size(12));
    fonts_.mono_small = add("DejaVuSansMono.ttf", size(12));
    fonts_.title = add("DejaVuSans-Bold.ttf", size(20));
  }
  if (fonts_.body == nullptr) {
    fonts_.built_in = true;
    ImFontConfig config;
    config.SizePixels = size(13);
    fonts_.body = atlas.AddFontDefault(&config);
  }
  for (ImFont** font :
       {&fonts_.bold, &fonts_.mono, &fonts_.mono_bold, &fonts_.small, &fonts_.small_bold, &fonts_.mono_small, &fonts_.title})
    if (*font == nullptr) *font = fonts_.body;
  ImGui::GetIO().FontDefault = fonts_.body;
}

const Fonts& fonts() { return fonts_; }

}  // namespace heddle::app
