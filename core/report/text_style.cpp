// Widths are counted in code points: names are short and Latin in practice, and no terminal library is linked.
#include "core/report/text_style.h"

#include <algorithm>

namespace heddle {

const char* separator(const TextStyle& style) { return style.utf8 ? " · " : " | "; }

std::string join_facts(const std::vector<std::string>& parts, const TextStyle& style) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty()) line += separator(style);
    line += part;
  }
  return line;
}

std::string printable(std::string_view text, bool keep_newlines) {
  std::string safe(text);
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const auto c = static_cast<unsigned char>(safe[i]);
    // C1 controls (U+0080 to U+009F) are C2 80 to C2 9F in UTF-8.
    const bool c1 = c == 0xc2 && i + 1 < safe.size() && static_cast<unsigned char>(safe[i + 1]) < 0xa0;
    if (c1) safe[i] = safe[i + 1] = '?';
    if ((c < 0x20 || c == 0x7f) && !(keep_newlines && c == '\n')) safe[i] = '?';
  }
  return safe;
}

std::string styled(std::string_view text, const TextStyle& style) {
  const std::string safe = printable(text);
  if (style.utf8) return safe;
  std::string out;
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const auto c = static_cast<unsigned char>(safe[i]);
    if (c < 0x80)
      out += safe[i];
    else if (safe.compare(i, 2, "·") == 0)
      out += '|';
    else if (c >= 0xc0)
      out += '?';
  }
  return out;
}

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  int used = 0;
  for (char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (starts && ++used > width - 3) break;
    out += c;
  }
  return out + "...";
}

std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> titles;
  std::vector<int> widths;
  std::vector<bool> used(columns.size(), false);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    titles.push_back(columns[c].title);
    widths.push_back(display_width(columns[c].title));
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], display_width(row[c]));
      used[c] = used[c] || !row[c].empty();
    }
  }
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!used[c]) continue;
      const std::string padding(static_cast<std::size_t>(widths[c] - display_width(cells[c])), ' ');
      line += "  " + (columns[c].right ? padding + cells[c] : cells[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  };
  add_row(titles);
  for (const auto& row : rows) add_row(row);
  return text;
}

}  // namespace heddle
