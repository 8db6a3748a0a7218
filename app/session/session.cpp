// The outside of the session: commands go to the handlers of their types, questions to the part that knows the answer.
#include "app/session/session.h"

#include <typeindex>
#include <unordered_map>

#include "app/session/command_line.h"
#include "app/session/session_core.h"
#include "core/base/assert.h"

namespace heddle::app {

void SessionCore::apply(const Command& command) {
  using Handler = void (*)(SessionCore&, const Command&);
  static const auto kHandlers = []<class... C>(CommandTypes<C...>) {
    return std::unordered_map<std::type_index, Handler>{{typeid(C), [](SessionCore& core, const Command& c) { core.on(*c.as<C>()); }}...};
  }(AllCommands());
  const auto handler = kHandlers.find(command.type());
  HEDDLE_ASSERT(handler != kHandlers.end(), "a command that all_commands.h does not list");
  handler->second(*this, command);
}

Session::Session(Environment environment) : core_(std::make_unique<SessionCore>(std::move(environment))) {}
Session::~Session() = default;

void Session::apply(const Command& command) {
  core_->apply(command);
  if (auto line = cli_equivalent(*this, command)) core_->last_line_ = *std::move(line);
  core_->keep_kernel_fresh();
}

bool Session::pump() { return core_->pump(); }
bool Session::close(std::chrono::milliseconds limit) { return core_->close(limit); }
const Content& Session::content() const { return core_->document_.content; }
const Selection& Session::selection() const { return core_->document_.selection; }
const Log& Session::log() const { return core_->log_; }
const LiveSolve& Session::live() const { return core_->work_.live; }
const QuestionState& Session::question(Topic topic) const { return core_->question(topic); }
bool Session::answered(Topic topic) const { return core_->answered(topic); }
bool Session::remembers(Topic topic, const AskOptions& options) const { return core_->remembers(topic, options); }
std::string Session::why_no_question(Topic topic) const { return core_->why_no_question(topic); }
bool Session::asking() const { return core_->asking(); }
std::string Session::why_no_dump(ExportKind kind) const { return core_->why_no_dump(kind); }
Constraints Session::open_emitter_rules() const { return core_->open_emitter_rules(); }
const KernelState& Session::kernel() const { return core_->work_.kernel; }
const KernelText* Session::kernel_text_of_problem() const { return core_->kernel_text_of_problem(); }
std::string Session::why_no_kernel() const { return core_->why_no_kernel(); }
std::string Session::why_no_build() const { return core_->why_no_build(); }
bool Session::building() const { return core_->work_.kernel.active() || core_->work_.runs.active(); }
const RunState& Session::runs() const { return core_->work_.runs; }
std::string Session::why_no_run() const { return core_->why_no_run(); }
std::string Session::why_no_measured() const { return core_->why_no_measured(); }
std::string Session::why_no_adoption() const { return core_->why_no_adoption(); }
const SweepState& Session::sweep() const { return core_->work_.sweep; }
std::string Session::why_no_tune() const { return core_->why_no_tune(); }
std::string Session::why_no_more() const { return core_->why_no_more(); }
const std::optional<ErrorReport>& Session::error() const { return core_->error_; }
const Settings& Session::settings() const { return core_->settings_; }
const std::string& Session::solver_name() const { return core_->environment_.solver_name; }
ViewState& Session::view() { return core_->view_; }
const ViewState& Session::view() const { return core_->view_; }
int Session::iterations() const { return core_->iterations(); }
Layout& Session::layout() { return core_->settings_.layout; }
std::uint64_t Session::revision() const { return core_->revision_; }
const std::string* Session::next_undo() const { return core_->document_.undo.next_undo(); }
const std::string* Session::next_redo() const { return core_->document_.undo.next_redo(); }
std::string Session::why_no_solve() const { return core_->why_no_solve(); }
std::string Session::why_no_proof() const { return core_->why_no_proof(); }
void Session::save_settings_now() { core_->save_settings_now(); }
const std::string& Session::project_file() const { return core_->project_file(); }
const std::string& Session::project_as_shown() const { return core_->project_as_shown(); }
const std::string& Session::last_line() const { return core_->last_line_; }
bool Session::unsaved() const { return core_->unsaved(); }
bool Session::worth_asking() const { return core_->worth_asking(); }
std::string Session::why_no_save() const { return core_->why_no_save(); }
const std::vector<Recovery>& Session::recoveries() const { return core_->document_.recoveries; }
void Session::note_exported(const std::string& path, const Result<Ok>& result) { core_->note_exported(path, result); }

}  // namespace heddle::app
