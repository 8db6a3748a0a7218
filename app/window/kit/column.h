// A column of a table: what it is called, what stands in its cells, what it is sorted by, and what of it goes to the clipboard.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/window/kit/fuzzy.h"
#include "app/window/kit/theme.h"
#include "core/base/assert.h"
#include "core/base/letters.h"

namespace heddle::app {

template <class Row>
struct Column {
  std::string title;    ///< also what it goes by in the state of tabs and in tests; empty: it is only drawn
  bool number = false;  ///< stands at the right
  std::function<std::string(const Row&)> text = {};
  std::function<std::optional<std::int64_t>(const Row&)> key = {};  ///< what it is sorted by; null: its text, in any case
  std::string about = {};
  // Said with the words below.
  float width = 0;                                          ///< pixels or a share, as ImGui takes it; 0: as its cells need
  int flags = 0;                                            ///< ImGuiTableColumnFlags
  std::function<bool(const Row&, const Row&)> before = {};  ///< what it is sorted by instead
  std::function<std::string(const Row&)> copied = {};       ///< null: the key as it is, where there is one, else the text
  std::function<Color(const Row&)> ink = {};                ///< null: that of text
  std::function<void(const Row&)> draw = {};                ///< null: the text

  // Words for lists of columns: each gives the column back with one thing more said about it.
  Column wide(float width_, int flags_ = 0) const { return with(&Column::width, width_).with(&Column::flags, flags_); }
  /// `of(row)` is anything that can be compared.
  template <class Of>
  Column sorted_by(Of of) const {
    return with(&Column::before, decltype(before)([of](const Row& a, const Row& b) { return of(a) < of(b); }));
  }
  Column as_copied(std::function<std::string(const Row&)> plain) const { return with(&Column::copied, std::move(plain)); }
  Column inked(std::function<Color(const Row&)> color) const { return with(&Column::ink, std::move(color)); }
  Column drawn(std::function<void(const Row&)> how) const { return with(&Column::draw, std::move(how)); }

 private:
  template <class T>
  Column with(T Column::*member, T value) const {
    Column out = *this;
    out.*member = std::move(value);
    return out;
  }
};

template <class Row>
const Column<Row>& column_of(std::span<const Column<Row>> columns, std::string_view title) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column<Row>& c) { return title == c.title; });
  HEDDLE_ASSERT(found != columns.end(), "a column that the table does not have");
  return *found;
}

/// The same in a list of one's own, to say more about it.
template <class Row>
Column<Row>& column_of(std::vector<Column<Row>>& columns, std::string_view title) {
  return const_cast<Column<Row>&>(column_of(std::span<const Column<Row>>(columns), title));
}

/// The number that a cell begins with, which may be in groups of digits; none where it begins with something else.
inline std::optional<double> leading_number(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool sign = digits.empty() && (c == '-' || c == '+');
    if ((c >= '0' && c <= '9') || c == '.' || sign) {
      digits += c;
      continue;
    }
    const bool between = i + 1 < text.size() && (c == ' ' || (c & 0x80) != 0);
    if (!between || digits.empty()) break;
  }
  if (digits.find_first_of("0123456789") == std::string::npos) return {};
  return std::strtod(digits.c_str(), nullptr);
}

/// Stable; rows without a key come last either way. Numbers that are only text are sorted as numbers.
template <class Row>
void sort_by(std::vector<Row>& rows, const Column<Row>& column, bool descending) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (column.before) return descending ? column.before(b, a) : column.before(a, b);
    if (!column.key && column.number) {
      const auto x = leading_number(column.text(a)), y = leading_number(column.text(b));
      if (!x || !y) return x.has_value() && !y.has_value();
      return descending ? *y < *x : *x < *y;
    }
    if (!column.key) {
      const std::string x = lower_case(column.text(a)), y = lower_case(column.text(b));
      return descending ? y < x : x < y;
    }
    const auto x = column.key(a), y = column.key(b);
    if (!x || !y) return x.has_value() && !y.has_value();
    return descending ? *y < *x : *x < *y;
  });
}

/// What a table is sorted by, where a tab keeps it.
struct TableOrder {
  std::string column;  ///< its title; one that the table does not have: rows stay as they are
  bool descending = false;
};

template <class Row>
void sort_by(std::vector<Row>& rows, std::span<const Column<Row>> columns, const TableOrder& order) {
  for (const Column<Row>& column : columns)
    if (!order.column.empty() && column.title == order.column) return sort_by(rows, column, order.descending);
}

/// For the clipboard: a line of titles, then one for every row; cells apart by tabs, numbers without spaces.
template <class Row>
std::string table_as_text(std::span<const Column<Row>> columns, const std::vector<Row>& rows) {
  const auto cell = [](const Column<Row>& column, const Row& row) {
    if (column.copied) return column.copied(row);
    if (!column.key) return column.text(row);
    const std::optional<std::int64_t> key = column.key(row);
    return key ? std::to_string(*key) : std::string();
  };
  const auto line = [&](auto&& cell_of) {
    std::string text;
    for (const Column<Row>& column : columns) text += (&column == &columns.front() ? "" : "\t") + cell_of(column);
    return text + "\n";
  };
  std::string text = line([](const Column<Row>& column) { return column.title; });
  for (const Row& row : rows) text += line([&](const Column<Row>& column) { return cell(column, row); });
  return text;
}

}  // namespace heddle::app
