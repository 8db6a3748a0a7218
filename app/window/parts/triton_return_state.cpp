#include "app/window/parts/triton_return_state.h"

#include "app/session/session.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {

const WayBack& way_back_of(const Session& session, UiState& ui) {
  TritonReturnState& state = ui.of<TritonReturnState>();
  const Content& content = session.content();
  const EntryPtr entry = content.shown ? content.schedules[*content.shown] : nullptr;
  if (!state.way || state.source != content.source || state.machine != content.machine || state.problem != content.problem ||
      state.entry != entry) {
    const bool all = state.all && state.source == content.source;
    state = {content.source, content.machine, content.problem, entry, std::make_shared<const WayBack>(way_back(content)), all, {}};
  }
  return *state.way;
}

}  // namespace heddle::app
