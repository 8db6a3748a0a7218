// Prints to stdout.
#include "tests/bench/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::bench {
namespace {

void print_aligned(const std::vector<Line>& lines, const std::set<std::size_t>& text) {
  std::vector<std::size_t> width(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      row += text.contains(i) ? fmt::format("{:<{}}  ", line[i], width[i]) : fmt::format("{:>{}}  ", line[i], width[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    fmt::print("{}\n", row);
  }
}

void print_markdown(const std::vector<Line>& lines, const std::set<std::size_t>& text) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    fmt::print("| {} |\n", fmt::join(lines[i], " | "));
    if (i != 0) continue;
    std::string rule = "|";
    for (std::size_t column = 0; column < lines[0].size(); ++column) rule += text.contains(column) ? "---|" : "---:|";
    fmt::print("{}\n", rule);
  }
}

}  // namespace

void print_table(const std::vector<Line>& lines, const std::set<std::size_t>& text, Format format) {
  if (format == Format::Json) return;
  (format == Format::Markdown ? print_markdown : print_aligned)(lines, text);
}

}  // namespace heddle::bench
