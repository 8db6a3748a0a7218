// One colour per role of a functional unit, the same in every picture: Okabe and Ito's set, which people who see colours
// differently can tell apart ("Color Universal Design", 2008), each with the text colour that can be read on it.
#pragma once

#include <cstdint>

#include "core/machine/machine.h"

namespace heddle {

struct RolePaint {
  std::uint32_t fill, text;  ///< 0xRRGGBB
};

constexpr RolePaint role_paint(UnitRole role) {
  switch (role) {
    case UnitRole::Tensor: return {0xd55e00, 0x000000};
    case UnitRole::Copy: return {0x56b4e9, 0x000000};
    case UnitRole::Special: return {0x009e73, 0x000000};
    case UnitRole::Float: return {0xcc79a7, 0x000000};
    case UnitRole::Alu: return {0xe7a8c9, 0x000000};
    case UnitRole::Smem: return {0xe69f00, 0x000000};
    case UnitRole::Tmem: return {0x0072b2, 0xffffff};
    case UnitRole::Sync: return {0xf0e442, 0x000000};
    case UnitRole::Other: return {0x999999, 0x000000};
  }
  return {0x999999, 0x000000};
}

}  // namespace heddle
