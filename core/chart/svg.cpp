// Writes SVG top to bottom: style, hatches, ruler, rows, bars, lanes. Coordinates have at most two decimals so that
// files are small and equal on every machine.
#include "core/chart/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "core/chart/chart_layout.h"
#include "core/chart/role_palette.h"

namespace heddle {

namespace {

constexpr double kMargin = 12, kRuler = 24, kMarks = 18, kLane = 30, kTitle = 30, kLine = 16;
constexpr double kLetter = 6.7;  // width of a bold 11 px letter, on average: SVG cannot be measured here
constexpr UnitRole kRoles[] = {UnitRole::Tensor, UnitRole::Copy, UnitRole::Special, UnitRole::Float, UnitRole::Alu,
                               UnitRole::Smem,   UnitRole::Tmem, UnitRole::Sync,    UnitRole::Other};

struct Palette {
  const char *back, *row, *row_alternate, *grid, *text, *dim, *ii, *outline, *bad, *limit;
};
constexpr Palette kLight{"#ffffff", "#f6f7fa", "#eef0f5", "#d5dae2", "#16191f", "#4d5563", "#1261c4", "#101010", "#b3261e", "#7d5600"};
constexpr Palette kDark{"#101318", "#14171d", "#191d24", "#262b35", "#e6e9ef", "#9aa2b1", "#4c9bff", "#ffffff", "#ff6b5e", "#e8b339"};

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

double width_of(std::string_view text) { return static_cast<double>(letters(text)) * kLetter; }

/// The first letters; not in the middle of one.
std::string first_letters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size() && ((text[end] & 0xc0) == 0x80 || count-- > 0)) ++end;
  return std::string(text.substr(0, end));
}
std::string without_first_letters(std::string_view text, std::size_t count) {
  return std::string(text.substr(first_letters(text, count).size()));
}

std::size_t letters_in(double width) { return width > 8 ? static_cast<std::size_t>((width - 8) / kLetter) : 0; }

/// The text, its beginning with an ellipsis, or nothing.
std::string label_that_fits(const std::string& label, double width) {
  const std::size_t room = letters_in(width);
  if (letters(label) <= room) return label;
  return room < 4 ? std::string() : first_letters(label, room - 1) + "…";
}

/// The same of a name, of which both ends stay: names often differ at the end.
std::string name_that_fits(const std::string& name, double width) {
  const std::size_t room = letters_in(width), all = letters(name);
  if (all <= room) return name;
  return room < 4 ? std::string() : first_letters(name, room / 2) + "…" + without_first_letters(name, all - (room - 1 - room / 2));
}

class Picture {
 public:
  Picture(const GanttModel& model, const SvgOptions& options)
      : model_(model), options_(options), colors_(options.theme == SvgTheme::Light ? kLight : kDark) {
    begin_ = options.begin.value_or(model.begin);
    end_ = options.end.value_or(model.end);
    if (begin_ >= end_) {
      begin_ = model.begin;
      end_ = model.end;
    }
    layout_ = layout_rows(model, {});
    width_ = std::max(320, options.width);
    labels_ = std::clamp(wanted_labels(), 170.0, std::max(170.0, 0.4 * width_));
    left_ = kMargin + labels_;
    right_ = width_ - kMargin;
    move_to(0);
  }

  /// Everything lies that much lower.
  void move_to(double y) {
    origin_ = y;
    top_ = y + (options_.title.empty() ? kMargin / 2 : kTitle + kLine * static_cast<double>(options_.lines.size())) + kRuler +
           kMarks * (model_.mode == GanttMode::Pipeline ? 2 : 1);
    lanes_top_ = top_ + static_cast<double>(layout_.height) + 10;
    bottom_ = options_.lanes ? lanes_top_ + kLane * static_cast<double>(model_.all_lanes()) : top_ + static_cast<double>(layout_.height);
  }
  double bottom() const { return bottom_ + kMargin; }
  /// Ticks where a chart of this II has them.
  void tick_like(Cycle ii) { tick_ii_ = ii; }

