#include "solver/solve.h"

#include <z3++.h>

namespace heddle::solver {
std::string solver_version() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Z3_get_version(&a, &b, &c, &d);
  return "Z3 " + std::to_string(a) + "." + std::to_string(b) + "." + std::to_string(c);
}
}  // namespace heddle::solver
