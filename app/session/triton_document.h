// A Triton kernel as the open document: its loop by either reading, Triton's own schedule as a row of the list at once, and the best ones
// as they are found.
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

struct TritonSource;

class TritonDocument : Opener {
 public:
  /// Shows a line of a file in the person's own editor.
  using OpenPlaceFunction = std::function<Result<Ok>(const std::string& file, int line)>;

  TritonDocument(Edits& edits, TritonTools tools, std::function<void()> wake, OpenPlaceFunction open_place)
      : Opener(edits), three_(std::move(tools), std::move(wake)), open_place_(std::move(open_place)) {}

  void on(const ShowTriton& c);
  void on(const ShowSide& c);
  void on(const CompareTriton& c);
  void on(const CancelTriton& c);
  void on(const OpenPlace& c);
  /// The Triton kernel of that name becomes the document; `machine` empty: the one of its target.
  void open(const std::string& name, const std::string& machine, bool solve);
  /// The schedule of its own that a Triton text holds.
  void open_schedule(const std::string& name);
  /// Everything is resolved again on it: rules, Triton's own schedule, the three.
  void switch_machine(const std::string& name);
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return three_.close(until); }

  /// The three schedules of it.
  const TritonState& three() const { return three_; }
  /// Empty when that one of the three can be shown, else why not.
  std::string why_no_side(triton::Whose whose) const;

 private:
  void show(std::shared_ptr<const TritonSource> source, std::shared_ptr<const Machine> machine, const std::string& what);
  /// The same by another reading, or of another loop: as it was left, where it was shown already.
  void turn_to(std::shared_ptr<const TritonSource> source, const std::string& what);
  /// What the comparison has found for the reading that is open becomes rows of the list.
  void take_sides();

  TritonState three_;
  OpenPlaceFunction open_place_;
};

}  // namespace heddle::app
