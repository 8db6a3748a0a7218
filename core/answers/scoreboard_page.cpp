#include "core/answers/scoreboard_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/scoreboard.h"
#include "core/answers/summary.h"
#include "core/chart/gantt_model.h"
#include "core/chart/svg.h"

namespace heddle {
namespace {

constexpr int kChartWidth = 1100;

std::string style_of(SvgTheme theme) {
  const bool dark = theme == SvgTheme::Dark;
  return fmt::format(
      "<style>\n"
      "body {{ font: 14px/1.45 'DejaVu Sans', Verdana, sans-serif; color: {0}; background: {1}; max-width: {4}px; margin: 24px auto; "
      "padding: 0 16px }}\n"
      "h1 {{ font-size: 20px }} h2 {{ font-size: 16px; margin: 28px 0 4px }} p {{ margin: 4px 0 }} .dim {{ color: {2} }}\n"
      "table {{ border-collapse: collapse; margin: 16px 0 }} th, td {{ padding: 3px 9px; border-bottom: 1px solid {3}; text-align: left "
      "}}\n"
      "th {{ font-size: 12px; color: {2} }} .n {{ text-align: right; font-variant-numeric: tabular-nums }} .bad {{ color: {5} }}\n"
      "svg {{ max-width: 100%; height: auto }} a {{ color: inherit }}\n"
      "</style>\n",
      dark ? "#e6e9ef" : "#16191f", dark ? "#101318" : "#ffffff", dark ? "#9aa2b1" : "#4d5563", dark ? "#262b35" : "#d5dae2",
      kChartWidth + 20, dark ? "#ff6b5e" : "#b3261e");
}

std::string table(const Scoreboard& board, const std::vector<ScoreRow>& rows) {
  std::string html = "<table>\n<tr>";
  for (const ScoreColumn column : kScoreColumns)
    html += fmt::format("<th{} title=\"{}\">{}</th>", is_number(column) ? " class=\"n\"" : "", xml_text(about(column)),
                        xml_text(title(column)));
  html += "</tr>\n";
  for (const ScoreRow& row : rows) {
    const Contender& c = board.contenders[row.contender];
    html += c.valid() ? "<tr>" : "<tr class=\"bad\">";
    for (std::size_t k = 0; k < row.cells.size(); ++k) {
      std::string cell = xml_text(row.cells[k]);
      if (kScoreColumns[k] == ScoreColumn::Name && c.schedule) cell = fmt::format("<a href=\"#s{}\">{}</a>", row.contender, cell);
      html += fmt::format("<td{}>{}</td>", is_number(kScoreColumns[k]) ? " class=\"n\"" : "", cell);
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string section(const Problem& problem, const Contender& c, std::size_t index, Cycle longest, SvgTheme theme) {
  std::string html = fmt::format("<h2 id=\"s{}\">{} <span class=\"dim\">{}</span></h2>\n", index, xml_text(c.name), to_string(c.kind));
  if (!c.about.empty()) html += "<p class=\"dim\">" + xml_text(c.about) + "</p>\n";
  html += fmt::format("<p{}>{}</p>\n", c.valid() ? "" : " class=\"bad\"", xml_text(score_reason(c)));
  if (c.schedule) {
    GanttOptions options;
    options.verdict = &c.verdict;
    SvgOptions svg;
    svg.theme = theme;
    svg.width = kChartWidth;
    svg.begin = 0;
    svg.end = longest;
    svg.lanes = false;
    svg.title =
        fmt::format("{} · II {} · period {}", c.name, grouped(c.schedule->ii), c.period.deadlock ? "deadlock" : grouped(c.period.cycles()));
    html += gantt_svg(build_gantt(problem, *c.schedule, options), svg);
  }
  if (!c.log.empty()) {
    html += "<details><summary class=\"dim\">how it came about</summary><ul>\n";
    for (const std::string& line : c.log) html += "<li>" + xml_text(line) + "</li>\n";
    html += "</ul></details>\n";
  }
  return html;
}

}  // namespace

std::string scoreboard_html(const Problem& problem, const Scoreboard& board, SvgTheme theme) {
  const std::vector<ScoreRow> rows = score_rows(board);
  Cycle longest = 1;
  for (const Contender& c : board.contenders)
    if (c.schedule) longest = std::max(longest, c.schedule->ii);
  const std::string title = xml_text(problem_title(problem));
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" + title + "</title>\n" +
                     style_of(theme) + "</head>\n<body>\n<h1>" + title + "</h1>\n<p>" + xml_text(scoreboard_headline(board)) + "</p>\n" +
                     table(board, rows);
  for (const std::string& name : beyond_bound(board))
    html += "<p class=\"bad\">Fault: " + xml_text(name) + " is below the proved bound; model, checker or evaluator is wrong.</p>\n";
  for (const ScoreRow& row : rows) html += section(problem, board.contenders[row.contender], row.contender, longest, theme);
  return html + "</body>\n</html>\n";
}

}  // namespace heddle
