// Letters by stb: those of a font file where there is one, else its built-in ones.
#include "app/picture/canvas.h"

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_easy_font.h>
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "core/base/atomic_file.h"

namespace heddle::app {
namespace {

/// The next character of UTF-8 text, which moves on; '?' for what is none.
int next_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (length == 0 || length > text.size()) return text.remove_prefix(1), '?';
  int code = length == 1 ? first : first & (0x7f >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  text.remove_prefix(length);
  return code;
}

std::string font_bytes(const char* file) {
  for (const char* folder : {"/usr/share/fonts/truetype/dejavu/", "/usr/share/fonts/dejavu/", "/usr/share/fonts/TTF/",
                             "/usr/share/fonts/dejavu-sans-fonts/", "/usr/local/share/fonts/"}) {
    std::error_code ignored;
    const std::string path = std::string(folder) + file;
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    if (Result<std::string> bytes = read_file(path)) return *std::move(bytes);
  }
  return {};
}

}  // namespace

struct Canvas::Fonts {
  struct Font {
    std::string bytes;
    stbtt_fontinfo info{};
    bool good = false;
    explicit Font(const char* file) : bytes(font_bytes(file)) {
      const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
      const int offset = bytes.empty() ? -1 : stbtt_GetFontOffsetForIndex(data, 0);
      good = offset >= 0 && stbtt_InitFont(&info, data, offset) != 0;
    }
  };
  struct Glyph {
    int left = 0, top = 0, width = 0, height = 0;
    double advance = 0;
    std::vector<unsigned char> strength;
  };
  Font sans{"DejaVuSans.ttf"}, bold{"DejaVuSans-Bold.ttf"}, mono{"DejaVuSansMono.ttf"}, mono_bold{"DejaVuSansMono-Bold.ttf"};
  std::map<std::pair<const Font*, std::pair<int, int>>, Glyph> glyphs;  // by size in quarters of a pixel and character

  const Font& of(bool is_bold, bool is_mono) const {
    const Font& wanted = is_mono ? (is_bold ? mono_bold : mono) : is_bold ? bold : sans;
    return wanted.good ? wanted : sans;
  }
  const Glyph& glyph(const Font& font, double size, int character) {
    const auto [at, added] = glyphs.try_emplace({&font, {static_cast<int>(std::lround(size * 4)), character}});
    Glyph& glyph = at->second;
    if (!added) return glyph;
    const float scale = stbtt_ScaleForMappingEmToPixels(&font.info, static_cast<float>(size));
    int advance = 0, bearing = 0, x1 = 0, y1 = 0;
    stbtt_GetCodepointHMetrics(&font.info, character, &advance, &bearing);
    glyph.advance = static_cast<double>(advance) * static_cast<double>(scale);
    stbtt_GetCodepointBitmapBox(&font.info, character, scale, scale, &glyph.left, &glyph.top, &x1, &y1);
    glyph.width = std::max(0, x1 - glyph.left);
    glyph.height = std::max(0, y1 - glyph.top);
    glyph.strength.resize(static_cast<std::size_t>(glyph.width) * static_cast<std::size_t>(glyph.height));
    if (!glyph.strength.empty())
      stbtt_MakeCodepointBitmap(&font.info, glyph.strength.data(), glyph.width, glyph.height, glyph.width, scale, scale, character);
    return glyph;
  }
};

Canvas::Canvas(int width, int height, std::uint32_t back) : fonts_(std::make_unique<Fonts>()) {
  HEDDLE_ASSERT(width > 0 && height > 0 && width <= kMostPixels && height <= kMostPixels, "size of a canvas");
  picture_.width = width;
  picture_.height = height;
  picture_.rgba.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4, 255);
  box({0, 0, static_cast<double>(width), static_cast<double>(height)}, back);
}

Canvas::~Canvas() = default;

