// A column of a table that can be sorted: what it is called, what stands in its cells, and what it is sorted by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/kit/fuzzy.h"
#include "core/base/assert.h"
#include "core/base/letters.h"

namespace heddle::app {

template <class Row>
struct Column {
  const char* title;  ///< also what it goes by in the state of tabs and in tests
  bool number;        ///< stands at the right
  std::string (*text)(const Row&);
  std::optional<std::int64_t> (*key)(const Row&) = nullptr;  ///< what it is sorted by; null: its text, in any case
  const char* about = "";
};

template <class Row>
const Column<Row>& column_of(std::span<const Column<Row>> columns, std::string_view title) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column<Row>& c) { return title == c.title; });
  HEDDLE_ASSERT(found != columns.end(), "a column that the table does not have");
  return *found;
}

/// Stable; rows without a key come last either way.
template <class Row>
void sort_by(std::vector<Row>& rows, const Column<Row>& column, bool descending) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    if (!column.key) {
      const std::string x = lower_case(column.text(a)), y = lower_case(column.text(b));
      return descending ? y < x : x < y;
    }
    const auto x = column.key(a), y = column.key(b);
    if (!x || !y) return x.has_value() && !y.has_value();
    return descending ? *y < *x : *x < *y;
  });
}

}  // namespace heddle::app
