// Rows of a report on what is wrong, what costs something and what is in order: a mark, a topic, a sentence, and details below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_style.h"

namespace heddle {

enum class RowMark { Wrong, Waste, Fine };  ///< cannot be (or computes something else), costs something, is in order
/// "wrong", "waste", "fine"
const char* to_string(RowMark mark);

struct ReportRow {
  RowMark mark = RowMark::Fine;
  std::string topic;  ///< one or two words
  std::string sentence;
  std::vector<std::string> details;  ///< all of them; the reports show the first few
};

/// "✗", "!" and "✓", or "X", "!" and "+" in ASCII.
const char* symbol(RowMark mark, bool utf8);

/// Topics in a column of their own, `topic_width` wide.
std::string rows_text(const std::vector<ReportRow>& rows, const TextStyle& style, int topic_width = 12);
/// A table of three columns.
std::string rows_markdown(const std::vector<ReportRow>& rows);

/// printable(), as text and nothing else: no end of a cell, no tag, stress, code, formula or link, nor what readers make into links and
/// mentions by themselves ("https://", "www.", "@").
std::string markdown_safe(std::string_view text);
/// "| a | b |", each cell safe; with `rule` the line below a title row follows, numbers (`right`) to the right.
std::string markdown_row(const std::vector<std::string>& cells);
std::string markdown_head(const std::vector<TextColumn>& columns);

}  // namespace heddle
