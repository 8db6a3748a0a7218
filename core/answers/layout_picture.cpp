#include "core/answers/layout_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/base/integer_division.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

using Anchor = DrawnText::Anchor;

constexpr double kMargin = 16, kLabels = 54, kLine = 17, kDigit = 0.62;  // kDigit: width of a digit, of the letter size
constexpr double kLeastLetter = 6.5, kMostWidth = 4200;
constexpr std::int64_t kMostPiece = 16;
constexpr std::size_t kMostTitles = 9000;  // tooltips; files of more cells would be too large
constexpr std::uint32_t kNone = 0x9aa0ab;

struct Theme {
  std::uint32_t back, line, text, dim, hatch;
};
constexpr Theme kLight{0xffffff, 0xc3c9d4, 0x16191f, 0x4d5563, 0x000000}, kDark{0x101318, 0x3a414e, 0xe6e9ef, 0x9aa2b1, 0x000000};

// Okabe and Ito's set ("Color Universal Design", 2008), without black.
constexpr std::array<std::uint32_t, 8> kSet{0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7, 0xf0e442, 0x0072b2, 0xd55e00, 0x999999};

std::uint32_t packed(double r, double g, double b) {
  const auto byte = [](double x) { return static_cast<std::uint32_t>(std::lround(std::clamp(x, 0.0, 1.0) * 255)); };
  return byte(r) << 16 | byte(g) << 8 | byte(b);
}
double colour_part(std::uint32_t colour, int shift) { return static_cast<double>(colour >> shift & 255) / 255; }

/// Towards white (amount > 0) or black.
std::uint32_t shaded(std::uint32_t colour, double amount) {
  const double to = amount > 0 ? 1 : 0, part = std::abs(amount);
  const auto mix = [&](int shift) { return colour_part(colour, shift) * (1 - part) + to * part; };
  return packed(mix(16), mix(8), mix(0));
}

/// Relative luminance of WCAG.
double luminance(std::uint32_t colour) {
  const auto linear = [&](int shift) {
    const double c = colour_part(colour, shift);
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
}
std::uint32_t text_on(std::uint32_t fill) { return luminance(fill) > 0.18 ? 0x000000 : 0xffffff; }

/// From dark blue to light yellow, lighter all the way: order is seen without hue too.
std::uint32_t ramp(double t) {
  constexpr std::array<std::uint32_t, 6> stops{0x3b2f7a, 0x35608d, 0x22908b, 0x45b56f, 0xa5d43a, 0xf7e86a};
  const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), stops.size() - 2);
  const double part = at - static_cast<double>(low);
  const auto mix = [&](int shift) { return colour_part(stops[low], shift) * (1 - part) + colour_part(stops[low + 1], shift) * part; };
  return packed(mix(16), mix(8), mix(0));
}

double text_width(const std::string& text, double size) { return static_cast<double>(display_width(text)) * size * kDigit; }

std::string hover_text(const LayoutView& view, std::int64_t row, std::int64_t column) {
  const LayoutCell& cell = view.at(row, column);
  std::string text = fmt::format("row {}, column {}", row, column);
  if (cell.lane >= 0) text += fmt::format(": warp {}, lane {}, register {}", cell.warp, cell.lane, cell.reg);
  if (cell.copies > 1) text += fmt::format(" ({} copies)", cell.copies);
  if (cell.byte >= 0) text += fmt::format("; byte {}, bank {}", cell.byte, cell.bank);
  if (cell.issue >= 0) text += fmt::format("; instruction {}, phase {}", cell.issue, cell.phase);
  if (cell.meets()) text += fmt::format(": {} words of this bank", cell.ways);
  return text;
}

/// What stands in a cell, the longest first.
std::vector<std::string> labels_of(const LayoutCell& cell, LayoutColour colour) {
  std::vector<std::string> labels;
  switch (colour) {
    case LayoutColour::Warp:
      if (cell.warp < 0) break;
      return {fmt::format("{}.{}:{}", cell.warp, cell.lane, cell.reg), std::to_string(cell.warp)};
    case LayoutColour::Lane:
      if (cell.lane < 0) break;
      return {fmt::format("{}:{}", cell.lane, cell.reg), std::to_string(cell.lane)};
    case LayoutColour::Register:
      if (cell.reg < 0) break;
      return {std::to_string(cell.reg)};
    case LayoutColour::Bank:
      if (cell.bank < 0) break;
      return {std::to_string(cell.bank)};
    case LayoutColour::Phase:
      if (cell.issue < 0) break;
      return {fmt::format("{}.{}", cell.issue, cell.phase)};
  }
  return labels;
}

