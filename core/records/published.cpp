#include "core/records/published.h"

namespace heddle {

const NamedMachine* ValidationGround::find(const PublishedRow& row) const {
  const NamedMachine* found = nullptr;
  for (const NamedMachine& machine : machines) {
    if (machine.name != row.machine || (machine.power_w && machine.power_w != row.power_w)) continue;
    if (!found || machine.power_w) found = &machine;
  }
  return found;
}

}  // namespace heddle
