// What the Audit tab keeps between frames.
#pragma once

#include <cstdint>

#include "app/viewmodel/audit_model.h"

namespace heddle::app {

struct AuditTabState {
  std::uint64_t revision = 0;  ///< of the session that `model` was made from; 0: none yet
  AuditModel model;
};

}  // namespace heddle::app