const char* legend_text(LayoutColour colour) {
  switch (colour) {
    case LayoutColour::Warp: return "colour: warp. A cell says warp.lane:register";
    case LayoutColour::Lane: return "colour: lane. A cell says lane:register";
    case LayoutColour::Register: return "colour: register. A cell says its number";
    case LayoutColour::Bank: return "colour: bank. A cell says its number";
    case LayoutColour::Phase: break;
  }
  return "colour: phase. A cell says instruction.phase";
}

class Drawer {
 public:
  Drawer(const LayoutView& view, LayoutColour colour, SvgTheme theme)
      : view_(view), colour_(colour), theme_(theme == SvgTheme::Light ? kLight : kDark), piece_(piece_columns(view, colour)) {
    drawing_.back = theme_.back;
    drawing_.line = theme_.line;
    drawing_.hatch = theme_.hatch;
    drawing_.title = view.title;
    const double pieces = static_cast<double>(view.columns / piece_);
    const double rows = static_cast<double>(view.rows);
    cell_ = std::clamp(1240 / pieces, 4.0, 46.0);
    high_ = std::clamp(960 / rows, 4.0, 20.0);
    for (const LayoutCell& cell : view.cells) {
      const std::int64_t index = colour_index(cell, view, colour);
      count_ = std::max(count_, index + 1);
      met_ = met_ || cell.meets();
    }
    // Colour alone is not enough: cells are as large as their numbers need, unless the picture gets too large for that.
    double digits = 0;
    for (const LayoutCell& cell : view.cells)
      if (const auto labels = labels_of(cell, colour); !labels.empty()) digits = std::max(digits, text_width(labels.back(), kLeastLetter));
    if (pieces * (digits + 3) <= kMostWidth) cell_ = std::max(cell_, digits + 3);
    if (rows * (kLeastLetter + 3) <= kMostWidth) high_ = std::max(high_, kLeastLetter + 3);
    drawing_.width = std::max(720.0, 2 * kMargin + kLabels + cell_ * pieces);
  }

  LayoutDrawing draw() {
    facts();
    grid();
    legend();
    if (view_.access && !view_.access->all.empty()) banks(worst_strip(*view_.access));
    drawing_.height = std::ceil(y_ + kMargin);
    return std::move(drawing_);
  }

 private:
  /// Where on its base line letters stand.
  struct Spot {
    double x, y;
    Anchor anchor = Anchor::Left;
  };
  struct Letters {
    double size;
    std::uint32_t colour;
    bool bold = false, mono = false;
  };
  void text(Spot at, const Letters& letters, std::string what) {
    drawing_.texts.push_back({at.x, at.y, letters.size, at.anchor, letters.bold, letters.mono, letters.colour, std::move(what)});
  }
  void lines(const std::string& what, std::uint32_t colour, bool bold = false) {
    const std::string broken = wrapped(what, "", static_cast<int>((drawing_.width - 2 * kMargin) / (12 * kDigit)));
    for (std::size_t at = 0; at < broken.size();) {
      const std::size_t end = broken.find('\n', at);
      y_ += kLine;
      text({kMargin, y_}, {12, colour, bold}, broken.substr(at, end - at));
      at = end + 1;
    }
  }

  void facts() {
    y_ = kMargin + 4;
    y_ += 6;
    text({kMargin, y_}, {16, theme_.text, true},
         shortened(printable(view_.title + (view_.op.empty() ? "" : ", moved by " + view_.op)), static_cast<int>(drawing_.width / 10)));
    std::string facts = fmt::format("{} x {} {}", view_.rows, view_.columns, to_string(view_.dtype));
    if (!view_.registers_text.empty()) facts += " · registers " + shortened(view_.registers_text, 70);
    if (!view_.memory_text.empty()) facts += " · memory " + shortened(view_.memory_text, 70);
    if (!view_.instruction.empty()) facts += " · " + view_.instruction;
    if (view_.access) facts += fmt::format(" · port {} cycles", grouped(view_.cost.port));
    lines(printable(facts), theme_.dim);
    lines(printable(view_.why), theme_.text, view_.access && view_.cost.ways > 1);
    y_ += 12;
  }

