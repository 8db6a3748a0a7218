// What the way back of the shown schedule is, kept between frames: working it out reads the text anew.
#pragma once

#include <memory>
#include <string>

#include "app/session/document.h"
#include "app/session/way_back.h"

namespace heddle::app {

class Session;
struct UiState;

struct TritonReturnState {
  // What `way` is of.
  SourcePtr source;
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const Problem> problem;
  EntryPtr entry;
  std::shared_ptr<const WayBack> way;
  // What the person did.
  bool all = false;       ///< the list shows every change
  std::string complaint;  ///< why the rotated loop could not be copied
};

/// Of what is shown now.
const WayBack& way_back_of(const Session& session, UiState& ui);

}  // namespace heddle::app