  /// The file's beginning, for pictures down to this height.
  std::string head_of(double height) {
    head(height);
    return std::exchange(out_, {});
  }
  std::string body() {
    text("title", kMargin, origin_ + 20, options_.title);
    for (std::size_t i = 0; i < options_.lines.size(); ++i)
      text("dim", kMargin, origin_ + 36 + kLine * static_cast<double>(i), label_that_fits(options_.lines[i], right_ - kMargin));
    groups();
    ruler();
    marks();
    bars();
    if (options_.lanes) lanes(), barriers(), queues();
    return std::exchange(out_, {});
  }

 private:
  /// As wide as what stands left of the time axis.
  double wanted_labels() const {
    double wanted = 0;
    for (const GanttGroup& group : model_.groups) {
      double units = 0;
      for (std::size_t r = group.first_row; r < group.first_row + std::min<std::size_t>(2, group.rows); ++r)
        units = std::max(units, width_of(model_.rows[r].label));
      wanted = std::max(wanted, std::max(1.2 * width_of(group.label), 1.1 * width_of(group.detail)) + units + 32);
    }
    const auto lane = [&](const std::string& name, const std::string& detail) {
      wanted = std::max(wanted, 1.1 * width_of(name) + width_of(detail) + 32);
    };
    for (const GanttLane& l : model_.lanes) lane(l.label, l.detail);
    for (const BarrierLane& l : model_.barriers) lane(l.label, l.detail);
    for (const QueueLane& l : model_.queues) lane(l.label, l.detail);
    return wanted;
  }
  /// Name and number of a lane; the number gives way where there is no room for both.
  void lane_label(double y, const std::string& name, const std::string& detail) {
    const bool both = 1.1 * width_of(name) + width_of(detail) + 28 <= labels_;
    text("", kMargin + 6, y, name_that_fits(name, labels_ - 14 - (both ? width_of(detail) : 0)));
    if (both) text("tick right", left_ - 8, y, detail);
  }

  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  double x(Cycle at) const { return left_ + (right_ - left_) * static_cast<double>(at - begin_) / static_cast<double>(end_ - begin_); }
  bool seen(Cycle at) const { return at >= begin_ && at <= end_; }

  void rect(std::string_view css, double x0, double y0, double x1, double y1) {
    put("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", css, rounded(x0), rounded(y0), rounded(x1 - x0),
        rounded(y1 - y0));
  }
  void line(std::string_view css, double x0, double y0, double x1, double y1) {
    put("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", css, rounded(x0), rounded(y0), rounded(x1), rounded(y1));
  }
  void text(std::string_view css, double at_x, double y, std::string_view what) {
    if (!what.empty()) put("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css, rounded(at_x), rounded(y), xml_text(what));
  }

  void head(double height) {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\">\n",
        rounded(width_), rounded(height));
    put("<title>{}</title>\n",
        xml_text(options_.title.empty() ? fmt::format("{} schedule, II {}", to_string(model_.mode), grouped(model_.ii)) : options_.title));
    put("<style>\n"
        "text {{ font-family: 'DejaVu Sans', Verdana, sans-serif; font-size: 12px; fill: {} }}\n"
        ".title {{ font-size: 15px; font-weight: bold }} .group {{ font-weight: bold; font-size: 13px }}\n"
        ".dim, .tick {{ fill: {} }} .tick {{ font-family: 'DejaVu Sans Mono', monospace; font-size: 11px }}\n"
        ".right {{ text-anchor: end }} .unit {{ font-weight: bold; font-size: 11px; text-anchor: end }}\n"
        ".mark {{ fill: {} }} .ii {{ stroke: {}; stroke-dasharray: 4 4 }}\n",
        colors_.text, colors_.dim, colors_.ii, colors_.ii);
    put(".label {{ font-weight: bold; font-size: 11px; text-anchor: middle; pointer-events: none }} .beside {{ font-size: 11px }}\n"
        ".row0 {{ fill: {} }} .row1 {{ fill: {} }} .grid {{ stroke: {} }} .axis {{ stroke: {} }}\n"
        ".critical {{ stroke: {}; stroke-width: 2 }} .violating {{ stroke: {}; stroke-width: 2 }}\n"
        ".tail {{ stroke-width: 1; opacity: .6 }} .limit {{ stroke: {}; stroke-dasharray: 4 4 }} .phase {{ opacity: "
        ".16 }}\n",
        colors_.row, colors_.row_alternate, colors_.grid, colors_.dim, colors_.outline, colors_.bad, colors_.limit);
    for (const UnitRole role : kRoles) {
      const RolePaint paint = role_paint(role);
      put(".{0} {{ fill: #{1:06x} }} .on-{0} {{ fill: #{2:06x} }} .line-{0} {{ stroke: #{1:06x}; fill: none }} "
          ".area-{0} {{ fill: #{1:06x}; opacity: .42 }} .once-{0} {{ fill: #{1:06x}; fill-opacity: .35; stroke: #{1:06x}; "
          "stroke-dasharray: 3 2 }}\n",
          to_string(role), paint.fill, paint.text);
    }
    put("</style>\n<defs>\n");
    const char* strokes[] = {"M0 9 L9 0 M-2 2 L2 -2 M7 11 L11 7", "M0 0 L9 9 M-2 7 L2 11 M7 -2 L11 2", "M0 4.5 L9 4.5"};
    for (int style = 1; style <= 3; ++style)
      put("<pattern id=\"heddle-hatch{}\" width=\"9\" height=\"9\" patternUnits=\"userSpaceOnUse\"><path d=\"{}\" "
          "stroke=\"#000\" stroke-opacity=\".4\" stroke-width=\"2\"/></pattern>\n",
          style, strokes[style - 1]);
    put("<pattern id=\"heddle-violation\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 8 L8 0 "
        "M0 0 L8 8\" stroke=\"{}\" stroke-width=\"1.5\"/></pattern>\n",
        colors_.bad);
    put("<clipPath id=\"heddle-time\"><rect x=\"{}\" y=\"0\" width=\"{}\" height=\"{}\"/></clipPath>\n</defs>\n", rounded(left_ - 1),
        rounded(right_ - left_ + 2), rounded(height));
    put("<rect width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", rounded(width_), rounded(height), colors_.back);
  }

