#include "core/formats/cost_json.h"

namespace heddle {

std::vector<UnitCost> read_unit_costs(const std::vector<Cursor>& items) {
  std::vector<UnitCost> uses;
  for (const Cursor& item : items) {
    ObjectReader object(item);
    UnitCost& use = uses.emplace_back();
    use.unit = object.name("unit");
    use.offset = object.expr("offset", Expr(0));
    use.duration = object.expr("duration", Expr(1));
    use.amount = object.expr("amount", Expr(1));
    use.in_sum = object.expr("in_sum", Expr(0));
  }
  return uses;
}

Json unit_costs_json(const std::vector<UnitCost>& uses) {
  Json list = Json::array();
  for (const UnitCost& use : uses) {
    Json item = Json::object();
    item.set("unit", use.unit);
    if (use.offset.text() != "0") item.set("offset", expr_json(use.offset));
    item.set("duration", expr_json(use.duration));
    if (use.amount.text() != "1") item.set("amount", expr_json(use.amount));
    if (use.in_sum.text() != "0") item.set("in_sum", expr_json(use.in_sum));
    list.push(std::move(item));
  }
  return list;
}

Json expr_json(const Expr& expr) {
  if (!expr.is_constant()) return expr.text();
  return expr.evaluate({}).value();
}

Json exprs_json(const std::vector<Expr>& exprs) {
  Json list = Json::array();
  for (const Expr& expr : exprs) list.push(expr_json(expr));
  return list;
}

Json names_json(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

}  // namespace heddle
