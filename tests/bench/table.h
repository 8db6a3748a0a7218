// Tables of the benchmarks: aligned for a terminal, or Markdown for the repository.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace heddle::bench {

enum class Format { Aligned, Markdown, Json };

using Line = std::vector<std::string>;

/// The first line is the header. Columns in `text` are aligned to the left. Json prints nothing: those rows are printed
/// one by one as they come.
void print_table(const std::vector<Line>& lines, const std::set<std::size_t>& text, Format format);

}  // namespace heddle::bench