  void groups() {
    for (std::size_t g = 0; g < layout_.groups.size(); ++g) {
      const GanttGroup& group = model_.groups[g];
      const double y = top_ + static_cast<double>(layout_.groups[g].top);
      rect(g % 2 == 0 ? "row0" : "row1", kMargin, y, right_, y + static_cast<double>(layout_.groups[g].height));
      text("group", kMargin + 6, y + 17, name_that_fits(group.label, std::max(110.0, (labels_ - 60) / 1.2)));
      text("dim", kMargin + 6, y + 33, group.detail);
      for (std::size_t r = group.first_row; r < group.first_row + group.rows; ++r) {
        const double row_y = top_ + static_cast<double>(layout_.rows[r].top);
        text("unit", left_ - 8, row_y + static_cast<double>(layout_.lane) / 2 + 4, model_.rows[r].label);
      }
    }
  }

  void ruler() {
    const double base = top_ - kMarks * (model_.mode == GanttMode::Pipeline ? 2 : 1);
    const Cycle step = tick_step(90 * static_cast<double>(end_ - begin_) / (right_ - left_), tick_ii_ > 0 ? tick_ii_ : model_.ii);
    text("dim", kMargin + 6, base - 8, "cycles");
    for (Cycle at = floor_div(begin_, step) * step; at <= end_; at += step) {
      if (!seen(at)) continue;
      line("axis", x(at), base - 12, x(at), base);
      const std::string digits = grouped(at);
      const bool fits = x(at) + 4 + static_cast<double>(digits.size()) * kLetter < right_;
      text(fits ? "tick" : "tick right", fits ? x(at) + 4 : x(at) - 4, base - 8, digits);
    }
    line("grid", left_, base, right_, base);
  }

