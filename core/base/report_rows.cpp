#include "core/base/report_rows.h"

#include <fmt/format.h>

#include <cctype>

namespace heddle {
namespace {

constexpr std::size_t kMostDetails = 6;

/// The details that text and Markdown show.
std::vector<std::string> first_details(const ReportRow& row) {
  std::vector<std::string> lines;
  for (const std::string& detail : row.details) {
    if (lines.size() == kMostDetails && row.details.size() > kMostDetails) {
      lines.push_back(fmt::format("and {} more", row.details.size() - kMostDetails));
      break;
    }
    lines.push_back(detail);
  }
  return lines;
}

}  // namespace

const char* to_string(RowMark mark) { return mark == RowMark::Wrong ? "wrong" : mark == RowMark::Waste ? "waste" : "fine"; }

const char* symbol(RowMark mark, bool utf8) {
  switch (mark) {
    case RowMark::Wrong: return utf8 ? "✗" : "X";
    case RowMark::Waste: return "!";
    case RowMark::Fine: return utf8 ? "✓" : "+";
  }
  return " ";
}

std::string rows_text(const std::vector<ReportRow>& rows, const TextStyle& style, int topic_width) {
  std::string text;
  const std::string below(static_cast<std::size_t>(topic_width) + 5, ' ');
  for (const ReportRow& row : rows) {
    const std::string head = fmt::format("  {} {:<{}}", symbol(row.mark, style.utf8), row.topic, topic_width);
    text += wrapped(styled(row.sentence, style), head, style.width);
    for (const std::string& detail : first_details(row)) text += wrapped(styled(detail, style), below, style.width);
  }
  return text;
}

std::string rows_markdown(const std::vector<ReportRow>& rows) {
  std::string text = "| | | |\n|---|---|---|\n";
  for (const ReportRow& row : rows) {
    text += fmt::format("| {} | {} | {}", symbol(row.mark, true), markdown_safe(row.topic), markdown_safe(row.sentence));
    for (const std::string& detail : first_details(row)) text += "<br>" + markdown_safe(detail);
    text += " |\n";
  }
  return text;
}

std::string markdown_safe(std::string_view text) {
  // A comment is nothing to a reader, and nothing that is cut by one is a link or a mention.
  constexpr std::string_view kCut = "<!-- -->";
  const std::string safe = printable(text);
  const auto in_word = [&](std::size_t i) { return i < safe.size() && std::isalnum(static_cast<unsigned char>(safe[i])) != 0; };
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    if (c == '<' || c == '&') {
      out += c == '<' ? "&lt;" : "&amp;";
      continue;
    }
    // Between letters it is no stress: names stay as they are.
    const bool stress = c == '_' && !(i > 0 && in_word(i - 1) && in_word(i + 1));
    if (stress || std::string_view("\\|*`[]~$").find(c) != std::string_view::npos) out += '\\';
    const bool www = c == '.' && i >= 3 && (safe[i - 1] | ' ') == 'w' && (safe[i - 2] | ' ') == 'w';
    if (www) out += kCut;
    out += c;
    if (c == '@' || (c == ':' && safe.compare(i + 1, 2, "//") == 0)) out += kCut;
  }
  return out;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_safe(cell) + " |";
  return line + "\n";
}

std::string markdown_head(const std::vector<TextColumn>& columns) {
  std::string titles = "|", rules = "|";
  for (const TextColumn& column : columns) {
    titles += " " + markdown_safe(column.title) + " |";
    rules += column.right ? "---:|" : "---|";
  }
  return titles + "\n" + rules + "\n";
}

}  // namespace heddle
