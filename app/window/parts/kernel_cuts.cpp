#include "app/window/parts/kernel_cuts.h"

#include "app/session/proposal_commands.h"
#include "app/window/parts/ui_state.h"

namespace heddle::app {

std::vector<std::string> parameters_to_cut(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const Param& param : kernel.params)
    if (subtile(kernel, {param.name, 2})) names.push_back(param.name);
  return names;
}

std::string why_no_cut(const Session& session) {
  const Content& content = session.content();
  if (!content.kernel) return "nothing is open";
  if (std::string reason = content.why_not(SourceUse::Cuts); !reason.empty()) return reason;
  return content.overrides.empty() ? "" : "a kernel is cut at the sizes of its file: take the other values of parameters back first";
}

void open_cut(const Session& session, UiState& ui, const Subtile& cut) {
  const Content& content = session.content();
  ui.commands.push(OpenKernel{content.kernel->source + cut_suffix(cut), content.changes.empty()});
  if (content.changes.empty()) return;
  for (std::size_t i = 0; i < content.changes.size(); ++i) ui.commands.push(SetChange{content.changes[i], i + 1 == content.changes.size()});
}

}  // namespace heddle::app