  void marks() {
    double base = top_ - kMarks;
    put("<g clip-path=\"url(#heddle-time)\">\n");
    for (const GanttMark& mark : model_.marks) {
      if (mark.strong) {
        if (!seen(mark.at)) continue;
        line("ii", x(mark.at), top_ - kMarks - 2, x(mark.at), bottom_);
        if (x(mark.at) + static_cast<double>(mark.label.size()) * kLetter < right_) text("mark", x(mark.at) + 5, base + 13, mark.label);
        continue;
      }
      Cycle until = model_.end;
      for (const GanttMark& other : model_.marks)
        if (!other.strong && other.at > mark.at) until = std::min(until, other.at);
      const double y = base - kMarks;
      rect(mark.label == "steady state" ? "phase special" : "phase smem", x(mark.at) + 1, y + 1, x(until) - 1, y + kMarks - 1);
      const double middle = (std::max(x(mark.at), left_) + std::min(x(until), right_)) / 2;
      if (until > begin_ && mark.at < end_ && x(until) - x(mark.at) > static_cast<double>(mark.label.size()) * kLetter)
        text("label", middle, y + 13, mark.label);
    }
    put("</g>\n");
  }

  void bars() {
    put("<g clip-path=\"url(#heddle-time)\">\n");
    double free_from = left_;
    for (std::size_t b = 0; b < model_.bars.size(); ++b) {
      const GanttBar& bar = model_.bars[b];
      if (b == 0 || !same_lane(bar, model_.bars[b - 1])) free_from = left_;
      if (bar.end < begin_ || bar.begin > end_) continue;
      const double y0 = top_ + static_cast<double>(layout_.lane_top(bar)) + 3, height = static_cast<double>(layout_.lane) - 6;
      const double x0 = x(bar.begin), x1 = std::max(x(bar.end), x0 + 2);
      const char* role = to_string(bar.role);
      put("<g class=\"bar{}{}\"><title>{}: {} to {} ({} cycles) on {}, iteration {}{}{}{}</title>\n", bar.critical ? " is-critical" : "",
          bar.violating ? " is-violating" : "", xml_text(bar.label), grouped(bar.begin), grouped(bar.end), grouped(bar.end - bar.begin),
          xml_text(model_.rows[bar.row].label), bar.iteration, bar.wraps_left || bar.wraps_right ? ", wraps around II" : "",
          bar.critical ? ", critical" : "", bar.violating ? ", breaks a rule" : "");
      const Cycle tail = model_.mode == GanttMode::Steady ? std::min(bar.latency_end, model_.end) : bar.latency_end;
      if (tail > bar.end && !bar.wraps_right) line(fmt::format("tail line-{}", role), x1, y0 + height - 3, x(tail), y0 + height - 3);
      const char* outline = bar.violating ? " violating" : bar.critical ? " critical" : "";
      const auto body = [&](std::string_view attributes) {
        put("<rect {} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n", attributes, rounded(x0), rounded(y0), rounded(x1 - x0),
            rounded(height), bar.wraps_left || bar.wraps_right || x1 - x0 < 6 ? 0 : 3);
      };
      body(fmt::format("class=\"{}{}\"", role, outline));
      if (const int style = std::abs(bar.iteration) % 4; style > 0) body(fmt::format("fill=\"url(#heddle-hatch{})\"", style));
      if (bar.violating) body("fill=\"url(#heddle-violation)\"");
      const double middle = y0 + height / 2;
      const auto chevrons = [&](double edge, int way) {
        for (int i = 0; i < 2; ++i) {
          const double tip = edge - way * (3 + i * 4);
          put("<path d=\"M{} {} L{} {} L{} {}\" class=\"line-other\" style=\"stroke:#000\"/>\n", rounded(tip - way * 3),
              rounded(middle - 4), rounded(tip), rounded(middle), rounded(tip - way * 3), rounded(middle + 4));
        }
      };
      if (bar.wraps_left && x1 - x0 > 24) chevrons(x0, -1);
      if (bar.wraps_right && x1 - x0 > 24) chevrons(x1, 1);
      const double shown0 = std::max(x0, left_), shown1 = std::min(x1, right_);
      const std::string whole = bar.mark.empty() ? bar.label : bar.mark + " " + bar.label;
      std::string label = name_that_fits(whole, shown1 - shown0);
      if (label != whole) {
        if (const auto at = beside(b, whole, free_from)) {
          text("beside", *at, middle + 4, whole);
          free_from = *at > x1 ? *at + width_of(whole) : x1;
          put("</g>\n");
          continue;
        }
        if (ambiguous(label)) label.clear();
      }
      free_from = x1;
      if (!label.empty() && (bar.iteration != 0 || bar.violating)) {
        const double half = static_cast<double>(letters(label)) * kLetter / 2 + 3;
        rect(role, (shown0 + shown1) / 2 - half, middle - 7, (shown0 + shown1) / 2 + half, middle + 7);
      }
      text(fmt::format("label on-{}", role), (shown0 + shown1) / 2, middle + 4, label);
      put("</g>\n");
    }
    for (const GanttEndBar& bar : model_.ends) end_bar(bar);
    for (const GanttPause& pause : model_.pauses) pause_bar(pause);
    put("</g>\n");
  }

