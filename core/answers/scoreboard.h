// The answer to "how good are the schedules that people use?": hand schedules, heuristics, files and the solver's own, all of
// one problem, judged by one checker and measured by one evaluator.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/answers/difference.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"

namespace heddle {

enum class ContenderKind { Solver, Hand, Baseline, File };
const char* to_string(ContenderKind kind);  ///< "solver", "hand" ...

/// The whole kernel, simulated with units that serve whoever comes first (core/simulate/kernel_run.h): a prediction.
struct SimulatedFigures {
  std::string fault;  ///< why there are no numbers
  Cycle cycles = 0;   ///< of the kernel
  double period = 0;  ///< cycles per iteration: the one that decides (core/simulate/forecast.h) where there is one
  bool decides = false;
  double microseconds = 0;
  double tflops = 0;    ///< 0 where the loop has no multiply-adds
  std::string clock;    ///< that times and TFLOP/s assume
  PeriodSpread spread;  ///< when numbers are off (core/simulate/uncertain.h)
  /// Shares of the time of the groups that compute (all but the producer), while they have work: per StallReason.
  std::array<double, kStallReasons> stalls{};
  double stalled() const;  ///< all of them together
};
SimulatedFigures simulated_figures(const Instance& instance, const Schedule& schedule, const ClockChoice& clock = {});

struct Contender {
  std::string name;  ///< "fa3-pingpong", "triton", "solver"
  ContenderKind kind = ContenderKind::File;
  std::string about;             ///< what it is, where it comes from, what was simplified
  std::vector<std::string> log;  ///< what a heuristic decided on its way
  std::optional<Schedule> schedule;
  std::string why_not;  ///< why there is none; empty with a schedule

  // What was measured; empty without a schedule.
  Status status = Status::Unknown;  ///< Optimal: proved. Feasible: legal. Invalid: breaks the rules named in `verdict`.
  Verdict verdict;
  Period period;  ///< of the program, whatever II the schedule states; means little for an invalid one
  Usage usage;
  int waits = 0;     ///< on barriers, of all groups together, in one iteration
  int barriers = 0;  ///< mbarriers that its rings need: full and empty, one each per slot
  int stages = 0;
  std::optional<SimulatedFigures> simulated;  ///< none where it was not asked for

  bool valid() const { return schedule && verdict.valid(); }
};

/// Fills in what is measured. Pre: the schedule, if any, has the sizes of the problem; `status` Optimal survives only if
/// the checker agrees.
Contender measured(const Problem& problem, const Constraints& constraints, Contender contender);

enum class ScoreColumn;

struct Scoreboard {
  Cycle lower_bound = 0;                               ///< on II, proved
  int bound_stages = std::numeric_limits<int>::max();  ///< for schedules of at most so many stages
  /// It is one on II only: where demands are met, or where a unit takes several uses at once. The order of such a schedule may seem to
  /// sustain less (core/analysis/period.h).
  bool bound_on_ii = false;
  std::string why;                    ///< one sentence: what the bound rests on
  std::vector<Contender> contenders;  ///< in the order in which they were settled
  bool cancelled = false, timed_out = false;
  double seconds = 0;
  std::string solver;
  std::string trust;     ///< how far simulated speeds of this kind can be trusted, a sentence; may be empty
  ScoreColumn sorted{};  ///< what its tables are sorted by, best first; place by itself
};

/// How many per cent the period lies above the bound; none without a legal schedule or a period, or where the two cannot be compared.
std::optional<double> gap_percent(const Scoreboard& board, const Contender& contender);

/// Fastest first: by the predicted time of the whole kernel where there is one, by the period else; then what breaks a rule, then what
/// has no schedule. Equals keep their order.
std::vector<std::size_t> ranking(const Scoreboard& board);

/// Legal schedules whose period (bound_on_ii: whose II) is below the proved bound, although the bound speaks of as many stages. There can
/// be none: a name in this list is a fault in the model, the checker or the evaluator.
std::vector<std::string> beyond_bound(const Scoreboard& board);

// A scoreboard as a table of text: what `heddle compare`, its files and the window's Scoreboard tab share.

enum class ScoreColumn {
  Place,
  Name,
  Kind,
  Period,
  Time,
  Speed,
  Off,
  Stalled,
  II,
  Sustained,
  Gap,
  Stages,
  Warps,
  Registers,
  Smem,
  Tmem,
  Waits,
  Checker
};
inline constexpr ScoreColumn kScoreColumns[] = {
    ScoreColumn::Place, ScoreColumn::Name,      ScoreColumn::Kind, ScoreColumn::Period,    ScoreColumn::Time,  ScoreColumn::Speed,
    ScoreColumn::Off,   ScoreColumn::Stalled,   ScoreColumn::II,   ScoreColumn::Sustained, ScoreColumn::Gap,   ScoreColumn::Stages,
    ScoreColumn::Warps, ScoreColumn::Registers, ScoreColumn::Smem, ScoreColumn::Tmem,      ScoreColumn::Waits, ScoreColumn::Checker};
/// In one word, as `heddle compare --sort` takes it.
const char* to_string(ScoreColumn column);
const char* title(ScoreColumn column);
/// What the column means and its unit, one sentence.
const char* about(ScoreColumn column);
bool is_number(ScoreColumn column);
/// The column is better the greater it is, so that tables sorted by it begin with the greatest.
bool greatest_first(ScoreColumn column);

struct ScoreRow {
  std::size_t contender = 0;       ///< of the board
  int place = 0;                   ///< from 1; equals share one; 0: not ranked: it breaks a rule, or has no time where others have
  std::vector<std::string> cells;  ///< per column; "-" where there is nothing
};
/// In the order of the column, Place: of ranking(). What is not ranked, or has nothing there, comes last. SMEM is in KiB; "registers" are
/// the greatest budget of a thread.
std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number, ScoreColumn by, bool descending);
/// As the board is to be read.
std::vector<ScoreRow> score_rows(const Scoreboard& board, NumberText number = grouped);

/// What limits the contender, or why it is not ranked: one sentence.
std::string score_reason(const Contender& contender);

/// "7 valid schedules, 2 invalid; II >= 2048, proved: TC ..."
std::string scoreboard_headline(const Scoreboard& board, NumberText number = grouped);

// The scoreboard for people and for other programs: as text, Markdown and CSV.

/// Title, table, and a sentence for every contender: what limits it, or what it breaks.
std::string scoreboard_text(const Problem& problem, const Scoreboard& board, const TextStyle& style, bool with_log = false);

/// A table that can be pasted into an issue, and the same sentences as a list.
std::string scoreboard_markdown(const Problem& problem, const Scoreboard& board);

/// One record per contender (RFC 4180), numbers without grouping, units in the column names.
std::string scoreboard_csv(const Scoreboard& board);

// Scoreboards for other programs: what `heddle compare --json` prints. Written only.

/// Bound, ranking and every contender with its figures, verdict and schedule.
Json scoreboard_json(const Problem& problem, const Constraints& constraints, const Scoreboard& board);
Json scoreboard_schema();

}  // namespace heddle
