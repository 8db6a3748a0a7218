// A compiler's file as the open document, a dump or a Triton text: a loop of it by one of its readings, its own schedules as rows of the
// list at once. Of a Triton text the best ones follow as they are found.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "app/session/commands.h"
#include "app/session/edits.h"
#include "app/session/triton_state.h"
#include "core/base/result.h"

namespace heddle::app {

/// What is to be opened, and how; `machine` empty: the file's own.
struct SourceRequest {
  std::string name, machine{};
  bool solve = false;  ///< where it has no schedule of its own, and none is being worked out
};

class SourceDocument : Opener {
 public:
  /// Shows a line of a file in the person's own editor.
  using OpenPlaceFunction = std::function<Result<Ok>(const std::string& file, int line)>;

  SourceDocument(Edits& edits, TritonTools tools, std::function<void()> wake, OpenPlaceFunction open_place)
      : Opener(edits), three_(std::move(tools), std::move(wake)), open_place_(std::move(open_place)) {}

  /// Takes what a compiler wrote a kernel into; false: the name leads to nothing like that.
  bool open(const SourceRequest& request);
  /// Shows the schedule of its own that such a file holds; false as above.
  bool open_schedule(const std::string& name);
  /// Everything is resolved again on it, where the file leaves the machine free. Pre: a compiler's file is open.
  void switch_machine(const std::string& name);
  /// The compiler's file that a kernel was read from, named in full; null: it is ours, or its file is not what it was.
  static SourcePtr source_of(const Kernel& kernel, const Machine* machine);
  /// Notes what the file demands, which is no work of the user's, and of which of its own schedules that is not demanded. Pre: there is a
  /// problem.
  static void take_rules(Content& content);

  void on(const ShowPart& c);
  void on(const DemandEmitterRules& c);
  void on(const ShowSide& c);
  void on(const CompareTriton& c);
  void on(const CancelTriton& c);
  void on(const OpenPlace& c);
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return three_.close(until); }

  /// Demands of the compiler's code generator that are not in force yet.
  Constraints open_emitter_rules() const;
  /// The three schedules of an open Triton text.
  const TritonState& three() const { return three_; }
  /// Empty when that one of the three can be shown, else why not.
  std::string why_no_side(triton::Whose whose) const;

 private:
  void begin(const SourcePtr& source, const SourceRequest& request);
  /// What of the window says most of it.
  void look_at_opened();
  void show(const SourcePtr& source, std::shared_ptr<const Machine> machine, const std::string& what);
  void add_own_schedules();
  /// The same file by another reading, or another loop of it: as it was left, where it was shown already.
  void turn_to(const SourcePtr& source, const std::string& what);
  /// Another file's schedules of the ops that are open become rows of the list; false when its ops are others.
  bool add_schedules(const Source& other);
  /// What the comparison has found for the reading that is open becomes rows of the list.
  void take_sides();

  TritonState three_;
  OpenPlaceFunction open_place_;
};

/// Why there is nothing to solve, as sentences.
std::string why_no_kernel(const Source& source);

}  // namespace heddle::app