  template <class A, class B>
  static bool same_lane(const A& a, const B& b) {
    return a.row == b.row && a.lane == b.lane;
  }
  /// Where the name of a bar that is too short for it stands: behind the bar, else before it; none: there is no room.
  std::optional<double> beside(std::size_t b, std::string_view name, double from) const {
    const GanttBar& bar = model_.bars[b];
    const double x0 = x(bar.begin), x1 = std::max(x(bar.end), x0 + 2), needs = width_of(name) + 6;
    if (x1 < left_ || x0 > right_) return std::nullopt;
    double until = right_;
    if (b + 1 < model_.bars.size() && same_lane(bar, model_.bars[b + 1])) until = std::min(until, x(model_.bars[b + 1].begin));
    for (const GanttEndBar& end : model_.ends) {
      if (!same_lane(bar, end)) continue;
      if (end.begin >= bar.end) until = std::min(until, x(end.begin));
      if (end.end_at <= bar.begin) from = std::max(from, x(end.end_at));
    }
    if (x1 + needs <= until) return x1 + 3;
    if (x0 - needs >= from) return x0 - needs + 3;
    return std::nullopt;
  }
  /// What is left of a name could be another op's.
  bool ambiguous(const std::string& cut) const {
    const std::size_t dots = cut.find("…");
    if (dots == std::string::npos) return false;
    const std::string head = cut.substr(0, dots), tail = cut.substr(dots + std::string_view("…").size());
    const std::string* one = nullptr;
    for (const GanttBar& bar : model_.bars) {
      if (!bar.label.starts_with(head) || !bar.label.ends_with(tail)) continue;
      if (one && *one != bar.label) return true;
      one = &bar.label;
    }
    return false;
  }

  /// Of prologue and epilogue: pale and dashed, so that nobody takes it for a part of the schedule.
  void end_bar(const GanttEndBar& bar) {
    if (bar.end_at < begin_ || bar.begin > end_) return;
    const double y0 = top_ + static_cast<double>(layout_.lane_top(bar)) + 3, height = static_cast<double>(layout_.lane) - 6;
    const double x0 = x(bar.begin), x1 = std::max(x(bar.end_at), x0 + 2);
    put("<g class=\"once\"><title>{}: {} to {} ({} cycles) on {}, {}, once per tile, predicted</title>\n", xml_text(bar.label),
        grouped(bar.begin), grouped(bar.end_at), grouped(bar.end_at - bar.begin), xml_text(model_.rows[bar.row].label),
        bar.prologue ? "prologue" : "epilogue");
    put("<rect class=\"once-{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"/>\n", to_string(bar.role), rounded(x0), rounded(y0),
        rounded(x1 - x0), rounded(height));
    const double shown0 = std::max(x0, left_), shown1 = std::min(x1, right_);
    text("label", (shown0 + shown1) / 2, y0 + height / 2 + 4, label_that_fits(bar.label, shown1 - shown0));
    put("</g>\n");
  }

  /// Issue solid, waits pale and dashed, turns pale: none of them is work.
  void pause_bar(const GanttPause& pause) {
    if (pause.end < begin_ || pause.begin > end_) return;
    const double y0 = top_ + static_cast<double>(layout_.lane_top(pause)) + 6, height = static_cast<double>(layout_.lane) - 12;
    const double x0 = x(pause.begin), x1 = std::max(x(pause.end), x0 + 1.5);
    put("<g class=\"pause\"><title>{}, {} to {}</title>\n", xml_text(pause_text(pause)), grouped(pause.begin), grouped(pause.end));
    const bool waits = pause.kind == GanttPause::Kind::Wait;
    put("<rect class=\"{}\"{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", waits ? "once-sync" : "sync",
        pause.kind == GanttPause::Kind::Turn ? " fill-opacity=\".35\"" : "", rounded(x0), rounded(y0), rounded(x1 - x0), rounded(height));
    const double shown0 = std::max(x0, left_), shown1 = std::min(x1, right_);
    const std::string word = pause.kind == GanttPause::Kind::Issue ? "issue " + pause.label : to_string(pause.kind);
    if (letters_in(shown1 - shown0) >= letters(word))
      text(pause.kind == GanttPause::Kind::Issue ? "label on-sync" : "label", (shown0 + shown1) / 2, y0 + height / 2 + 4, word);
    put("</g>\n");
  }

