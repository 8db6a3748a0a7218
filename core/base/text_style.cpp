// Widths are counted in code points: names are short and Latin in practice, and no terminal library is linked.
#include "core/base/text_style.h"

#include <algorithm>

namespace heddle {

std::string said_by(const TextStyle& style, std::string_view part) { return style.option ? style.option(part) : std::string(part); }

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
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto at = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
    const unsigned c = at(0);
    std::size_t size = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, have = 1;
    while (have < size && (at(have) & 0xc0) == 0x80) ++have;
    const bool c0 = (c < 0x20 || c == 0x7f) && !(keep_newlines && c == '\n');
    // C1 controls (U+0080 to U+009F) are C2 80 to C2 9F in UTF-8; as bytes of their own they are the same to a terminal without it.
    const bool c1 = (c == 0xc2 && have == 2 && at(1) < 0xa0) || (c >= 0x80 && c < 0xa0);
    // Line separators and changes of writing direction: U+061C is D8 9C, U+200E, U+200F and U+2028 to U+202E are E2 80 8E, 8F and A8 to AE,
    // U+2066 to U+2069 E2 81 A6 to A9.
    const bool direction = (c == 0xd8 && at(1) == 0x9c) ||
                           (c == 0xe2 && at(1) == 0x80 && (at(2) == 0x8e || at(2) == 0x8f || (at(2) >= 0xa8 && at(2) <= 0xae))) ||
                           (c == 0xe2 && at(1) == 0x81 && at(2) >= 0xa6 && at(2) <= 0xa9);
    if (c0 || direction)
      safe += '?';
    else if (c1)
      safe.append(have, '?');
    else
      safe += text.substr(i, have);
    i += have;
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

std::string count_of(std::int64_t count, std::string_view one, std::string_view many) {
  const std::string number = std::to_string(count) + " ";
  if (count == 1 || many.empty()) return number + std::string(one) + (count == 1 ? "" : "s");
  return number + std::string(many);
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

std::string wrapped(std::string_view text, const std::string& first, int width) {
  const std::string indent(static_cast<std::size_t>(display_width(first)), ' ');
  std::string out = first, line;
  const int room = std::max(20, width - display_width(first));
  bool any = false;
  const auto flush = [&] {
    out += (any ? indent : "") + line + "\n";
    any = true;
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word(text.substr(at, end - at));
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) flush();
    line += (line.empty() ? "" : " ") + word;
    at = end + 1;
  }
  if (!line.empty() || !any) flush();
  return out;
}

std::string text_table(const std::vector<TextColumn>& columns, const std::vector<std::vector<std::string>>& given, int width) {
  constexpr int kLeast = 28;  // a sentence in a narrower column is hard to read
  std::vector<std::vector<std::string>> rows = given;
  for (std::vector<std::string>& row : rows)
    for (std::string& cell : row) cell = printable(cell);  // a row is a line
  std::vector<std::string> titles;
  std::vector<int> widths;
  std::vector<bool> used(columns.size(), false);
  int before = 2;  // where the last column begins
  for (std::size_t c = 0; c < columns.size(); ++c) {
    titles.push_back(columns[c].title);
    widths.push_back(display_width(columns[c].title));
    for (const auto& row : rows) {
      widths[c] = std::max(widths[c], display_width(row[c]));
      used[c] = used[c] || !row[c].empty();
    }
    if (used[c] && c + 1 < columns.size()) before += widths[c] + 2;
  }
  const int room = std::max(kLeast, width - before);
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!used[c]) continue;
      if (width > 0 && c + 1 == columns.size() && display_width(cells[c]) > room) {
        text += wrapped(cells[c], line + "  ", before + room);
        return;
      }
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