  void grid() {
    const double left = kMargin + kLabels, top = y_ + kLine;
    const std::int64_t pieces = view_.columns / piece_;
    const double gap = cell_ >= 10 && high_ >= 8 ? 1 : 0;
    // One label size for all cells, so that they read as a table.
    std::size_t choice = 0;
    double size = 0;
    for (; choice < 2; ++choice) {
      double longest = 0;
      for (const LayoutCell& cell : view_.cells)
        if (const auto labels = labels_of(cell, colour_); choice < labels.size())
          longest = std::max(longest, text_width(labels[choice], 1));
      if (longest == 0) continue;
      size = std::min({11.0, high_ - 3, (cell_ - 3) / longest});
      if (size >= kLeastLetter) break;
      size = 0;
    }
    numbered_ = size > 0;
    const std::int64_t every_row = high_ >= 11 ? 1 : 8;
    std::int64_t every_column = 1;
    while (static_cast<double>(every_column) * cell_ < text_width(std::to_string(view_.columns), 10) * 1.3) every_column *= 2;
    for (std::int64_t p = 0; p < pieces; p += every_column)
      text({left + (static_cast<double>(p) + 0.5) * cell_, top - 5, Anchor::Middle}, {10, theme_.dim, false, true},
           std::to_string(p * piece_));
    const bool titles = static_cast<std::size_t>(view_.rows * pieces) <= kMostTitles;
    for (std::int64_t row = 0; row < view_.rows; ++row) {
      const double y = top + static_cast<double>(row) * high_;
      if (row % every_row == 0)
        text({left - 6, y + high_ / 2 + 3.5, Anchor::Right}, {std::min(10.0, std::max(high_, 8.0)), theme_.dim, false, true},
             std::to_string(row));
      for (std::int64_t p = 0; p < pieces; ++p) {
        const LayoutCell& cell = view_.at(row, p * piece_);
        const LayoutPaint paint = layout_paint(colour_, colour_index(cell, view_, colour_), count_);
        const double x = left + static_cast<double>(p) * cell_;
        drawing_.boxes.push_back(
            {x, y, cell_ - gap, high_ - gap, paint.fill, cell.meets(), false, titles ? hover_text(view_, row, p * piece_) : std::string()});
        const auto labels = labels_of(cell, colour_);
        if (size > 0 && choice < labels.size())
          text({x + (cell_ - gap) / 2, y + (high_ - gap) / 2 + size * 0.36, Anchor::Middle}, {size, paint.text}, labels[choice]);
      }
    }
    y_ = top + static_cast<double>(view_.rows) * high_;
  }

  /// Swatches with their numbers, as many as fit, and what hatching means.
  void legend() {
    y_ += kLine + 6;
    std::string says = numbered_ ? legend_text(colour_) : fmt::format("colour: {}. Cells are too small for numbers", to_string(colour_));
    if (piece_ > 1) says += fmt::format(", the first of {} columns side by side", piece_);
    text({kMargin, y_}, {12, theme_.text}, says + ".");
    if (count_ > 0) {
      y_ += 8;
      const auto room = std::max<std::int64_t>(2, static_cast<std::int64_t>((drawing_.width - 2 * kMargin - kLabels) / 30));
      const std::int64_t step = ceil_div(count_, room);
      std::int64_t place = 0;
      for (std::int64_t index = 0; index < count_; index += step, ++place) {
        const LayoutPaint paint = layout_paint(colour_, index, count_);
        const double x = kMargin + kLabels + static_cast<double>(place) * 30;
        drawing_.boxes.push_back({x, y_, 28, 15, paint.fill, false, false, {}});
        const int turns = view_.access ? phases(*view_.access) : 1;
        text({x + 14, y_ + 11.5, Anchor::Middle}, {10, paint.text},
             colour_ == LayoutColour::Phase ? fmt::format("{}.{}", index / turns, index % turns) : std::to_string(index));
      }
      text({kMargin, y_ + 12}, {10, theme_.dim, false, true}, to_string(colour_));
      y_ += 15;
    }
    if (met_) {
      y_ += kLine + 2;
      drawing_.boxes.push_back({kMargin + kLabels, y_ - 12, 28, 15, layout_paint(LayoutColour::Warp, 0, 1).fill, true, false, {}});
      text({kMargin + kLabels + 36, y_}, {12, theme_.text}, "hatched: its lane meets others in a bank");
    }
  }