  void lanes() {
    for (std::size_t i = 0; i < model_.lanes.size(); ++i) {
      const GanttLane& lane = model_.lanes[i];
      const double y0 = lanes_top_ + kLane * static_cast<double>(i) + 3, y1 = y0 + kLane - 6;
      const double full = static_cast<double>(lane.full());
      const auto y = [&](std::int64_t value) { return y1 - (y1 - y0 - 3) * static_cast<double>(value) / full; };
      rect("row0", left_, y0, right_, y1);
      lane_label(y1 - 8, lane.label, lane.detail);
      std::string path;
      for (std::size_t s = 0; s < lane.profile.size(); ++s) {
        const Cycle from = std::max(lane.profile[s].at, begin_);
        const Cycle to = std::min(s + 1 < lane.profile.size() ? lane.profile[s + 1].at : model_.end, end_);
        if (to <= from) continue;
        path += fmt::format("{}{} {}", path.empty() ? "M" : "L", rounded(x(from)), rounded(y(lane.profile[s].value)));
        path += fmt::format("H{}", rounded(x(to)));
      }
      if (path.empty()) continue;
      const Cycle first = std::max(begin_, model_.begin);
      const char* role = to_string(lane.role);
      put("<g><title>{}: {}</title>\n", xml_text(lane.label), xml_text(lane.detail));
      put("<path class=\"area-{}\" d=\"{}V{}H{}Z\"/>\n", role, path, rounded(y1), rounded(x(first)));
      put("<path class=\"line-{}\" d=\"{}\"/></g>\n", role, path);
      if (lane.allocated > 0) line("axis", left_, y(lane.allocated), right_, y(lane.allocated));
      if (lane.capacity > 0) line("limit", left_, y(lane.capacity), right_, y(lane.capacity));
    }
  }

  /// A strip for every slot; what a stretch is stands in its title, and on it where there is room.
  void barriers() {
    using State = BarrierSpan::State;
    for (std::size_t i = 0; i < model_.barriers.size(); ++i) {
      const BarrierLane& lane = model_.barriers[i];
      const double y0 = lanes_top_ + kLane * static_cast<double>(model_.lanes.size() + i) + 3, high = kLane - 6;
      rect("row0", left_, y0, right_, y0 + high);
      lane_label(y0 + high - 8, lane.label, lane.detail);
      put("<g clip-path=\"url(#heddle-time)\">\n");
      for (const BarrierSpan& span : lane.spans) {
        if (span.end < begin_ || span.begin > end_) continue;
        const std::string whose = model_.groups[span.group.index()].label;
        const BarrierStrip place = strip_of(lane, span);
        const double alpha = span.state == State::Filling  ? 0.2
                             : span.state == State::Full   ? 0.4
                             : span.state == State::Passed ? 0.12
                                                           : 0.7;
        const double x0 = x(span.begin), x1 = std::max(x(span.end), x0 + 1.5), y = y0 + high * place.top, strip = high * place.high;
        const bool tensor = lane.kind == BarrierLane::Kind::Tensor;
        if (tensor)
          put("<g><title>{} of iteration {}: {} {} to {}, {}, slot {}</title>", xml_text(span.name), span.iteration, to_string(span.state),
              grouped(span.begin), grouped(span.end), xml_text(whose), span.slot);
        else
          put("<g><title>{}: {} {} to {}, {}, slot {}, phase {}</title>", xml_text(lane.label), to_string(span.state), grouped(span.begin),
              grouped(span.end), xml_text(whose), span.slot, span.phase);
        put("<rect class=\"{}\" fill-opacity=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", to_string(place.role), alpha,
            rounded(x0), rounded(y), rounded(x1 - x0), rounded(std::max(strip - 1, 1.0)));
        if (strip > 11 && span.state != State::Passed)
          text("label", (std::max(x0, left_) + std::min(x1, right_)) / 2, y + strip / 2 + 4,
               label_that_fits(tensor                                                      ? span.name
                               : span.state == State::Filling || span.state == State::Full ? to_string(span.state)
                                                                                           : whose,
                               std::min(x1, right_) - std::max(x0, left_)));
        put("</g>\n");
      }
      put("</g>\n");
    }
  }

