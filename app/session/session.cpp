// The outside of the session: commands go to the handlers of their types, and what is inside is shown. What takes more than a line to
// answer is in session_*.cpp, beside the commands that depend on it.
#include "app/session/session.h"

#include <typeindex>
#include <unordered_map>

#include "app/session/command_line.h"
#include "app/session/session_core.h"
#include "core/base/assert.h"

namespace heddle::app {

Session::Session(Environment environment) : core_(std::make_unique<SessionCore>(*this, std::move(environment))) {}
Session::~Session() = default;

void Session::apply(const Command& command) {
  using Handler = void (*)(SessionCore&, const Command&);
  static const auto kHandlers = []<class... C>(CommandTypes<C...>) {
    return std::unordered_map<std::type_index, Handler>{{typeid(C), [](SessionCore& core, const Command& c) { core.on(*c.as<C>()); }}...};
  }(AllCommands());
  const auto handler = kHandlers.find(command.type());
  HEDDLE_ASSERT(handler != kHandlers.end(), "a command that all_commands.h does not list");
  handler->second(*core_, command);
  if (auto line = cli_equivalent(*this, command)) core_->last_line_ = *std::move(line);
  core_->keep_kernel_fresh();
}

bool Session::pump() { return core_->pump(); }
bool Session::close(std::chrono::milliseconds limit) { return core_->close(limit); }
const Content& Session::content() const { return core_->document_.content; }
const Selection& Session::selection() const { return core_->document_.selection; }
const Log& Session::log() const { return core_->log_; }
const LiveSolve& Session::live() const { return core_->work_.live; }
const KernelState& Session::kernel() const { return core_->work_.kernel; }
bool Session::building() const { return core_->work_.kernel.active() || core_->work_.runs.active(); }
const RunState& Session::runs() const { return core_->work_.runs; }
const SweepState& Session::sweep() const { return core_->work_.sweep; }
const TruthState& Session::truth() const { return core_->work_.truth; }
bool Session::validating() const { return core_->work_.truth.active(); }
const PredictionState& Session::predictions() const { return core_->work_.predictions; }
bool Session::predicting() const { return core_->work_.predictions.active(); }
const TritonState& Session::triton() const { return core_->work_.triton; }
bool Session::comparing() const { return core_->work_.triton.active(); }
const std::optional<ErrorReport>& Session::error() const { return core_->error_; }
const Settings& Session::settings() const { return core_->settings_; }
const std::string& Session::solver_name() const { return core_->environment_.solver_name; }
ViewState& Session::view() { return core_->view_; }
const ViewState& Session::view() const { return core_->view_; }
PaneSizes& Session::panes() { return core_->settings_.panes; }
std::uint64_t Session::revision() const { return core_->revision_; }
const std::string* Session::next_undo() const { return core_->document_.undo.next_undo(); }
const std::string* Session::next_redo() const { return core_->document_.undo.next_redo(); }
void Session::save_settings_now() { core_->save_settings_now(); }
const std::string& Session::last_line() const { return core_->last_line_; }
const std::vector<Recovery>& Session::recoveries() const { return core_->document_.recoveries; }
void Session::note_exported(const std::string& path, const Result<Ok>& result) { core_->note_exported(path, result); }

}  // namespace heddle::app
