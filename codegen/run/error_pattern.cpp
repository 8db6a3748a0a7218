// Exchanged pieces are looked for first: they explain more than their outline does.
#include "codegen/run/error_pattern.h"

#include <algorithm>

namespace heddle::codegen {
namespace {

constexpr std::int64_t kChunkBytes = 16;  ///< what a swizzle moves
constexpr std::int64_t kLineBytes = 128;  ///< within which, and the width of a panel
constexpr std::int64_t kRowsOfStore = 16, kRowsOfSwizzle = 8, kRowsOfTile = 64;
constexpr double kMost = 0.9, kFew = 0.01;

/// What of it is right or wrong as a whole.
enum class Part { Right, Wrong, Mixed };
Part part(std::int64_t wrong, std::int64_t all) {
  const double share = all > 0 ? static_cast<double>(wrong) / static_cast<double>(all) : 0;
  return share >= kMost ? Part::Wrong : share <= kFew ? Part::Right : Part::Mixed;
}

class Finder {
 public:
  explicit Finder(const WrongElements& output)
      : o_(output),
        columns_(std::max<std::int64_t>(o_.columns, 1)),
        rows_(static_cast<std::int64_t>(o_.wrong.size()) / columns_),
        chunk_(std::max<std::int64_t>(kChunkBytes / o_.element_bytes, 1)),
        line_(std::max<std::int64_t>(kLineBytes / o_.element_bytes, 1)) {}

  ErrorPattern find() const {
    const std::int64_t wrong = std::count(o_.wrong.begin(), o_.wrong.end(), true);
    if (wrong == 0) return ErrorPattern::None;
    if (columns_ % line_ == 0) {
      if (moved([&](std::int64_t row, std::int64_t column, auto&& stands) {
            for (std::int64_t c = column / line_ * line_; c < (column / line_ + 1) * line_; c += chunk_)
              if (c != column && stands(row * columns_ + c)) return true;
            return false;
          }))
        return ErrorPattern::Chunks;
      if (moved([&](std::int64_t row, std::int64_t column, auto&& stands) {
            const std::int64_t first = row / kRowsOfStore * kRowsOfStore;
            for (std::int64_t r = first; r < std::min(first + kRowsOfStore, rows_); ++r)
              if (r != row && stands(r * columns_ + column)) return true;
            return false;
          }))
        return ErrorPattern::Rows;
    }
    if (static_cast<double>(wrong) >= kMost * static_cast<double>(o_.wrong.size())) return ErrorPattern::Everything;
    // A swizzle leaves the first of every eight rows where it is.
    if (rows_ > kRowsOfSwizzle && parts([&](std::int64_t row, std::int64_t) { return row % kRowsOfSwizzle; }, kRowsOfSwizzle))
      return ErrorPattern::Chunks;
    const std::int64_t panels = (columns_ + line_ - 1) / line_;
    if (panels > 1 && parts([&](std::int64_t, std::int64_t column) { return column / line_; }, panels)) return ErrorPattern::Panels;
    const std::int64_t tiles = panels * ((rows_ + kRowsOfTile - 1) / kRowsOfTile);
    if (tiles > 1 && parts([&](std::int64_t row, std::int64_t column) { return row / kRowsOfTile * panels + column / line_; }, tiles))
      return ErrorPattern::Tiles;
    return ErrorPattern::Scattered;
  }

 private:
  /// Nearly every chunk with a wrong element holds what belongs to another place; `search(row, column, stands)` tries those.
  template <class Search>
  bool moved(const Search& search) const {
    std::int64_t wrong = 0, found = 0;
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < columns_; column += chunk_) {
        const std::int64_t at = row * columns_ + column;
        if (!any_wrong(at)) continue;
        ++wrong;
        found += search(row, column, [&](std::int64_t from) {
          for (std::int64_t k = 0; k < chunk_; ++k)
            if (!o_.equals(at + k, from + k)) return false;
          return true;
        });
      }
    return static_cast<double>(found) >= kMost * static_cast<double>(wrong);
  }
  bool any_wrong(std::int64_t at) const {
    for (std::int64_t k = 0; k < chunk_; ++k)
      if (o_.wrong[static_cast<std::size_t>(at + k)]) return true;
    return false;
  }

  /// Of the classes that the elements fall into, some are right and the others wrong as a whole.
  template <class ClassOf>
  bool parts(const ClassOf& class_of, std::int64_t classes) const {
    std::vector<std::int64_t> wrong(static_cast<std::size_t>(classes)), all(wrong);
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = 0; column < columns_; ++column) {
        const auto c = static_cast<std::size_t>(class_of(row, column));
        ++all[c];
        wrong[c] += o_.wrong[static_cast<std::size_t>(row * columns_ + column)];
      }
    bool right = false, bad = false;
    for (std::size_t c = 0; c < all.size(); ++c) switch (part(wrong[c], all[c])) {
        case Part::Right: right = true; break;
        case Part::Wrong: bad = true; break;
        case Part::Mixed: return false;
      }
    return right && bad;
  }

  const WrongElements& o_;
  std::int64_t columns_, rows_, chunk_, line_;
};

}  // namespace

ErrorPattern pattern_of(const WrongElements& output) { return Finder(output).find(); }

}  // namespace heddle::codegen