  /// Slots taken pale, filled solid, as steps; a line below where readers starve, above where the queue is full.
  void queues() {
    for (std::size_t i = 0; i < model_.queues.size(); ++i) {
      const QueueLane& lane = model_.queues[i];
      const double y0 = lanes_top_ + kLane * static_cast<double>(model_.lanes.size() + model_.barriers.size() + i) + 3, y1 = y0 + kLane - 6;
      const double full = static_cast<double>(std::max({std::int64_t{1}, std::int64_t{lane.depth}, peak(lane.taken)}));
      rect("row0", left_, y0, right_, y1);
      lane_label(y1 - 8, lane.label, lane.detail);
      for (const auto& [curve, opacity] : {std::pair(&lane.taken, 0.3), std::pair(&lane.filled, 0.6)})
        for (std::size_t s = 0; s < curve->size(); ++s) {
          const Cycle from = std::max((*curve)[s].at, begin_), to = std::min(s + 1 < curve->size() ? (*curve)[s + 1].at : model_.end, end_);
          const std::int64_t value = (*curve)[s].value;
          if (to <= from || value == 0) continue;
          const double high = (y1 - y0 - 3) * static_cast<double>(value) / full;
          put("<g><title>{}: {}</title><rect class=\"{}\" fill-opacity=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\n",
              xml_text(lane.label), queue_value(lane, from), to_string(lane.role), opacity, rounded(x(from)), rounded(y1 - high),
              rounded(x(to) - x(from)), rounded(high));
        }
      for (const QueueMark& mark : lane.marks) {
        if (mark.end <= begin_ || mark.begin >= end_) continue;
        const double x0 = x(std::max(mark.begin, begin_)), x1 = std::max(x(std::min(mark.end, end_)), x0 + 1.5);
        const bool above = mark.state == QueueMark::State::Full;
        put("<g><title>{}: {} {} to {}</title><rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"3\"/></g>\n", xml_text(lane.label),
            to_string(mark.state), grouped(mark.begin), grouped(mark.end), above ? colors_.limit : colors_.bad, rounded(x0),
            rounded(above ? y0 : y1 - 3), rounded(x1 - x0));
      }
    }
  }

  const GanttModel& model_;
  const SvgOptions options_;
  const Palette& colors_;
  ChartLayout layout_;
  Cycle begin_ = 0, end_ = 1, tick_ii_ = 0;
  double width_ = 0, labels_ = 0, left_ = 0, right_ = 0, origin_ = 0, top_ = 0, lanes_top_ = 0, bottom_ = 0;
  std::string out_;
};

}  // namespace

std::string rounded(double value) {
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string gantt_svg(const GanttModel& model, const SvgOptions& options) {
  Picture picture(model, options);
  return picture.head_of(picture.bottom()) + picture.body() + "</svg>\n";
}

std::string gantt_pair_svg(const GanttModel& a, const GanttModel& b, const SvgOptions& options, const std::string& title_b) {
  SvgOptions both = options;
  both.begin = options.begin.value_or(std::min(a.begin, b.begin));
  both.end = options.end.value_or(std::max(a.end, b.end));
  if (*both.begin >= *both.end) both.begin = std::min(a.begin, b.begin), both.end = std::max(a.end, b.end);
  both.title = "A   " + options.title;
  SvgOptions below = both;
  below.lines.clear();
  below.title = "B   " + title_b;
  Picture upper(a, both), lower(b, below);
  lower.move_to(upper.bottom());
  lower.tick_like(a.ii);
  return upper.head_of(lower.bottom()) + upper.body() + lower.body() + "</svg>\n";
}

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

}  // namespace heddle
