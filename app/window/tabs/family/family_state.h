// What the Family tab remembers between frames: the question as it will be asked.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/jobs/ask_options.h"
#include "app/window/kit/column.h"
#include "core/kernel/kernel.h"

namespace heddle::app {

class Session;
struct UiState;

/// Something that may vary, as `heddle family --vary` takes it.
struct FamilyOffer {
  std::string text;   ///< "groups=2..4"
  std::string label;  ///< "groups 2 to 4"
};

struct FamilyTabState {
  std::shared_ptr<const Kernel> of;  ///< whose offers these are
  std::vector<FamilyOffer> offers;
  std::set<std::string> chosen;
  char own[256] = "";                 ///< more of them, typed, with blanks between
  std::optional<std::size_t> picked;  ///< none: the best
  TableOrder order;                   ///< of the members
};

/// The question that the tab would ask now; the first time of a kernel the number of its warp groups varies.
AskOptions family_options(const Session& session, UiState& ui);

}  // namespace heddle::app
