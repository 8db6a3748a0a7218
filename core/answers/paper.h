// What paper mode answers: the Twill paper's own pipeline (normalize, modulo schedule, joint schedule) run to the letter on
// a kernel, and what its schedule is worth at native cycles. Costs, starts, I and L here are normalized cycles unless they
// are called native. (Soi et al., "Optimal Software Pipelining and Warp Specialization for Tensor Core GPUs".)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// One point that the paper leaves open, as it was decided for this run.
struct PaperSetting {
  std::string name, value, standard;  ///< `standard`: the default
  std::string about;                  ///< one sentence
  std::vector<std::string> words;     ///< the values it takes; empty: an integer in [low, high]
  std::int64_t low = 0, high = 0;
};

/// cycles(v) of an op before and after normalization.
struct PaperCost {
  OpId op;
  Cycle native = 0, normalized = 0;
};

struct PaperNormalization {
  std::int64_t u = 0;            ///< the limit on the sum
  bool applied = false;          ///< false: switched off, costs are native
  int entries = 0;               ///< positive integers in the list C, as they are counted in the sum
  int zeros = 0;                 ///< of those, how many became zero
  std::int64_t error = 0;        ///< F
  std::int64_t sum = 0;          ///< of C'
  Cycle largest = 0;             ///< in C
  Cycle largest_normalized = 0;  ///< what it became: a normalized cycle stands for largest / largest_normalized cycles
  bool tie_broken = true;        ///< false: too many equally good C' to find the one that the tie-break asks for
};

/// What Algorithm 1 learned at one I: all L with the same number of copies.
struct PaperWindow {
  Cycle ii = 0, first_length = 0, last_length = 0;
  int copies = 0;
  Status status = Status::Unknown;  ///< Feasible, Infeasible (the whole window), Unknown
  double seconds = 0;
};

struct PaperGroup {
  std::vector<int> warps;         ///< members of the pool; one number when the pool counts groups
  bool variable_latency = false;  ///< W_vl
  std::vector<OpId> ops;
};

/// The same groups and order at native cycles.
struct PaperWorth {
  Schedule schedule;               ///< starts at the sustained period; the checker may object, see core/check
  bool deadlock = false;           ///< the order cannot run at all: some ring is too small for it
  Cycle period = 0;                ///< sustained, rounded up
  std::string limit;               ///< what limits it
  std::optional<Cycle> native_ii;  ///< what the solver finds at native cycles
  bool native_proved = false;
};

/// A change under which the paper reports that the smallest I of the modulo schedule becomes infeasible.
struct PaperAblation {
  std::string name;
  std::string change;               ///< what was changed, in words
  Status status = Status::Unknown;  ///< Infeasible: reproduced
  PaperWindow window;               ///< the smallest I that has a modulo schedule
  std::string finding;              ///< one or two sentences with the facts
};

struct PaperSeconds {
  double normalize = 0, modulo = 0, joint = 0, native = 0, total = 0;
};

struct PaperAnswer {
  /// Optimal: Algorithm 1 ran through. Feasible: a schedule at an I that was asked for. Infeasible: no I works (proved).
  Status status = Status::Unknown;
  std::string explanation;
  std::vector<PaperSetting> settings;
  PaperNormalization normalization;
  std::vector<PaperCost> costs;            ///< in op order
  std::vector<std::string> remarks;        ///< what was simplified or had to be decided for this kernel
  Cycle modulo_ii = 0, modulo_length = 0;  ///< the smallest I with a modulo schedule, and its L; 0: not found
  Cycle ii = 0, length = 0;                ///< of the joint schedule; 0: none
  int copies = 0;
  std::vector<Cycle> starts;  ///< in op order
  std::vector<PaperGroup> groups;
  std::vector<PaperWindow> windows;  ///< in the order they were asked
  std::optional<PaperWorth> worth;
  std::vector<PaperAblation> ablations;
  PaperSeconds seconds;
  std::string solver;
  bool cancelled = false, timed_out = false;
};

// Paper mode's answer in words and tables.

/// "I 26 · L 52 · 2 copies · 4 groups"; without a schedule what is known instead.
std::string paper_headline(const PaperAnswer& answer, const TextStyle& style);

/// One run: normalization, costs, groups, windows, worth at native cycles, ablations. The checker judges the retimed
/// schedule, and what it objects to is said.
std::string paper_summary(const Problem& problem, const PaperAnswer& answer, const TextStyle& style);

/// Every switch with its default and its sentence.
std::string paper_settings_table(const std::vector<PaperSetting>& settings, const TextStyle& style);

/// One row of the table of all kernels, and its columns.
std::vector<TextColumn> paper_row_columns();
std::vector<std::string> paper_row(const Problem& problem, const PaperAnswer& answer);

// Paper mode's answer as JSON: what `heddle paper --json` prints. Written only.

/// Everything about one run. The retimed schedule is judged afresh (`worth.checker`).
Json paper_json(const Problem& problem, const PaperAnswer& answer);
Json paper_schema();

/// [{name, value, default, values | low, high, about}]
Json paper_settings_json(const std::vector<PaperSetting>& settings);

}  // namespace heddle
