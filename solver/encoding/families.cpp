// All families but registers, in the order in which a person would check them.
#include "solver/encoding/families.h"

namespace heddle::solver {

void add_all_families(Model& model) {
  add_dependences(model);
  add_units(model);
  add_groups(model);
  add_issue(model);
  add_channels(model);
  add_memory(model);
  add_user(model);
}

}  // namespace heddle::solver