void Canvas::blend(int x, int y, std::uint32_t colour, int strength) {
  if (x < 0 || y < 0 || x >= picture_.width || y >= picture_.height || strength <= 0) return;
  std::uint8_t* pixel =
      picture_.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture_.width) + static_cast<std::size_t>(x)) * 4;
  for (int i = 0; i < 3; ++i) {
    const int wanted = static_cast<int>(colour >> (16 - 8 * i) & 255);
    pixel[i] = static_cast<std::uint8_t>((pixel[i] * (255 - strength) + wanted * strength + 127) / 255);
  }
}

void Canvas::box(const Area& area, std::uint32_t colour) {
  const auto& [x0, y0, x1, y1] = area;
  const int left = std::max(0, static_cast<int>(std::lround(x0))), right = std::min(picture_.width, static_cast<int>(std::lround(x1)));
  const int top = std::max(0, static_cast<int>(std::lround(y0))), bottom = std::min(picture_.height, static_cast<int>(std::lround(y1)));
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x) blend(x, y, colour, 255);
}

void Canvas::outline(const Area& area, std::uint32_t colour) {
  const auto& [x0, y0, x1, y1] = area;
  box({x0, y0, x1, y0 + 1}, colour);
  box({x0, y1 - 1, x1, y1}, colour);
  box({x0, y0, x0 + 1, y1}, colour);
  box({x1 - 1, y0, x1, y1}, colour);
}

void Canvas::hatch(const Area& area, std::uint32_t colour, int distance) {
  const auto& [x0, y0, x1, y1] = area;
  const int left = static_cast<int>(std::lround(x0)), right = static_cast<int>(std::lround(x1));
  const int top = static_cast<int>(std::lround(y0)), bottom = static_cast<int>(std::lround(y1));
  for (int y = top; y < bottom; ++y)
    for (int x = left; x < right; ++x)
      if ((x + y) % distance < std::max(1, distance / 6)) blend(x, y, colour, 130);
}

void Canvas::text(double x, double y, const Letters& letters, std::string_view utf8) {
  const auto& [size, colour, anchor, bold, mono] = letters;
  const Fonts::Font& font = fonts_->of(bold, mono);
  std::vector<int> characters;
  while (!utf8.empty()) characters.push_back(next_character(utf8));
  if (font.good) {
    double width = 0;
    for (const int character : characters) width += fonts_->glyph(font, size, character).advance;
    double pen = x - (anchor == TextAnchor::Left ? 0 : anchor == TextAnchor::Middle ? width / 2 : width);
    for (const int character : characters) {
      const Fonts::Glyph& glyph = fonts_->glyph(font, size, character);
      const int left = static_cast<int>(std::lround(pen)) + glyph.left, top = static_cast<int>(std::lround(y)) + glyph.top;
      for (int row = 0; row < glyph.height; ++row)
        for (int column = 0; column < glyph.width; ++column)
          blend(left + column, top + row, colour,
                glyph.strength[static_cast<std::size_t>(row) * static_cast<std::size_t>(glyph.width) + static_cast<std::size_t>(column)]);
      pen += glyph.advance;
    }
    return;
  }
  // stb's letters are 7 pixels high over the base line, made of boxes; it knows ASCII only.
  std::string ascii;
  for (const int character : characters) ascii += character >= 32 && character < 127 ? static_cast<char>(character) : '?';
  const double scale = size / 10, width = stb_easy_font_width(ascii.data()) * scale;
  const double from = x - (anchor == TextAnchor::Left ? 0 : anchor == TextAnchor::Middle ? width / 2 : width);
  struct Corner {
    float x, y, z;
    unsigned char rgba[4];
  };
  std::vector<Corner> corners(ascii.size() * 20 + 16);
  const int quads = stb_easy_font_print(0, 0, ascii.data(), nullptr, corners.data(), static_cast<int>(corners.size() * sizeof(Corner)));
  for (std::size_t quad = 0; quad < static_cast<std::size_t>(quads); ++quad) {
    const Corner &a = corners[quad * 4], &b = corners[quad * 4 + 2];
    box({from + static_cast<double>(a.x) * scale, y + (static_cast<double>(a.y) - 7) * scale, from + static_cast<double>(b.x) * scale,
         y + (static_cast<double>(b.y) - 7) * scale},
        colour);
  }
}

}  // namespace heddle::app
