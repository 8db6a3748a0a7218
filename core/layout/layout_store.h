// Layouts that plans name again and again, what accesses between them cost, and how one becomes another: made once for the whole process. A
// problem is resolved thousands of times with other numbers, and its layouts stay.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/layout/access.h"
#include "core/layout/layout.h"

namespace heddle {

struct StoredLayout {
  std::shared_ptr<const Layout> layout;
  std::string text;  ///< as layout_text() says it
};

enum class LayoutForm { Accumulator, Operand, WarpRows, ThreadRows, QuadsDown, QuadsAcross, Panels, Packed, PackedOperand, Vector };
struct LayoutKey {
  LayoutForm form = LayoutForm::Accumulator;
  std::int64_t rows = 1, columns = 1;
  int bits = 16;
  int number = 0;    ///< Panels: the swizzle; Packed: 1 for lines
  int without = -1;  ///< the dimension that is gone
  auto operator<=>(const LayoutKey&) const = default;
};

/// Null: there is none of that size.
std::shared_ptr<const StoredLayout> stored_layout(const LayoutKey& key);
/// What somebody wrote; faults as parse_layout() has them.
std::shared_ptr<const StoredLayout> stored_layout(const std::string& text, const std::vector<std::int64_t>& shape, int bits,
                                                  const std::string& pointer, std::vector<Fault>& faults);

/// With rows for columns. Pre: it has two dimensions.
std::shared_ptr<const Layout> stored_transposed(const std::shared_ptr<const Layout>& layout);

struct StoredAccess {
  AccessCost cost;
  std::string refusal;  ///< empty: it can be
};
StoredAccess stored_access(const std::shared_ptr<const Layout>& registers, const std::shared_ptr<const Layout>& memory, int bits,
                           const Instruction& instruction, const LaneExchange& exchange);
struct StoredConversion {
  ConversionClass kind = ConversionClass::Same;
  std::int64_t shuffles = 0;  ///< as shuffles_of() has it, where it is by shuffles
};
StoredConversion stored_conversion(const std::shared_ptr<const Layout>& from, const std::shared_ptr<const Layout>& to, int bits);

}  // namespace heddle
