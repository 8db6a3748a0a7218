#include "core/layout/choices.h"

namespace heddle {

LayoutChoices merged(LayoutChoices choices, const LayoutChoices& more) {
  for (const auto& [value, layout] : more.layouts) choices.layouts[value] = layout;
  for (const auto& [op, choice] : more.instructions) choices.instructions[op] = choice;
  return choices;
}

}  // namespace heddle
