// Paper mode's answer in words and tables.
#pragma once

#include <string>
#include <vector>

#include "core/answers/paper.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"

namespace heddle {

/// "I 26 · L 52 · 2 copies · 4 groups"; without a schedule what is known instead.
std::string paper_headline(const PaperAnswer& answer, const TextStyle& style);

/// One run: normalization, costs, groups, windows, worth at native cycles, ablations. The checker judges the retimed
/// schedule, and what it objects to is said.
std::string paper_summary(const Problem& problem, const PaperAnswer& answer, const TextStyle& style);

/// Every switch with its default and its sentence.
std::string paper_settings_table(const std::vector<PaperSetting>& settings, const TextStyle& style);

/// One row of the table of all kernels, and its columns.
std::vector<TextColumn> paper_row_columns();
std::vector<std::string> paper_row(const Problem& problem, const PaperAnswer& answer);

}  // namespace heddle
