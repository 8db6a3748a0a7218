// Structures of sparse matrices, made by rule: which columns every row has. A column is an element or a block, as the reader likes.
//
// The masks are those of the papers: BigBird (M. Zaheer et al., NeurIPS 2020, arXiv 2007.14062) in blocks, Longformer (I. Beltagy et
// al., 2020, arXiv 2004.05150). The rest are what embedding tables, caches of pages and experts look like.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace heddle {

/// An index tensor has no more numbers (1 GiB), and a generated one no more than so many.
inline constexpr std::int64_t kMostIndices = std::int64_t{1} << 28, kMostGenerated = std::int64_t{1} << 26;

/// The numbers of one part: "rowptr" (ROWS + 1 of them), "colidx" and "rows" (one per entry), "lengths" and "order" (ROWS: rows by length,
/// longest first). The same everywhere for the same arguments. Faults: unknown rule, part or argument, missing arguments, numbers that make
/// no sense, more entries than kMostGenerated (found before anything is reserved).
Result<std::vector<std::int32_t>> make_structure(std::string_view rule, const std::map<std::string, std::int64_t>& arguments,
                                                 std::string_view part);

}  // namespace heddle