  void banks(const BankStrip& strip) {
    y_ += 30;
    text({kMargin, y_}, {13, theme_.text, true},
         fmt::format("Worst phase: warp {}, instruction {}, lanes {} to {}: {}{}", strip.warp, strip.issue, strip.first_lane,
                     strip.first_lane + strip.lanes - 1, count_of(strip.ways, "cycle"), strip.ways > 1 ? ", 1 if no lanes met" : ""));
    const double left = kMargin + kLabels + 14, wide = std::min(34.0, (drawing_.width - left - kMargin) / kBanks), high = 19;
    y_ += kLine + 2;
    text({left - 6, y_, Anchor::Right}, {10, theme_.dim, false, true}, "bank");
    for (int bank = 0; bank < kBanks; ++bank)
      text({left + (bank + 0.5) * wide, y_, Anchor::Middle}, {10, theme_.dim, false, true}, std::to_string(bank));
    y_ += 5;
    for (int cycle = 0; cycle < strip.ways; ++cycle, y_ += high) {
      text({left - 6, y_ + 13, Anchor::Right}, {10, theme_.dim, false, true}, fmt::format("cycle {}", cycle + 1));
      for (int bank = 0; bank < kBanks; ++bank) {
        const std::vector<ServedWord>& words = strip.banks[static_cast<std::size_t>(bank)];
        const double x = left + bank * wide;
        if (static_cast<std::size_t>(cycle) >= words.size()) {
          drawing_.boxes.push_back({x, y_, wide - 1, high - 1, theme_.back, false, true, {}});
          continue;
        }
        const ServedWord& word = words[static_cast<std::size_t>(cycle)];
        const LayoutPaint paint = layout_paint(LayoutColour::Lane, word.lanes.front(), kWarpLanes);
        std::string hover = fmt::format("bank {}, byte {}: lane", bank, word.word * kBankBytes);
        for (const int lane : word.lanes) hover += fmt::format(" {}", lane);
        drawing_.boxes.push_back({x, y_, wide - 1, high - 1, paint.fill, cycle > 0, false, std::move(hover)});
        text({x + (wide - 1) / 2, y_ + 13, Anchor::Middle}, {std::min(10.0, wide / 2.2), paint.text},
             fmt::format("{}{}", word.lanes.front(), word.lanes.size() > 1 ? "+" : ""));
      }
    }
    y_ += 12;
    text({left, y_}, {11, theme_.dim}, "A box is a word of the bank, with the lane that wants it; a bank serves one word per cycle.");
  }

  const LayoutView& view_;
  LayoutColour colour_;
  const Theme& theme_;
  LayoutDrawing drawing_;
  std::int64_t piece_ = 1, count_ = 0;
  double cell_ = 10, high_ = 10, y_ = 0;
  bool met_ = false, numbered_ = false;
};

}  // namespace

std::int64_t piece_columns(const LayoutView& view, LayoutColour colour) {
  const auto joined = [&](const LayoutCell& a, const LayoutCell& b, std::int64_t distance) {
    return a.warp == b.warp && a.lane == b.lane && (a.reg < 0 ? b.reg < 0 : b.reg == a.reg + distance) &&
           (a.byte < 0 ? b.byte < 0 : b.byte == a.byte + distance * view.bits / 8) && a.issue == b.issue && a.phase == b.phase &&
           a.meets() == b.meets() && colour_index(a, view, colour) == colour_index(b, view, colour);
  };
  std::int64_t piece = 1;
  while (piece * 2 <= kMostPiece && view.columns % (piece * 2) == 0) {
    for (std::int64_t row = 0; row < view.rows; ++row)
      for (std::int64_t column = 0; column < view.columns; column += piece * 2)
        for (std::int64_t i = 1; i < piece * 2; ++i)
          if (!joined(view.at(row, column), view.at(row, column + i), i)) return piece;
    piece *= 2;
  }
  return piece;
}

