// Three schedules of one Triton kernel side by side: Triton's, the best that Triton's passes could build, and the best the machine could
// do; what each costs, and the price of the difference.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/answers/scoreboard.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/triton/kernel/native.h"
#include "core/triton/memory/memory.h"

namespace heddle::triton {

enum class Whose { Tritons, BestOfTriton, BestOfMachine };
inline constexpr std::array kAllWhose{Whose::Tritons, Whose::BestOfTriton, Whose::BestOfMachine};
/// "Triton's", "the best Triton could do", "the best the machine could do".
const char* title(Whose whose);
/// The same without its article, as rows of a list are called.
std::string row_name(Whose whose);
/// One sentence: what the schedule is and by which reading.
const char* about(Whose whose);

struct Side {
  Whose whose = Whose::Tritons;
  /// Whose schedule it is, where that is another side's: what Triton does its passes can do, and what they build the machine can, also
  /// where a search found nothing as good.
  std::optional<Whose> taken_from;
  std::shared_ptr<const Native> native;  ///< of its reading
  std::shared_ptr<const Kernel> kernel;  ///< as solved: cut, in the free reading
  std::shared_ptr<const Problem> problem;
  Constraints constraints;
  std::optional<Schedule> schedule;
  std::string why_not;  ///< why there is no schedule; empty with one
  Status status = Status::Unknown;
  Cycle lower_bound = 0;    ///< proved; 0: none
  std::string explanation;  ///< why II is what it is
  Cycle period = 0;         ///< cycles per iteration that the program sustains, by the model
  std::int64_t shared_bytes = 0, tmem_columns = 0;
  int warps = 0, groups = 0, stages = 0;
  double seconds = 0;

  /// Cycles that an iteration takes in the long run. Pre: there is a schedule.
  Cycle cycles() const { return period > 0 ? period : schedule->ii; }
};

/// What another value of an option that a user can set would give, by the model.
struct OptionRow {
  std::int64_t num_stages = 0, num_warps = 0;
  Cycle period = 0;
  std::int64_t shared_bytes = 0;
  bool now = false;     ///< what the text was compiled with
  std::string why_not;  ///< does not fit, or cannot be predicted
};

/// Has a schedule that runs.
bool runs(const Side& side);
/// Of its schedule, or in which one is looked for.
TextReading reading_of(const Side& side);

struct Comparison {
  std::string kernel, machine, file;
  int loop = 0;
  std::array<Side, 3> sides;
  std::vector<OptionRow> options;
  bool stages_of_loop = false;  ///< num_stages of the options is what the loop itself would have to say: tl.range(..., num_stages=N)
  bool cancelled = false;

  const Side& of(Whose whose) const { return sides[static_cast<std::size_t>(whose)]; }
};

/// "Triton's own schedule takes 3612 cycles per iteration, the best that its passes could build 3480 (3.7 % less), ...": predictions by the
/// model. Without the kernel's name.
std::string headline(const Comparison& comparison, NumberText number = grouped);
/// What the steps from one side to the next are worth, a sentence each.
std::vector<std::string> prices(const Comparison& comparison, NumberText number = grouped);
/// What can be done with them.
enum class NextStep { GivenBack, Cuda, Python };
/// "Give it back to Triton"
const char* title(NextStep step);
/// What is better than Triton's own schedule given back to it; and where the machine could do better than Triton's passes, that as CUDA
/// and, of a machine without tensor memory, as Python.
std::vector<NextStep> ways_out(const Comparison& comparison);
/// Which of the options is the best, in a sentence; empty where none is known.
std::string best_option(const Comparison& comparison, NumberText number = grouped);
/// A table of the three, a sentence for each, and the options.
std::string comparison_text(const Comparison& comparison, const TextStyle& style);
std::string comparison_markdown(const Comparison& comparison);
/// A record for each of the three.
std::string comparison_csv(const Comparison& comparison);
Json comparison_json(const Comparison& comparison);

}  // namespace heddle::triton
