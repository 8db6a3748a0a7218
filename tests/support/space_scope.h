// The values of all names of a space under one configuration, at once; the search tree adds them one by one.
#pragma once

#include "core/tuning_space/space.h"

namespace heddle::test {

inline Scope scope_of(const SearchSpace& space, const Config& config) {
  Scope scope = words_scope(space);
  for (std::size_t p = 0; p < space.parameters.size(); ++p) add_to_scope(space, p, config[p], scope);
  return scope;
}

}  // namespace heddle::test
