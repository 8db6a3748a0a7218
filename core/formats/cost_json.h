// The cost fields that kernel and machine files share: uses of units.
#pragma once

#include <vector>

#include "core/base/json_reader.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// One {"unit", "offset"?, "duration"?, "amount"?} per item.
std::vector<UnitCost> read_unit_costs(const std::vector<Cursor>& items);
Json unit_costs_json(const std::vector<UnitCost>& uses);

/// An integer where the expression is one, else its text.
Json expr_json(const Expr& expr);
Json exprs_json(const std::vector<Expr>& exprs);
Json names_json(const std::vector<std::string>& names);

}  // namespace heddle