LayoutPaint layout_paint(LayoutColour colour, std::int64_t index, std::int64_t count) {
  if (index < 0) return {kNone, text_on(kNone)};
  std::uint32_t fill = 0;
  const auto place = static_cast<std::size_t>(index);
  switch (colour) {
    case LayoutColour::Warp: fill = shaded(kSet[place % 8], place / 8 % 2 == 1 ? 0.5 : 0); break;
    case LayoutColour::Lane:
    case LayoutColour::Bank: fill = shaded(kSet[place / 4 % 8], std::array{0.0, 0.28, 0.52, 0.74}[place % 4]); break;
    case LayoutColour::Register: fill = ramp(count > 1 ? static_cast<double>(index) / static_cast<double>(count - 1) : 0.6); break;
    case LayoutColour::Phase: fill = shaded(kSet[place % 8], std::array{0.0, 0.35, 0.65}[place / 8 % 3]); break;
  }
  return {fill, text_on(fill)};
}

LayoutDrawing draw_layout(const LayoutView& view, LayoutColour colour, SvgTheme theme) { return Drawer(view, colour, theme).draw(); }

LayoutDrawing drawing_pair(const LayoutDrawing& a, const LayoutDrawing& b) {
  constexpr double kWidest = 3000;
  LayoutDrawing both = a;
  const bool beside = a.width + b.width <= kWidest;
  const double x = beside ? a.width : 0, y = beside ? 0 : a.height;
  both.title = a.title + " and " + b.title;
  both.width = beside ? a.width + b.width : std::max(a.width, b.width);
  both.height = beside ? std::max(a.height, b.height) : a.height + b.height;
  for (DrawnBox box : b.boxes) {
    box.x += x;
    box.y += y;
    both.boxes.push_back(std::move(box));
  }
  for (DrawnText text : b.texts) {
    text.x += x;
    text.y += y;
    both.texts.push_back(std::move(text));
  }
  return both;
}

std::string svg_of(const LayoutDrawing& drawing) {
  std::string out;
  const auto put = [&]<class... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  };
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n",
      rounded(drawing.width), rounded(drawing.height));
  put("<title>{}</title>\n", xml_text(drawing.title));
  put("<style>text {{ font-family: 'DejaVu Sans', Verdana, sans-serif; pointer-events: none }} .m {{ font-family: 'DejaVu Sans Mono', "
      "monospace }} .b {{ font-weight: bold }} .o {{ stroke: #{:06x} }} .h {{ fill: url(#heddle-meet); pointer-events: none }}</style>\n",
      drawing.line);
  put("<defs><pattern id=\"heddle-meet\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"M-1 1 L1 -1 M0 6 L6 0 M5 7 L7 "
      "5\" "
      "stroke=\"#{:06x}\" stroke-opacity=\".55\" stroke-width=\"1.2\"/></pattern></defs>\n",
      drawing.hatch);
  put("<rect width=\"{}\" height=\"{}\" fill=\"#{:06x}\"/>\n", rounded(drawing.width), rounded(drawing.height), drawing.back);
  for (const DrawnBox& box : drawing.boxes) {
    const std::string place = fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", rounded(box.x), rounded(box.y),
                                          rounded(std::max(box.width, 0.5)), rounded(std::max(box.height, 0.5)));
    put("<rect {} fill=\"#{:06x}\"{}", place, box.fill, box.outlined ? " class=\"o\"" : "");
    if (box.title.empty())
      put("/>\n");
    else
      put("><title>{}</title></rect>\n", xml_text(box.title));
    if (box.hatched) put("<rect {} class=\"h\"/>\n", place);
  }
  for (const DrawnText& text : drawing.texts) {
    const char* css = text.bold ? (text.mono ? " class=\"b m\"" : " class=\"b\"") : text.mono ? " class=\"m\"" : "";
    const char* anchor = text.anchor == Anchor::Left     ? ""
                         : text.anchor == Anchor::Middle ? " text-anchor=\"middle\""
                                                         : " text-anchor=\"end\"";
    put("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#{:06x}\"{}{}>{}</text>\n", rounded(text.x), rounded(text.y), rounded(text.size),
        text.colour, css, anchor, xml_text(text.text));
  }
  return out + "</svg>\n";
}

}  // namespace heddle
